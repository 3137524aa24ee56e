package import UprightOrientation
package import UprightMediaIO

/// The items that the reading thread passes to the writing thread.
package enum SourceItem: ~Copyable {
  /// A frame, its signal, and the outcome of reading up to this frame, excluding it.
  case frame(VideoFrame, OrientationSignal?, SourceOutcome)
  case packet(Packet)
}

/// The outcome of reading.
package struct SourceOutcome: Sendable {

  package init() {
  }
  /// The error that ended reading early; `nil` if everything was read.
  package var error: UprightError?
  package var videoPackets = 0
  package var frames = 0
  /// The number of packets that could not be read or decoded.
  package var damagedPackets = 0
  /// The number of frames in which the decoder concealed damage.
  package var damagedFrames = 0
  /// The number of frames that were left out because the packets didn't announce them.
  package var misplacedFrames = 0
  package var repairedTimestamps = 0
  /// The time spent reading and decoding, in seconds.
  package var seconds = 0.0
  /// Whether the caller stopped reading.
  package var isStopped = false
  /// The number of packets that an edit list marks as never shown.
  package var discardedPackets = 0
  package var interlacedFrames = 0
  /// Whether a part was skipped. If so, packet counts don't indicate damage.
  package var isPartial = false
  /// Whether the rest is intentionally left out. If so, an index that lists more frames does not indicate a
  /// loss.
  package var isCut = false
  /// Timestamps of the packets since the last frame that produced no frame, in ticks of the source.
  var missed: [Int64] = []

  /// Subtracts the packets at `end` and later from the counts.
  package mutating func leaveOut(from end: Int64) {
    let later = missed.count { $0 >= end }
    videoPackets -= later
    damagedPackets = max(0, damagedPackets - later)
  }
  /// Names of the frame metadata that is not kept in the output.
  package var droppedMetadata: Set<String> = []
  /// Warnings about the signals, for the user.
  package var warnings: [String] = []

  /// Returns the number of packets that should have given one frame each and did not. Returns `nil` if there
  /// are none, or if the codec does not guarantee one frame per packet (alternate references, fields).
  package func undecodedPackets(of video: StreamInfo) -> Int? {
    guard video.codecName == "h264" || video.codecName == "hevc", interlacedFrames == 0, !isPartial
    else { return nil }
    let lost = videoPackets - discardedPackets - damagedPackets - frames
    return lost > 0 ? lost : nil
  }
}

