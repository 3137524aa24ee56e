internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// The threads of a `PacketSession`: one reads and decodes, one decides, turns and encodes.
final class PacketRun: Sendable {
  /// What the session reads.
  enum Input: Sendable {
    case packets(TaskQueue<EncodedPacket>)
    case datagrams(RTPFeed)

    /// Ends the input.
    func close(discarding discards: Bool = false) {
      switch self {
      case .packets(let packets): packets.close(discarding: discards)
      case .datagrams(let feed): feed.datagrams.close(discarding: discards)
      }
    }
  }

  let input: Input
  let output = TaskQueue<PacketOutput>(capacity: 64)
  private let frames = BoundedQueue<SourceItem>(capacity: 1)
  /// `nil` for RTP: its first keyframe says what the decoder needs.
  private let source: SourceStage?
  private let worker: Mutex<PacketEncoder?>
  private let ending = Mutex<UprightError?>(nil)
  private let isCancelled = Atomic(false)
  private let wantsKeyframe = Atomic(false)
  private let count = Mutex(PacketCounters())
  private let writing = Mutex<WorkThread<Void>?>(nil)

  var counters: PacketCounters { count.withLock { $0 } }

  /// The error that ended the session.
  var failure: UprightError? { ending.withLock { $0 } }

  /// - Parameters:
  ///   - source: The source of packets; `nil` for RTP.
  ///   - timeBase: Seconds per tick of the video.
  init(
    _ input: Input, _ source: MemorySource?, timeBase: Rational, _ encoding: EncodeOptions,
    _ options: AdapterOptions, _ inbox: EventInbox
  ) throws(UprightError) {
    self.input = input
    self.source = if let source { try Self.stage(source, frames) } else { nil }
    worker = Mutex(try PacketEncoder(encoding, options, inbox, timeBase: timeBase))
  }

  private static func stage(
    _ source: any PacketSource, _ queue: BoundedQueue<SourceItem>
  ) throws(UprightError) -> SourceStage {
    guard let video = source.bestStream(.video) else {
      throw UprightError(.fault, "a source without video")
    }
    // Several decoder threads would delay each frame by as many frames.
    return try SourceStage(
      demuxer: source, video: video,
      sideStreams: Set(source.bestStream(.audio).map { [$0.index] } ?? []), threads: 1,
      queue: queue)
  }

  /// Reads the whole input.
  private func read() -> SourceOutcome {
    do throws(UprightError) {
      if let source { return source.run() }
      guard case .datagrams(let feed) = input else { throw UprightError(.fault, "no source") }
      return try Self.stage(RTPSource(feed, interrupt: Interrupt()), frames).run()
    } catch {
      frames.close()
      var outcome = SourceOutcome()
      outcome.error = error
      return outcome
    }
  }

  func requestKeyframe() { wantsKeyframe.store(true, ordering: .releasing) }

  func cancel() {
    guard !isCancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    ending.withLock { if $0 == nil { $0 = UprightError(.cancelled, "cancelled") } }
    frames.close()
    output.close(discarding: true)
  }

  /// Waits until the threads have ended.
  func join() { _ = writing.withLock { $0 }?.join() }

  func start() {
    let reading = WorkThread(name: "upright-packets-in") { [self] in read() }
    let writing = WorkThread(name: "upright-packets-out") { [self] in
      do throws(UprightError) {
        try encode()
        guard let outcome = reading.join() else { throw UprightError(.fault, "no reader") }
        if let error = outcome.error { throw error }
        if outcome.videoPackets > 0, outcome.frames == 0 {
          throw UprightError(
            .badData, "no frame can be decoded", remedy: "begin with a keyframe of the codec")
        }
      } catch {
        ending.withLock { if $0 == nil { $0 = error } }
        frames.close()
      }
      // A sender that waits must not wait longer.
      input.close(discarding: true)
      output.close()
    }
    self.writing.withLock { $0 = writing }
  }

  private func encode() throws(UprightError) {
    guard let worker = worker.withLock({ $0.take() }) else { return }
    while let item = frames.take() {
      if isCancelled.load(ordering: .acquiring) { return }
      switch consume item {
      case .packet(let packet): put(.packet(EncodedPacket(packet, track: .audio)))
      case .frame(let frame, let signal, _):
        count.withLock { $0.framesIn += 1 }
        if wantsKeyframe.exchange(false, ordering: .acquiringAndReleasing) {
          worker.requestKeyframe()
        }
        try worker.encode(frame, signal, put)
      }
    }
    if isCancelled.load(ordering: .acquiring) { return }
    try worker.finish(put)
  }

  private func put(_ element: PacketOutput) {
    count.withLock { $0.add(element) }
    _ = output.put(element)
  }
}
