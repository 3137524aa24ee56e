/// Coordination of Video Orientation: the byte of the RTP header extensions
/// `urn:3gpp:video-orientation` and `urn:3gpp:video-orientation:6` (3GPP TS 26.114, 7.4.5).
///
/// F flips the picture as sent, then the receiver turns it clockwise for display.
public struct CVO: Sendable, Hashable {
  /// How fine the angle is: the two extensions.
  public enum Granularity: String, CaseIterable, Sendable, Hashable {
    /// `0000 C F R1 R0`: quarter turns.
    case twoBits
    /// `R5 R4 R3 R2 C F R1 R0`: 64ths of a turn. R1 and R0 stay the *high* bits, so that a quarter
    /// turn is the same byte in both forms.
    case sixBits
  }

  /// C: the picture comes from the back camera (or the sender does not know).
  public var isBackCamera: Bool
  /// F: flip left-right before turning.
  public var isFlipped: Bool
  /// R: the clockwise turn to be applied for display in 64ths of a full turn, 0...63 (16 is 90
  /// degrees).
  public let rotation: UInt8

  /// The value with a turn in 64ths of a full turn; only its low six bits count.
  public init(isBackCamera: Bool = false, isFlipped: Bool, rotation: UInt8) {
    self.isBackCamera = isBackCamera
    self.isFlipped = isFlipped
    self.rotation = rotation & 63
  }

  /// The value that means `orientation`.
  public init(_ orientation: ImageOrientation, isBackCamera: Bool = false) {
    self.init(
      isBackCamera: isBackCamera, isFlipped: orientation.isMirrored,
      rotation: UInt8(orientation.quarterTurns) << 4)
  }

  /// The value of a received byte. Every byte has one: in the two-bit form the high four bits are
  /// reserved and ignored.
  public init(byte: UInt8, granularity: Granularity = .twoBits) {
    let fine = granularity == .sixBits ? byte >> 4 : 0
    self.init(
      isBackCamera: byte & 0b1000 != 0, isFlipped: byte & 0b0100 != 0,
      rotation: (byte & 0b0011) << 4 | fine)
  }

  /// The byte to send, or nil where `granularity` cannot hold the angle.
  public func byte(_ granularity: Granularity = .twoBits) -> UInt8? {
    let fine = rotation & 15
    guard granularity == .sixBits || fine == 0 else { return nil }
    return fine << 4 | (isBackCamera ? 0b1000 : 0) | (isFlipped ? 0b0100 : 0) | rotation >> 4
  }

  /// What the receiver is to do. An angle of the six-bit form is exact: 360 / 64 is 5.625.
  public var turn: DisplayTurn {
    DisplayTurn(isMirrored: isFlipped, normalised: Double(rotation) * 5.625)
  }

  /// The orientation the value means exactly, or nil where it turns by another angle; then see
  /// `turn.nearest`.
  public var orientation: ImageOrientation? { turn.orientation }
}