/// Reads and decodes on its own thread, into a bounded queue.
///
/// Sendable by handover: it is created on one thread and runs on another, never on both.
package final class SourceStage: @unchecked Sendable {
  private let demuxer: any PacketSource
  private let video: StreamInfo
  private let sideStreams: Set<Int>
  private let queue: BoundedQueue<SourceItem>
  private let decoder: VideoDecoder
  private var signals: SignalReader
  private var timestamps: TimestampRepair
  private var outcome = SourceOutcome()
  private var isWanted = true
  /// The position to continue from after the first frame; `nil` to read on.
  private var startPoint: Int64?
  /// The streams of subtitles among `sideStreams`.
  private let subtitles: Set<Int>
  /// The subtitles so far, which may be read again at the place to continue from: stream, time and position.
  private var passed: Set<[Int64]> = []
  /// A frame whose timestamp can only be judged when the next one is known.
  private var doubtful: Doubt?
  /// Timestamps of packets whose frames have not been output, in ticks of `video`.
  private var awaited: [Int64] = []
  /// The original timestamp of the last frame.
  private var latest: Int64?
  /// Whether a packet had no timestamp. If so, missing frames can't be found by timestamp.
  private var hasUntimed = false

  private struct Doubt: ~Copyable {
    var frame: VideoFrame
    let signal: OrientationSignal?
  }

  /// - Parameters:
  ///   - startPoint: The keyframe to continue from after the first frame, which defines the timeline's zero,
  ///     in ticks of `video`; `nil` to decode everything.
  ///   - threads: The number of decoder threads; 0 for the decoder's choice.
  ///   - gravity: How readings of motion sensors turn frames; `nil` if they don't.
  package init(
    demuxer: any PacketSource, video: StreamInfo, sideStreams: Set<Int>, startPoint: Int64? = nil,
    threads: Int = 0, gravity: GravityUse? = nil, queue: BoundedQueue<SourceItem>
  ) throws(UprightError) {
    self.startPoint = startPoint
    self.demuxer = demuxer
    self.video = video
    self.sideStreams = sideStreams
    subtitles = Set(demuxer.container.streams.filter { $0.kind == .subtitle }.map(\.index))
      .intersection(sideStreams)
    self.queue = queue
    decoder = try VideoDecoder(stream: video, threads: threads)
    signals = try SignalReader(demuxer, video, gravity: gravity)
    timestamps = TimestampRepair(timeBase: video.timeBase, frameRate: video.frameRate)
    demuxer.select(sideStreams.union([video.index]))
  }

  /// Reads to the end, to an error, or until the queue is closed by its consumer.
  package func run() -> SourceOutcome {
    do throws(UprightError) {
      try read()
    } catch {
      if error.code == .cancelled { outcome.isStopped = true } else { outcome.error = error }
    }
    // Frames inside the decoder belong to the output, however reading ended.
    decoder.finish()
    do throws(UprightError) { try deliver() } catch { outcome.error = outcome.error ?? error }
    settle(before: nil)
    queue.close()
    outcome.damagedPackets += decoder.damagedPackets
    outcome.repairedTimestamps = timestamps.repairs
    outcome.warnings = signals.warnings
    return outcome
  }

  private func read() throws(UprightError) {
    var failures = 0
    while isWanted {
      do throws(UprightError) {
        guard let packet = try timed({ () throws(UprightError) in try demuxer.read() }) else {
          return
        }
        failures = 0
        try process(packet)
        if let startPoint, outcome.frames > 0 || doubtful != nil { try go(to: startPoint) }
      } catch {
        // Data after a damaged part may be intact, but the number of attempts is limited.
        guard error.code == .badData, failures < 100 else { throw error }
        failures += 1
        outcome.damagedPackets += 1
      }
    }
  }

  private func process(_ packet: consuming Packet) throws(UprightError) {
    if packet.startsAnew, packet.streamIndex == video.index { try startAnew() }
    signals.read(packet)
    guard packet.streamIndex == video.index else {
      if sideStreams.contains(packet.streamIndex) { pass(packet) }
      return
    }
    outcome.videoPackets += 1
    if packet.isDiscarded { outcome.discardedPackets += 1 }
    // Don't decode a frame that would only wait, because each one takes memory.
    queue.waitForRoom()
    if let pts = packet.pts { awaited.append(pts) } else { hasUntimed = true }
    while true {
      let isTaken = timed { decoder.send(packet) }
      try deliver()
      if isTaken { return }
    }
  }

  /// Passes on the frames that the decoder holds, for packets that don't follow on from the last ones.
  private func startAnew() throws(UprightError) {
    guard outcome.videoPackets > 0 else { return }
    decoder.finish()
    try deliver()
    decoder.flush()
  }

  /// Seeks to the keyframe at `pts`. If that is not possible, continues reading.
  private func go(to pts: Int64) throws(UprightError) {
    startPoint = nil
    try passSubtitles(before: pts)
    guard demuxer.seek(stream: video.index, to: pts) else { return }
    decoder.flush()
    awaited = []
    settle(before: pts)
    outcome.isPartial = true
  }

  /// Passes on the subtitles that begin within a minute before the keyframe at `pts`: some may still be shown there.
  private func passSubtitles(before pts: Int64) throws(UprightError) {
    let minute = MediaTime(60, .one).plausibleTicks(of: video.timeBase)
    guard !subtitles.isEmpty, demuxer.seek(stream: video.index, to: pts - minute) else { return }
    while isWanted, let packet = try demuxer.read() {
      if packet.streamIndex == video.index, packet.pts.map({ $0 >= pts }) ?? false { return }
      if subtitles.contains(packet.streamIndex) { pass(packet) }
    }
  }

  /// Passes on a packet of another track than the video.
  private func pass(_ packet: consuming Packet) {
    if subtitles.contains(packet.streamIndex), let pts = packet.pts, let place = packet.position,
      !passed.insert([Int64(packet.streamIndex), pts, place]).inserted
    {
      return
    }
    isWanted = queue.put(.packet(packet))
  }

  /// Passes on every frame that the decoder has output.
  private func deliver() throws(UprightError) {
    while isWanted {
      guard let frame = try timed({ () throws(UprightError) in try decoder.receive() }) else {
        return
      }
      // Look up the signal with the packet's timestamp, before it is repaired.
      let signal = signals.signals(for: frame).first
      settle(before: frame.pts)
      if timestamps.isDoubtful(frame) {
        doubtful = Doubt(frame: frame, signal: signal)
      } else {
        put(frame, signal)
      }
    }
  }

  /// Passes on the frame that waits, now that the timestamp of the next one is known.
  private func settle(before next: Int64?) {
    guard let doubt = doubtful.take() else { return }
    let signal = doubt.signal
    put(doubt.frame, signal, next: next)
  }

  /// - Parameter next: The following frame's timestamp, if it was waited for.
  private func put(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?, next: Int64? = nil
  ) {
    let before = outcome(before: frame)
    timestamps.repair(&frame, next: next)
    outcome.frames += 1
    if frame.isDamaged { outcome.damagedFrames += 1 }
    if frame.isInterlaced { outcome.interlacedFrames += 1 }
    outcome.droppedMetadata.formUnion(frame.dynamicMetadata)
    isWanted = queue.put(.frame(frame, signal, before))
  }

  /// Returns the outcome of reading without `frame` and what is shown after it.
  private func outcome(before frame: borrowing VideoFrame) -> SourceOutcome {
    var before = outcome
    if let pts = frame.pts {
      before.missed = awaited.filter { $0 < pts && $0 != latest }
      awaited.removeAll { $0 < pts }
      latest = pts
    }
    before.isCut = true
    before.isPartial = outcome.isPartial || hasUntimed
    before.videoPackets -= awaited.count
    before.damagedPackets += decoder.damagedPackets
    before.repairedTimestamps = timestamps.repairs
    return before
  }

  private func timed<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
    let start = ContinuousClock.now
    defer { outcome.seconds += start.secondsUntilNow }
    return try body()
  }
}
