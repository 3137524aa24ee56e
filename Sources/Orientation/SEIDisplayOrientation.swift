/// The values of an H.264 or HEVC display orientation SEI message (payload type 47; ISO/IEC
/// 14496-10 D.2.27, ISO/IEC 23008-2 D.3.17): flip first, then rotate anticlockwise.
public struct SEIDisplayOrientation: Sendable, Hashable {
  /// `hor_flip`: mirror left-right.
  public var horizontalFlip: Bool
  /// `ver_flip`: mirror top-bottom.
  public var verticalFlip: Bool
  /// `anticlockwise_rotation` in units of 2^-16 of a full turn (16384 is 90 degrees).
  public var anticlockwiseRotation: UInt16

  /// Creates a message from its values.
  public init(horizontalFlip: Bool, verticalFlip: Bool, anticlockwiseRotation: UInt16) {
    self.horizontalFlip = horizontalFlip
    self.verticalFlip = verticalFlip
    self.anticlockwiseRotation = anticlockwiseRotation
  }

  /// Creates the message for `orientation`. The vertical flip is never used.
  public init(_ orientation: ImageOrientation) {
    self.init(
      horizontalFlip: orientation.isMirrored, verticalFlip: false,
      anticlockwiseRotation: UInt16((4 - orientation.quarterTurns) % 4) << 14)
  }

  /// The flip and rotation to apply for display. Both flips together are half a turn; a vertical
  /// flip alone is a horizontal flip and half a turn.
  public var turn: DisplayTurn {
    let clockwise = (verticalFlip ? 1 << 15 : 0) - Int(anticlockwiseRotation)
    // 360 / 65536 is 45 / 8192: exact in binary.
    return DisplayTurn(
      isMirrored: horizontalFlip != verticalFlip,
      normalised: Double(clockwise & 0xFFFF) * 45 / 8192)
  }

  /// The orientation that matches the message exactly, or `nil` for an angle that is not a multiple
  /// of 90 degrees. `turn.nearest` rounds such an angle.
  public var orientation: ImageOrientation? { turn.orientation }
}
