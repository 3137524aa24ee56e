internal import UprightOrientation
internal import UprightMediaIO

/// A track of text subtitles as WebVTT (RFC 8216, 3.5).
struct SegmentCaptions {
  private struct Cue {
    let start: Int64
    let end: Int64
    let text: String
  }

  /// The text subtitles of an input.
  static func streams(_ plan: SessionPlan) -> [StreamInfo] {
    plan.demuxer.container.streams.filter(\.isText)
  }

  private var cues: [Cue] = []

  /// Reads the packets of a track.
  ///
  /// - Parameters:
  ///   - zero: The time in the input at which the playlist begins.
  ///   - isWanted: Asked for each packet.
  /// - Throws: `cancelled` if it isn't wanted any more.
  init(
    _ plan: SessionPlan, _ stream: StreamInfo, zero: MediaTime, while isWanted: () -> Bool
  ) throws(UprightError) {
    guard let first = plan.demuxer as? Demuxer else { return }
    let demuxer = try Demuxer(again: first, format: plan.request.inputFormat)
    demuxer.select([stream.index])
    let transcoder = try SubtitleTranscoder(stream: stream, encoderName: "webvtt")
    let zero = zero.plausibleTicks(of: transcoder.timeBase)
    while let packet = try demuxer.read() {
      guard isWanted() else {
        throw UprightError(.cancelled, "stopped", at: plan.request.input)
      }
      guard packet.streamIndex == stream.index else { continue }
      try transcoder.transcode(packet) { (cue) throws(UprightError) in
        guard let start = cue.pts else { return }
        let text = unsafe cue.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        let (from, end) = (start - zero, start - zero + cue.duration)
        if end > 0 { cues.append(Cue(start: max(0, from), end: end, text: Self.payload(text))) }
      }
    }
  }

  /// The file with the captions of some time.
  ///
  /// - Parameters:
  ///   - times: Their start and end in the playlist.
  ///   - offset: The time in the segments at which the playlist begins.
  func text(of times: (start: MediaTime, end: MediaTime), offset: MediaTime) -> String {
    let milliseconds = Rational(1, 1000)
    let start = times.start.plausibleTicks(of: milliseconds)
    let end = times.end.plausibleTicks(of: milliseconds)
    let ticks = offset.plausibleTicks(of: Rational(1, 90_000))
    var text = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:\(ticks),LOCAL:00:00:00.000\n"
    for cue in cues.sorted(by: { $0.start < $1.start })
    where !cue.text.isEmpty && cue.start < end && cue.end > start {
      text +=
        "\n\(Self.time(cue.start)) --> \(Self.time(cue.end))\n\(cue.text)\n"
    }
    return text
  }

  /// Returns a text as it can be in a cue: without empty lines, which end it, and without an arrow.
  private static func payload(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline)
      .map { $0.split(separator: "-->", omittingEmptySubsequences: false).joined(separator: "→") }
      .joined(separator: "\n")
  }

  /// A time in WebVTT, from milliseconds.
  static func time(_ milliseconds: Int64) -> String {
    let (seconds, rest) = max(0, milliseconds).quotientAndRemainder(dividingBy: 1000)
    let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60]
    return clock.map { $0.digits(2) }.joined(separator: ":") + "." + rest.digits(3)
  }
}
