internal import Foundation
internal import Synchronization
internal import Upright
internal import UprightRTMP

/// A publisher's stream that the service passes on to the worker of its session.
protocol WorkerInput: Sendable {
  /// Passes on what arrives until the session ends. Blocks.
  ///
  /// - Parameters:
  ///   - arrives: Called for each publisher, before anything is passed on. The worker begins in it.
  ///   - leaves: Called when it has left, before that is passed on.
  ///   - refused: Called with the reason if a publisher was refused before it could arrive.
  func run(arrives: () -> Void, leaves: () -> Void, refused: (String) -> Void)
  /// Passes it on to this worker from now on. May block while the worker is behind.
  ///
  /// - Parameter skips: Whether workers have died of what was passed on since the last keyframe.
  func begin(_ worker: Worker, skipping skips: Bool)
  /// How much of what has arrived the next worker gets again, in seconds.
  var lead: Double { get }
  /// The place in the input at which a worker is that has taken `taken` packets.
  func place(after taken: Int) -> Int?
  /// Disconnects the publisher with this number among those of the worker, if it is still there.
  func refuse(_ publisher: Int, because reason: String?)
  /// The number of packets that were lost before they came to this process.
  var lostPackets: Int { get }
  /// Records how long the publisher is silent, in seconds.
  func note(silence: Double)
  /// Accepts no more publishers.
  func close()
}

/// The stream of a publisher by RTMP or SRT.
///
/// Another worker gets the FLV of RTMP from the newest keyframe on. Of the transport stream of SRT it gets what comes
/// next, and begins at the next keyframe.
final class PublishedInput: WorkerInput {
  private struct State {
    var worker: Worker?
    /// What the publisher's bytes are; `nil` if there is none.
    var container: PublishedFeed.Container?
    var replay = PublisherReplay()
  }

  private let feed: PublishedFeed
  private let state = Mutex(State())
  /// The number of the publishers that the worker has had. Beside the lock, which a publisher holds while it waits.
  private let publishers = Atomic(0)
  /// The number of packets before those that the worker gets.
  private let first = Atomic(0)
  /// Whether that number is known.
  private let isCounted = Atomic(true)

  init(_ feed: PublishedFeed) { self.feed = feed }

  var lostPackets: Int { feed.lostPackets }

  func run(arrives: () -> Void, leaves: () -> Void, refused: (String) -> Void) {
    while let delivery = feed.next() {
      switch delivery {
      case .began: arrives()
      case .ended: leaves()
      case .bytes: break
      }
      // The lock keeps the order, also where a send waits.
      state.withLock { state in
        switch delivery {
        case .began(let container):
          state.container = container
          isCounted.store(container == .flv, ordering: .relaxed)
          state.replay.begin()
          publishers.wrappingAdd(1, ordering: .relaxed)
          state.worker?.stream.send(PublisherOrder.began(container))
        case .bytes(let bytes) where state.container == .mpegts:
          state.worker?.stream.send(bytes: bytes)
        case .bytes(let bytes):
          for tag in FLVTag.tags(of: bytes) where state.replay.add(tag) {
            state.worker?.stream.send(bytes: tag)
          }
        case .ended(let refusal):
          state.container = nil
          state.worker?.stream.send(PublisherOrder.ended(refusal: refusal))
        }
      }
    }
    // A session that has ended is kept for a while. Its worker's sockets needn't be.
    state.withLock { $0.worker = nil }
  }

  func begin(_ worker: Worker, skipping skips: Bool) {
    state.withLock { state in
      state.worker = worker
      publishers.store(state.container == nil ? 0 : 1, ordering: .relaxed)
      guard let container = state.container else { return }
      worker.stream.send(PublisherOrder.began(container))
      guard container == .flv else { return }
      let tags = state.replay.restarted(skipping: skips)
      first.store(state.replay.first, ordering: .relaxed)
      for tag in tags { worker.stream.send(bytes: tag) }
    }
  }

  var lead: Double { state.withLock { $0.container == nil ? 0 : $0.replay.seconds } }

  func place(after taken: Int) -> Int? {
    guard isCounted.load(ordering: .relaxed) else { return nil }
    return first.load(ordering: .relaxed) + taken
  }

  func refuse(_ publisher: Int, because reason: String?) {
    guard publishers.load(ordering: .relaxed) == publisher else { return }
    feed.refusePublisher(because: reason)
  }

  func note(silence: Double) {}

  func close() { feed.close() }
}

/// The RTP of a publisher by WebRTC, which arrives at a socket that the worker gets.
final class ForwardedInput: WorkerInput {
  private struct State {
    var worker: Worker?
    var publisher: ForwardedFeed.Publisher?
    var keyframePort: UInt16?
    var publishers = 0
  }

  private let feed: ForwardedFeed
  private let state = Mutex(State())

  init(_ feed: ForwardedFeed) { self.feed = feed }

  /// The worker counts them.
  var lostPackets: Int { 0 }

  func run(arrives: () -> Void, leaves: () -> Void, refused: (String) -> Void) {
    while let delivery = feed.next() {
      switch delivery {
      case .began: arrives()
      case .ended(let reason):
        leaves()
        if let reason { refused(reason) }
      case .keyframePort: break
      }
      state.withLock { state in
        switch delivery {
        case .began(let publisher):
          (state.publisher, state.keyframePort) = (publisher, nil)
          Self.send(&state)
        case .keyframePort(let port):
          state.keyframePort = port
          state.worker?.control.send(WorkerOrder.keyframePort(port))
        case .ended(let reason):
          state.publisher = nil
          state.worker?.control.send(WorkerOrder.forwardEnded(reason: reason))
        }
      }
    }
    state.withLock { $0.worker = nil }
  }

  private static func send(_ state: inout State) {
    guard let worker = state.worker, let publisher = state.publisher else { return }
    state.publishers += 1
    worker.control.send(
      WorkerOrder.forward(description: publisher.description, publisher.target),
      descriptor: publisher.socket)
    if let port = state.keyframePort { worker.control.send(WorkerOrder.keyframePort(port)) }
  }

  func begin(_ worker: Worker, skipping skips: Bool) {
    state.withLock { state in
      (state.worker, state.publishers) = (worker, 0)
      Self.send(&state)
    }
  }

  func refuse(_ publisher: Int, because reason: String?) {
    guard state.withLock({ $0.publishers }) == publisher else { return }
    feed.refusePublisher()
  }

  var lead: Double { 0 }

  func place(after taken: Int) -> Int? { nil }

  func note(silence: Double) { feed.noteArrival(secondsAgo: silence) }

  func close() { feed.close() }
}
