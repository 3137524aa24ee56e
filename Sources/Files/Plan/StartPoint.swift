internal import UprightOrientation
internal import UprightFrames
internal import UprightMedia
internal import UprightMediaIO

extension SessionPlan {
  /// Returns where to seek so that decoding returns every frame of the part that `--start` requests, in ticks
  /// of the video; `nil` if decoding must start at the beginning.
  ///
  /// Seeking must not change the output: if the orientation changes before the start, the policy's decisions
  /// and persistent SEI messages depend on the skipped part.
  func startPoint() throws(UprightError) -> Int64? {
    guard let start, demuxer is Demuxer, demuxer.container.isSeekable,
      let first = video.startTime,
      request.input != "-"
    else { return nil }
    func place(_ time: MediaTime) -> Int64? {
      let ticks = time.roundedDown(to: video.timeBase).ticks
      return Int64.plausibleTicks.contains(ticks) ? first + ticks : nil
    }
    let second = MediaTime(1, .one)
    // Audio of the start may be before its frame in the file, so allow for a second.
    guard let latest = place(start - second), let earliest = place(second) else { return nil }
    let search = try opened()
    for margin in [1, 5, 20, 80].map({ second * $0 }) where start - margin >= second {
      guard let target = place(start - margin), search.seek(stream: video.index, to: target) else {
        return nil
      }
      // MPEG-TS seeks by time, not to a keyframe, so the next keyframe may be too late.
      guard let found = try firstKey(search), found.pts <= latest else { continue }
      guard found.pts > earliest, try isOneClock(until: found),
        try isQuiet(until: MediaTime(found.pts - first, video.timeBase))
      else { return nil }
      return target
    }
    return nil
  }

  private typealias Key = (pts: Int64, position: Int64?)

  /// Opens the input again with only the video stream selected.
  private func opened() throws(UprightError) -> Demuxer {
    let demuxer = try Demuxer(
      url: request.input, format: request.inputFormat, interrupt: request.interrupt)
    demuxer.select([video.index])
    return demuxer
  }

  private func firstKey(_ demuxer: Demuxer) throws(UprightError) -> Key? {
    for _ in 0..<5000 {
      guard let packet = try demuxer.read() else { return nil }
      guard packet.streamIndex == video.index, packet.isKey else { continue }
      return packet.pts.map { ($0, packet.position) }
    }
    return nil
  }

  /// Returns whether the keyframe has the same timestamp after reading everything before it. A clock reset on
  /// the way would change it.
  private func isOneClock(until key: Key) throws(UprightError) -> Bool {
    let demuxer = try opened()
    guard demuxer.joinsClocks else { return true }
    guard let position = key.position else { return false }
    while let packet = try demuxer.read() {
      guard let here = packet.position, here >= position else { continue }
      return here == position && packet.pts == key.pts
    }
    return false
  }

  /// Returns whether, up to `time`, all signals apply to the whole stream and the frame size doesn't
  /// change.
  private func isQuiet(until time: MediaTime) throws(UprightError) -> Bool {
    guard options.frames.isSignalled else { return true }
    let ofTheWhole: Set<OrientationSignal.Source> = [.trackMatrix, .projection, .rotateTag]
    var scan = try SignalScan(
      demuxer.reopened(format: request.inputFormat), gravity: request.gravityUse)
    guard let first = try scan.next(), first.signals.allSatisfy({ ofTheWhole.contains($0.source) })
    else { return false }
    guard let second = try scan.next() else { return true }
    return second.time > time
  }
}
