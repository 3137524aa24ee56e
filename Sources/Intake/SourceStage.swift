internal import Orientation
package import UprightMediaIO
package import UprightPipeline

/// What the reading thread hands to the writing one.
package enum SourceItem: ~Copyable {
  /// The last value: how reading had gone up to this frame, itself left out.
  case frame(VideoFrame, OrientationSignal?, SourceOutcome)
  case packet(Packet)
}

/// How reading went.
package struct SourceOutcome: Sendable {

  package init() {
  }
  /// What ended it before the end; nil where all was read.
  package var error: UprightError?
  package var videoPackets = 0
  package var frames = 0
  /// Packets that could not be read or decoded.
  package var damagedPackets = 0
  /// Frames that the decoder patched over damage in.
  package var damagedFrames = 0
  package var repairedTimestamps = 0
  /// Seconds spent in reading and decoding.
  package var seconds = 0.0
  /// Whether the caller stopped it.
  package var isStopped = false
  /// Packets that an edit list marks as never shown.
  var discardedPackets = 0
  package var interlacedFrames = 0
  /// Whether a part was passed over: then counts of packets say nothing of damage.
  package var isPartial = false
  /// Whether what follows is not wanted: then an index that promises more has lost nothing.
  package var isCut = false
  /// Times of the packets since the last frame that gave no picture, in ticks of the source.
  var missed: [Int64] = []

  /// Takes back what was counted of packets at `end` and later.
  package mutating func leaveOut(from end: Int64) {
    let later = missed.count { $0 >= end }
    videoPackets -= later
    damagedPackets = max(0, damagedPackets - later)
  }
  /// What frames carried that goes no further, by name.
  package var droppedMetadata: Set<String> = []
  /// What the user should know of the signals.
  package var warnings: [String] = []

  /// Packets that ought to have given a picture each and did not; nil where there are none, or where
  /// the codec does not promise one for each (alternate references, fields).
  package func undecodedPackets(of video: StreamInfo) -> Int? {
    guard video.codecName == "h264" || video.codecName == "hevc", interlacedFrames == 0, !isPartial
    else { return nil }
    let lost = videoPackets - discardedPackets - damagedPackets - frames
    return lost > 0 ? lost : nil
  }
}

/// Reads and decodes on a thread of its own, into a bounded queue.
///
/// Sendable by hand-over: it is made on one thread and run on another, never on both.
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
  /// Where to go on once the first frame is out; nil: read on.
  private var startPoint: Int64?
  /// A frame whose time is not believed before the next one is seen.
  private var doubtful: Doubt?
  private var pixelShape = PixelShape()
  /// Times of packets whose pictures have not come out, in ticks of `video`.
  private var awaited: [Int64] = []
  /// The last frame's time as it was read.
  private var latest: Int64?
  /// Whether a packet came without a time: then none can be missed by its time.
  private var hasUntimed = false

  private struct Doubt: ~Copyable {
    var frame: VideoFrame
    let signal: OrientationSignal?
  }

  /// - Parameters:
  ///   - startPoint: the keyframe to go on from after the first frame, which sets the timeline's zero,
  ///     in ticks of `video`; nil to decode all.
  ///   - threads: the decoder's; 0: as many as it chooses.
  package init(
    demuxer: any PacketSource, video: StreamInfo, sideStreams: Set<Int>, startPoint: Int64? = nil,
    threads: Int = 0, queue: BoundedQueue<SourceItem>
  ) throws(UprightError) {
    self.startPoint = startPoint
    self.demuxer = demuxer
    self.video = video
    self.sideStreams = sideStreams
    self.queue = queue
    decoder = try VideoDecoder(stream: video, threads: threads)
    signals = try SignalReader(demuxer, video)
    timestamps = TimestampRepair(timeBase: video.timeBase, frameRate: video.frameRate)
    demuxer.select(sideStreams.union([video.index]))
  }

  /// Reads to the end, to an error, or until the queue is closed from the other side.
  package func run() -> SourceOutcome {
    do throws(UprightError) {
      try read()
    } catch {
      if error.code == .cancelled { outcome.isStopped = true } else { outcome.error = error }
    }
    // What is inside the decoder belongs to the clip, however reading ended.
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
        try take(packet)
        if let startPoint, outcome.frames > 0 || doubtful != nil { try go(to: startPoint) }
      } catch {
        // A damaged stretch: what follows may be whole, but a file is not read for ever.
        guard error.code == .badData, failures < 100 else { throw error }
        failures += 1
        outcome.damagedPackets += 1
      }
    }
  }

  private func take(_ packet: consuming Packet) throws(UprightError) {
    signals.note(packet)
    guard packet.streamIndex == video.index else {
      if sideStreams.contains(packet.streamIndex) {
        isWanted = queue.put(.packet(packet))
      }
      return
    }
    outcome.videoPackets += 1
    if packet.isDiscarded { outcome.discardedPackets += 1 }
    // A picture that would only wait is decoded later: each holds its memory.
    queue.waitForRoom()
    if let pts = packet.pts { awaited.append(pts) } else { hasUntimed = true }
    while true {
      let isTaken = timed { decoder.send(packet) }
      try deliver()
      if isTaken { return }
    }
  }

  /// Passes over everything up to the keyframe at `pts`; where that cannot be done, reads on.
  private func go(to pts: Int64) throws(UprightError) {
    startPoint = nil
    guard demuxer.seek(stream: video.index, to: pts) else { return }
    decoder.flush()
    awaited = []
    settle(before: pts)
    outcome.isPartial = true
  }

  /// Hands over every picture that has come out.
  private func deliver() throws(UprightError) {
    while isWanted {
      guard var frame = try timed({ () throws(UprightError) in try decoder.receive() }) else {
        return
      }
      // Asked with the time that its packet had, before it is mended.
      let signal = signals.signals(for: frame).first
      pixelShape.resolve(&frame, container: video.sampleAspectRatio)
      settle(before: frame.pts)
      if timestamps.isDoubtful(frame) {
        doubtful = Doubt(frame: frame, signal: signal)
      } else {
        put(frame, signal)
      }
    }
  }

  /// Hands over the frame that waits, now that the time of the next one is known.
  private func settle(before next: Int64?) {
    guard let doubt = doubtful.take() else { return }
    let signal = doubt.signal
    put(doubt.frame, signal, next: next)
  }

  /// - Parameter next: the following frame's timestamp, where that was waited for.
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

  /// How reading has gone where `frame` and what is shown after it do not count.
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
