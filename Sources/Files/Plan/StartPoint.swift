internal import Orientation
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline

extension SessionPlan {
  /// Where to seek to so that decoding gives every frame of the part that `--start` asks for, on the
  /// pictures' own clock; nil where all must be decoded from the beginning.
  ///
  /// Passing over the rest must not change what is seen: where orientation changes before the start,
  /// the policy's answers and the SEI messages that stand there come from what lies before.
  func startPoint() throws(MediaError) -> Int64? {
    guard let start = options.start, demuxer is Demuxer, demuxer.container.isSeekable,
      let origin = video.startTime,
      request.input != "-"
    else { return nil }
    let tick = video.timeBase.doubleValue
    func place(_ seconds: Double) -> Int64? {
      let ticks = (seconds / tick).rounded(.down)
      return ticks < 1e15 ? origin + Int64(ticks) : nil
    }
    // Sound that belongs to the start may lie before its picture in the file: hence a second.
    guard let latest = place(start - 1), let earliest = place(1) else { return nil }
    let search = try opened()
    for margin in [1.0, 5, 20, 80] where start - margin >= 1 {
      guard let target = place(start - margin), search.seek(stream: video.index, to: target) else {
        return nil
      }
      // MPEG-TS is sought by time, not by keyframe: the next one may come too late.
      guard let found = try firstKey(search), found.pts <= latest else { continue }
      guard found.pts > earliest, try isOneClock(until: found),
        try isQuiet(until: Double(found.pts - origin) * tick)
      else { return nil }
      return target
    }
    return nil
  }

  private typealias Key = (pts: Int64, position: Int64?)

  /// The clip once more, its pictures alone.
  private func opened() throws(MediaError) -> Demuxer {
    let demuxer = try Demuxer(
      url: request.input, format: request.inputFormat, interrupt: request.interrupt)
    demuxer.select([video.index])
    return demuxer
  }

  private func firstKey(_ demuxer: Demuxer) throws(MediaError) -> Key? {
    for _ in 0..<5000 {
      guard let packet = try demuxer.read() else { return nil }
      guard packet.streamIndex == video.index, packet.isKey else { continue }
      return packet.pts.map { ($0, packet.position) }
    }
    return nil
  }

  /// Whether the keyframe has the same time when all before it has been read: a clock that was set
  /// back on the way would give it another.
  private func isOneClock(until key: Key) throws(MediaError) -> Bool {
    let demuxer = try opened()
    guard demuxer.joinsClocks else { return true }
    guard let position = key.position else { return false }
    while let packet = try demuxer.read() {
      guard let here = packet.position, here >= position else { continue }
      return here == position && packet.pts == key.pts
    }
    return false
  }

  /// Whether up to `seconds` nothing is said but by the stream as a whole, of pictures of one size.
  private func isQuiet(until seconds: Double) throws(MediaError) -> Bool {
    guard options.frames == .metadata else { return true }
    let ofTheWhole: Set<OrientationSignal.Source> = [.trackMatrix, .projection, .rotateTag]
    var scan = try SignalScan(url: request.input, format: request.inputFormat)
    guard let first = try scan.next(), first.signals.allSatisfy({ ofTheWhole.contains($0.source) })
    else { return false }
    guard let second = try scan.next() else { return true }
    return second.seconds > seconds
  }
}
