internal import UprightMediaIO

/// The stream of a publisher, passed on by the code that accepted it, one connection after another. Safe to use from
/// any thread.
///
/// The feed is bounded. It rejects data that does not fit, so that the acceptor stops reading from its peer.
public final class PublishedFeed: @unchecked Sendable {
  /// What a connection's bytes are.
  public enum Container: String, Sendable, Codable {
    /// Tags of FLV (Video File Format Specification 10.1, Annex E), as RTMP carries them.
    case flv
    /// An MPEG transport stream (ISO/IEC 13818-1), as SRT carries it. It may begin at any byte.
    case mpegts
  }

  private struct State {
    /// The pipe of the current connection; `nil` if there is no publisher.
    var pipe: BytePipe?
    /// The pipe of a connection that the session has not opened yet.
    var waiting: (pipe: BytePipe, container: Container)?
    /// The pipe that `next` reads.
    var reading: BytePipe?
    var onRoom: @Sendable () -> Void = {}
    var isClosed = false
    /// The number of bytes of earlier connections.
    var earlierBytes = 0
    /// The number of packets that the acceptor has lost.
    var lostPackets = 0
    /// Why the last connection was refused, until the session has reported it.
    var refusal: String?
    /// Why the session stopped reading the last connection.
    var rejection: String?
    /// Looks for packets in the first bytes of a transport stream.
    var probe: TransportStreamProbe?
  }

  // Unchecked: `state` is accessed only while `arrival` is locked.
  private var state = State()
  private let arrival = WaitCondition()
  private let capacity: Int

  /// Creates a feed that holds `capacity` bytes and one more write.
  public init(capacity: Int = 4 << 20) { self.capacity = capacity }

  /// The FLV header (Video File Format Specification 10.1, E.2), with the flags for audio and video.
  private static let header: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]

  /// Starts a connection; its tags or its transport stream follow. Returns `false` if there is already a publisher, or
  /// the session has ended.
  public func begin(_ container: Container = .flv) -> Bool {
    let pipe = BytePipe(capacity: capacity) { [weak self] in self?.notifyRoom() }
    return arrival.withLock {
      if state.isClosed || state.pipe != nil { return false }
      state.pipe = pipe
      // An earlier connection that ended before the session opened it is discarded.
      state.waiting = (pipe, container)
      state.rejection = nil
      state.probe = container == .mpegts ? TransportStreamProbe() : nil
      if container == .flv { _ = pipe.write(Self.header) }
      arrival.broadcast()
      return true
    }
  }

  /// Writes complete tags, as in a file, each followed by its size; or any number of bytes of a transport stream.
  /// Returns `false` if they were not accepted: there is no room (`onRoom` reports when there is), or no publisher. A
  /// publisher whose bytes aren't a transport stream is refused.
  public func write(_ bytes: [UInt8]) -> Bool {
    guard let pipe = arrival.withLock({ state.pipe }), pipe.write(bytes) else { return false }
    let isRefused = arrival.withLock {
      guard state.pipe === pipe, state.probe?.accepts(bytes) == false else { return false }
      state.refusal = Self.noTransportStream
      return true
    }
    if isRefused { refuse(pipe, because: Self.noTransportStream) }
    return true
  }

  private static let noTransportStream = "the publisher's data is no MPEG transport stream"

  /// Records that the network has lost packets of the publisher, for `lostPackets`.
  public func lose(packets: Int) { arrival.withLock { state.lostPackets += packets } }

  /// The number of packets that were lost, of all connections together.
  public var lostPackets: Int { arrival.withLock { state.lostPackets } }

  /// Records why the publisher's stream is refused. The session reports the reason. Call `end` next.
  public func refuse(because reason: String) { arrival.withLock { state.refusal = reason } }

  /// Returns why the last connection was refused, and clears it.
  func takeRefusal() -> String? { arrival.withLock { state.refusal.take() } }

  /// Ends the connection. Another one may start.
  public func end() {
    let pipe = arrival.withLock {
      state.earlierBytes += state.pipe?.written ?? 0
      return state.pipe.take()
    }
    pipe?.end()
  }

  /// Stops reading a connection whose stream can't be used. The acceptor must disconnect its publisher, which
  /// may connect again, and can send it the `rejection`.
  func refuse(_ pipe: BytePipe, because reason: String?) {
    let isPresent = arrival.withLock {
      guard state.pipe === pipe else { return false }
      state.earlierBytes += pipe.written
      state.pipe = nil
      state.rejection = reason
      return true
    }
    guard isPresent else { return }
    pipe.end()
    notifyRoom()
  }

  /// Whether there is a publisher.
  public var isPublishing: Bool { arrival.withLock { state.pipe != nil } }

  /// Why the session stopped reading the last connection, in one sentence for its publisher; `nil` if it didn't.
  public var rejection: String? { arrival.withLock { state.rejection } }

  /// Whether the session has ended and accepts no more publishers.
  public var isClosed: Bool { arrival.withLock { state.isClosed } }

  /// Sets the closure that is called when there is room again after a rejected write. It runs on a thread of
  /// the session.
  public func onRoom(_ body: @escaping @Sendable () -> Void) {
    arrival.withLock { state.onRoom = body }
  }

  private func notifyRoom() { arrival.withLock { state.onRoom }() }

  /// The number of bytes that were accepted, for all connections together.
  var written: Int {
    arrival.withLock { state.earlierBytes + (state.pipe?.written ?? 0) }
  }

  /// Waits for the next connection. Returns `nil` if the interrupt is raised.
  func next(_ interrupt: Interrupt) -> (pipe: BytePipe, container: Container)? {
    interrupt.waking(arrival) {
      arrival.withLock {
        arrival.wait(while: state.waiting == nil && !interrupt.isRaised)
        return state.waiting.take()
      }
    }
  }

  /// What a program reads that passes a feed on to a session in another process.
  public enum Delivery: Sendable {
    /// A publisher has connected.
    case began(Container)
    /// The next bytes of its stream. Of FLV the header comes first, then complete tags.
    case bytes([UInt8])
    /// The stream has ended; with the reason if its publisher was refused.
    case ended(refusal: String?)
  }

  /// Waits for what comes next, in place of a session of this process, on one thread. Returns `nil` once the feed is
  /// closed.
  public func next() -> Delivery? {
    if let pipe = arrival.withLock({ state.reading }) {
      if let bytes = pipe.take() { return .bytes(bytes) }
      return arrival.withLock {
        state.reading = nil
        return .ended(refusal: state.refusal.take())
      }
    }
    return arrival.withLock {
      arrival.wait(while: state.waiting == nil && !state.isClosed)
      guard let (pipe, container) = state.waiting.take() else { return nil }
      state.reading = pipe
      return .began(container)
    }
  }

  /// Stops reading the connection, as a session does whose input can't be used.
  ///
  /// - Parameter reason: The `rejection`.
  public func refusePublisher(because reason: String? = nil) {
    if let pipe = arrival.withLock({ state.pipe }) { refuse(pipe, because: reason) }
  }

  /// Closes the feed at the end of the session. It accepts nothing more.
  public func close() {
    let pipe = arrival.withLock {
      state.isClosed = true
      arrival.broadcast()
      state.earlierBytes += state.pipe?.written ?? 0
      return state.pipe.take()
    }
    pipe?.end()
    notifyRoom()
  }
}
