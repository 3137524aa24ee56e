package import UprightOrientation

/// One display orientation SEI message (payload type 47) with its persistence.
///
/// Syntax and semantics: ISO/IEC 14496-10 D.1.27 and D.2.27 (H.264), ISO/IEC 23008-2 D.2.17 and
/// D.3.17 (HEVC).
package enum DisplayOrientationMessage: Sendable, Hashable {
  /// Cancels an earlier message, from this picture on.
  case cancel
  /// Sets an orientation.
  ///
  /// `repetitionPeriod` is H.264's `display_orientation_repetition_period`, 0...16384: 0 applies to
  /// this picture only; any other value applies in output order until another message or a new
  /// coded video sequence. HEVC has a flag instead: 0 or 1.
  ///
  /// A period n > 1 promises that a picture with a message is output at most n picture order counts
  /// later (D.2.27). It doesn't end the persistence: if that message was lost, this one still applies.
  case set(SEIDisplayOrientation, repetitionPeriod: UInt16)

  /// The SEI payload type of display orientation, in both codecs.
  package static let payloadType = 47
  /// The largest valid repetition period.
  package static let maximumRepetitionPeriod: UInt16 = 16384

  /// Creates a message that sets `orientation` until another message or a new coded video sequence.
  package init(standing orientation: ImageOrientation) {
    self = .set(SEIDisplayOrientation(orientation), repetitionPeriod: 1)
  }
}
