/// Coordination of Video Orientation: the byte of the RTP header extensions
/// `urn:3gpp:video-orientation` and `urn:3gpp:video-orientation:6` (3GPP TS 26.114, 7.4.5).
///
/// The receiver first flips the frame if F is set, then rotates it clockwise for display.
public struct CVO: Sendable, Hashable {
  /// The resolution of the angle, one case for each of the two extensions.
  public enum Granularity: String, CaseIterable, Sendable, Hashable {
    /// `0000 C F R1 R0`: quarter turns.
    case twoBits
    /// `R5 R4 R3 R2 C F R1 R0`: 64ths of a turn. R1 and R0 are still the *high* bits, so a quarter
    /// turn is the same byte in both forms.
    case sixBits
  }

  /// C: the frame comes from the back camera (or the sender doesn't know).
  public var isBackCamera: Bool
  /// F: flip left-right before the rotation.
  public var isFlipped: Bool
  /// R: the clockwise rotation for display, in 64ths of a full turn, 0...63 (16 is 90 degrees).
  public let rotation: UInt8

  /// Creates a value from a rotation in 64ths of a full turn. Only the low six bits are used.
  public init(isBackCamera: Bool = false, isFlipped: Bool, rotation: UInt8) {
    self.isBackCamera = isBackCamera
    self.isFlipped = isFlipped
    self.rotation = rotation & 63
  }

  /// Creates the value for `orientation`.
  public init(_ orientation: ImageOrientation, isBackCamera: Bool = false) {
    self.init(
      isBackCamera: isBackCamera, isFlipped: orientation.isMirrored,
      rotation: UInt8(orientation.quarterTurns) << 4)
  }

  /// Creates the value of a received byte. Every byte is valid: in the two-bit form the high four
  /// bits are reserved and ignored.
  public init(byte: UInt8, granularity: Granularity = .twoBits) {
    let fine = granularity == .sixBits ? byte >> 4 : 0
    self.init(
      isBackCamera: byte & 0b1000 != 0, isFlipped: byte & 0b0100 != 0,
      rotation: (byte & 0b0011) << 4 | fine)
  }

  /// Returns the byte to send, or `nil` if `granularity` can't represent the angle.
  public func byte(_ granularity: Granularity = .twoBits) -> UInt8? {
    let fine = rotation & 15
    guard granularity == .sixBits || fine == 0 else { return nil }
    return fine << 4 | (isBackCamera ? 0b1000 : 0) | (isFlipped ? 0b0100 : 0) | rotation >> 4
  }

  /// The flip and rotation to apply for display. An angle of the six-bit form is exact: 360 / 64 is
  /// 5.625.
  public var turn: DisplayTurn {
    DisplayTurn(isMirrored: isFlipped, normalised: Double(rotation) * 5.625)
  }

  /// The orientation that matches this value exactly, or `nil` for an angle that is not a multiple
  /// of 90 degrees. `turn.nearest` rounds such an angle.
  public var orientation: ImageOrientation? { turn.orientation }
}
