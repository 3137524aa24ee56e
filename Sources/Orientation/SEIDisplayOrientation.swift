/// The values of an H.264 or HEVC display orientation SEI message (payload type 47; ISO/IEC 14496-10
/// D.2.27, ISO/IEC 23008-2 D.3.17): flip first, then turn anticlockwise.
public struct SEIDisplayOrientation: Sendable, Hashable {
  /// `hor_flip`: mirror left-right.
  public var horizontalFlip: Bool
  /// `ver_flip`: mirror top-bottom.
  public var verticalFlip: Bool
  /// `anticlockwise_rotation` in units of 2^-16 of a full turn (16384 is 90 degrees).
  public var anticlockwiseRotation: UInt16

  /// The message with these values.
  public init(horizontalFlip: Bool, verticalFlip: Bool, anticlockwiseRotation: UInt16) {
    self.horizontalFlip = horizontalFlip
    self.verticalFlip = verticalFlip
    self.anticlockwiseRotation = anticlockwiseRotation
  }

  /// The message that means `orientation`; it never uses the vertical flip.
  public init(_ orientation: ImageOrientation) {
    self.init(
      horizontalFlip: orientation.isMirrored, verticalFlip: false,
      anticlockwiseRotation: UInt16((4 - orientation.quarterTurns) % 4) << 14)
  }

  /// What the message asks for: both flips together are half a turn, and a vertical flip alone is a
  /// horizontal one and half a turn.
  public var turn: DisplayTurn {
    let clockwise = (verticalFlip ? 1 << 15 : 0) - Int(anticlockwiseRotation)
    // 360 / 65536 is 45 / 8192: exact in binary.
    return DisplayTurn(
      isMirrored: horizontalFlip != verticalFlip,
      normalised: Double(clockwise & 0xFFFF) * 45 / 8192)
  }

  /// The orientation the message means exactly, or nil where it turns by another angle; then see
  /// `turn.nearest`.
  public var orientation: ImageOrientation? { turn.orientation }
}
