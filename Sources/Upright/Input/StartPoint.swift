internal import MediaIO
internal import Orientation

extension SessionPlan {
  /// The keyframe from which decoding gives every frame of the part that `--start` asks for, on the
  /// pictures' own clock; nil where all must be decoded from the beginning.
  ///
  /// Passing over the rest must not change what is seen: where orientation changes before the start,
  /// the policy's answers and the SEI messages that stand there come from what lies before.
  func startPoint() throws(MediaError) -> Int64? {
    guard let start = options.start, demuxer.container.isSeekable, let origin = video.startTime,
      session.input != "-"
    else { return nil }
    let tick = video.timeBase.doubleValue
    let search = try Demuxer(
      url: session.input, format: session.inputFormat, interrupt: session.interrupt)
    search.select([video.index])
    // Sound that belongs to the start may lie before its picture in the file: hence a second.
    for margin in [1.0, 5, 20, 80] {
      let seconds = start - margin
      if seconds < 1 { return nil }
      let target = origin + Int64((seconds / tick).rounded(.down))
      guard search.seek(stream: video.index, to: target), let found = try firstKey(search),
        found <= target
      else { continue }
      guard found > origin + Int64(1 / tick), try isQuiet(until: Double(found - origin) * tick)
      else { return nil }
      return found
    }
    return nil
  }

  private func firstKey(_ demuxer: Demuxer) throws(MediaError) -> Int64? {
    // A keyframe is the first packet after a seek, but for damage.
    for _ in 0..<16 {
      guard let packet = try demuxer.read() else { return nil }
      if packet.streamIndex == video.index, packet.isKey { return packet.pts }
    }
    return nil
  }

  /// Whether one and the same signal of the stream as a whole stands up to `seconds`.
  private func isQuiet(until seconds: Double) throws(MediaError) -> Bool {
    guard options.frames == .metadata else { return true }
    var scan = try SignalScan(url: session.input, format: session.inputFormat)
    guard let first = try scan.next(), first.signal?.source != .sei,
      first.signal?.source != .frameMatrix
    else { return false }
    guard let second = try scan.next() else { return true }
    return second.seconds > seconds
  }
}
