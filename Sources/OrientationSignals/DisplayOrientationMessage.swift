public import Orientation

/// One display orientation SEI message (payload type 47) with the reach it asks for.
///
/// Syntax and meaning: ISO/IEC 14496-10 D.1.27 and D.2.27 (H.264), ISO/IEC 23008-2 D.2.17 and D.3.17
/// (HEVC).
public enum DisplayOrientationMessage: Sendable, Hashable {
  /// Ends what an earlier message asked for, from this picture on.
  case cancel
  /// Asks for an orientation.
  ///
  /// `repetitionPeriod` is H.264's `display_orientation_repetition_period`, 0...16384: 0 = this picture
  /// only, all else = in output order until another message or a new coded video sequence. HEVC has a
  /// flag in its place: 0 or 1.
  case set(SEIDisplayOrientation, repetitionPeriod: UInt16)

  /// The SEI payload type of display orientation, in both codecs.
  public static let payloadType = 47
  /// The largest repetition period there is.
  public static let maximumRepetitionPeriod: UInt16 = 16384

  /// The message that asks for `orientation` until another message or a new coded video sequence.
  public init(standing orientation: ImageOrientation) {
    self = .set(SEIDisplayOrientation(orientation), repetitionPeriod: 1)
  }

  /// Whether the orientation reaches beyond the picture that carries the message.
  ///
  /// A period n > 1 ends nothing by itself. It persists until a new coded video sequence, or until a
  /// picture with a message is output at most n picture order counts later; that such a picture
  /// *shall be present* is a promise of the bitstream's (D.2.27). So in a conforming stream n is 1 with
  /// a promise, and where the promised message was lost the old one still stands.
  public var persists: Bool {
    switch self {
    case .cancel: false
    case .set(_, let period): period > 0
    }
  }
}
