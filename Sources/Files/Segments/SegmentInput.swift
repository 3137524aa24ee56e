internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// An open input, with which segments are made one after the other.
///
/// Unchecked: one render uses it at a time.
final class SegmentInput: @unchecked Sendable {
  let plan: SessionPlan
  let tracks: [SideTrackWriter]
  private var audio: [Int: SegmentAudio] = [:]
  private let isReset: Bool
  /// Whether nothing of the video was read.
  var isNew = true

  /// - Parameters:
  ///   - late: The audio tracks that begin later than the video, which silence precedes.
  ///   - isReset: Whether the input's clock is reset, so that its own times say nothing.
  init(_ plan: SessionPlan, late: [Int], isReset: Bool) throws(UprightError) {
    (self.plan, self.isReset) = (plan, isReset)
    var tracks = plan.audioTracks
    for track in late {
      tracks[track] = try SideTrackWriter(
        stream: tracks[track].stream, track: tracks[track].track, container: plan.container,
        copies: false)
    }
    self.tracks = tracks
  }

  /// Returns an audio track, which is opened once.
  func audio(_ track: Int) throws(UprightError) -> SegmentAudio {
    if let open = audio[track] { return open }
    let opened = try SegmentAudio(plan, tracks[track], seeks: !isReset)
    audio[track] = opened
    return opened
  }

  /// Returns when an audio track ends in the input; `nil` if it is unknown.
  func end(ofAudio track: Int) -> MediaTime? {
    if isReset { return nil }
    let stream = tracks[track].stream
    return stream.duration.map { $0 + MediaTime(stream.startTime ?? 0, stream.timeBase) }
  }
}
