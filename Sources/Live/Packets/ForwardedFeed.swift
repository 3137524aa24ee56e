public import UprightOrientation
internal import Synchronization
internal import UprightMediaIO
internal import UprightMedia

/// The RTP of one publisher after another, which a WebRTC server on this machine forwards to a port of this
/// process. Safe to use from any thread.
///
/// Anyone on the machine can send to the port. Only packets with the source identifiers of the `Target` are accepted,
/// and only from the port that sent the first of them.
public final class ForwardedFeed: @unchecked Sendable {
  /// Where the WebRTC server must forward a publisher's RTP: video and audio to one port.
  public struct Target: Sendable, Hashable, Codable {
    /// The UDP port on 127.0.0.1.
    public let port: UInt16
    /// The source identifier (SSRC) that the server must give to the packets of the video.
    public let videoSource: UInt32
    /// The source identifier that the server must give to the packets of the audio.
    public let audioSource: UInt32
  }

  private struct State {
    /// The current connection; `nil` if there is no publisher.
    var connection: ForwardedConnection?
    /// A connection that the session has not opened yet.
    var waiting: ForwardedConnection?
    var isClosed = false
    /// Why the last publisher was refused or has gone, until the session has reported it.
    var reason: String?
    /// The connection that `next` has returned, and the port for keyframes that it has returned.
    var passed: (connection: ForwardedConnection, keyframePort: UInt16)?

    /// Whether the session has a connection to open, or a refusal to report.
    var hasNews: Bool { waiting != nil || connection == nil && reason != nil }

    /// Returns what `next` returns now; `nil` if it has to wait.
    mutating func takeDelivery() -> Delivery? {
      if let passed {
        guard passed.connection === connection else {
          self.passed = nil
          return .ended(reason: connection == nil ? reason.take() : nil)
        }
        let port = passed.connection.feedbackPort.load(ordering: .relaxed)
        guard port != passed.keyframePort else { return nil }
        self.passed?.keyframePort = port
        return .keyframePort(port)
      }
      if let connection = waiting.take(), connection === self.connection {
        passed = (connection, 0)
        return .began(Publisher(connection: connection))
      }
      if connection == nil, let reason = reason.take() { return .ended(reason: reason) }
      return nil
    }
  }

  // Unchecked: `state` is accessed only while `arrival` is locked.
  private var state = State()
  private let arrival = WaitCondition()

  /// Creates a feed without a publisher.
  public init() {}

  /// Opens a port for a publisher. Returns `nil` if there is already one, or the session has ended.
  ///
  /// - Parameters:
  ///   - description: The session description (RFC 8866): the codecs, the payload types, and which header
  ///     extension is CVO. Its addresses and ports are not used.
  ///   - onRefusal: Called once if the session can't use the stream or ends first, on a thread of the session. The
  ///     publisher must be disconnected.
  /// - Throws: `badData` for a description that can't be read, `cannotCreate` if no port can be bound.
  public func begin(
    _ description: String, onRefusal: @escaping @Sendable () -> Void
  ) throws(UprightError) -> Target? {
    let socket = try UDPSocket(address: "127.0.0.1", port: 0)
    // Random, so that another process can't guess them, and not 0, which Janus takes for none.
    let target = Target(
      port: socket.port, videoSource: .random(in: 1...UInt32.max),
      audioSource: .random(in: 1...UInt32.max))
    return try begin(
      ForwardedConnection(description, target, on: socket, onRefusal: onRefusal))
  }

  /// Takes over a publisher of another process, whose feed has returned it as a `Delivery`.
  ///
  /// - Parameters:
  ///   - description: The session description.
  ///   - target: What the publisher's packets are recognised by.
  ///   - socket: A descriptor of the port's socket, which this process has received. The feed closes it.
  ///   - onRefusal: The same as for a new publisher.
  /// - Throws: `badData` for a description that can't be read.
  public func begin(
    _ description: String, target: Target, socket: CInt,
    onRefusal: @escaping @Sendable () -> Void
  ) throws(UprightError) {
    _ = try begin(
      ForwardedConnection(
        description, target, on: UDPSocket(adopting: socket), onRefusal: onRefusal))
  }

  private func begin(_ connection: ForwardedConnection) -> Target? {
    let isTaken = arrival.withLock {
      if state.isClosed || state.connection != nil { return false }
      (state.connection, state.waiting, state.reason) = (connection, connection, nil)
      arrival.broadcast()
      return true
    }
    return isTaken ? connection.target : nil
  }

  /// Sets the port of 127.0.0.1 at which the WebRTC server receives requests for keyframes (RTCP).
  public func requestKeyframes(at port: UInt16) {
    connection?.feedbackPort.store(port, ordering: .relaxed)
    arrival.withLock { arrival.broadcast() }
  }

  /// Records why a publisher is refused. The session reports the reason.
  public func refuse(because reason: String) {
    arrival.withLock {
      guard state.connection == nil else { return }
      state.reason = reason
      arrival.broadcast()
    }
  }

  /// Ends the connection. Another one may start.
  ///
  /// - Parameter reason: What the session reports; `nil` if the publisher has ended the stream.
  public func end(because reason: String? = nil) {
    let connection = arrival.withLock {
      if state.connection != nil { state.reason = reason }
      arrival.broadcast()
      return state.connection.take()
    }
    connection?.end()
  }

  private var connection: ForwardedConnection? { arrival.withLock { state.connection } }

  /// Whether there is a publisher.
  public var isPublishing: Bool { connection != nil }

  /// Whether the session has ended and accepts no more publishers.
  public var isClosed: Bool { arrival.withLock { state.isClosed } }

  /// The time since the current publisher's last packet, in seconds. `nil` if there was none yet, or there is no
  /// publisher.
  public var silence: Double? {
    connection?.lastArrival.withLock { $0?.secondsUntilNow }
  }

  /// Returns why the last publisher was refused or has gone, and clears it.
  func takeReason() -> String? { arrival.withLock { state.reason.take() } }

  /// Waits for the next connection. Returns `nil` if a publisher was refused instead, or the interrupt is raised.
  func next(_ interrupt: Interrupt) -> ForwardedConnection? {
    interrupt.waking(arrival) {
      arrival.withLock {
        arrival.wait(while: !state.hasNews && !interrupt.isRaised)
        return state.waiting.take()
      }
    }
  }

  /// What a program reads that passes a feed on to a session in another process.
  public enum Delivery: Sendable {
    /// A publisher's packets arrive.
    case began(Publisher)
    /// The port for requests for keyframes is known.
    case keyframePort(UInt16)
    /// The publisher has gone, or was refused before its packets could arrive; with the reason to report.
    case ended(reason: String?)
  }

  /// A publisher whose packets arrive at a socket of this process.
  public struct Publisher: Sendable {
    fileprivate let connection: ForwardedConnection
    /// The session description.
    public var description: String { connection.text }
    /// What its packets are recognised by.
    public var target: Target { connection.target }
    /// The socket's descriptor, valid as long as this value is kept.
    public var socket: CInt { connection.socket.descriptor }
  }

  /// Waits for what comes next, in place of a session of this process. Returns `nil` once the feed is closed.
  public func next() -> Delivery? {
    arrival.withLock {
      while !state.isClosed {
        if let delivery = state.takeDelivery() { return delivery }
        arrival.wait()
      }
      return nil
    }
  }

  /// Records that the publisher's last packet arrived `seconds` ago, as the session in the other process has told.
  public func noteArrival(secondsAgo seconds: Double) {
    guard seconds.isFinite, seconds >= 0 else { return }
    connection?.lastArrival.withLock { $0 = .now - .seconds(min(seconds, 1e6)) }
  }

  /// Disconnects the publisher, as a session does whose input can't be used.
  public func refusePublisher() {
    if let connection { refuse(connection) }
  }

  /// Ends a connection whose stream has ended or can't be used.
  func refuse(_ connection: ForwardedConnection) {
    let isPresent = arrival.withLock {
      guard state.connection === connection else { return false }
      state.connection = nil
      arrival.broadcast()
      return true
    }
    guard isPresent else { return }
    connection.end()
    connection.onRefusal()
  }

  /// Closes the feed at the end of the session. It accepts nothing more.
  public func close() {
    let connection = arrival.withLock {
      state.isClosed = true
      arrival.broadcast()
      return state.connection.take()
    }
    connection?.end()
    connection?.onRefusal()
  }
}

/// One publisher's RTP, on a socket that is open until the last reference is released.
final class ForwardedConnection: Sendable {
  /// The session description as it was given, and as it was read.
  let text: String
  let description: SessionDescription
  let target: ForwardedFeed.Target
  let socket: UDPSocket
  let onRefusal: @Sendable () -> Void
  /// The port on loopback that receives requests for keyframes; 0 while it is unknown.
  let feedbackPort = Atomic<UInt16>(0)
  /// The arrival of the last accepted packet; `nil` before the first.
  let lastArrival = Mutex<ContinuousClock.Instant?>(nil)
  /// Raised at the end of the stream, after its last packets.
  let ending = Interrupt()

  init(
    _ text: String, _ target: ForwardedFeed.Target, on socket: UDPSocket,
    onRefusal: @escaping @Sendable () -> Void
  ) throws(UprightError) {
    self.text = text
    description = try SessionDescription(text)
    (self.target, self.socket, self.onRefusal) = (target, socket, onRefusal)
    guard ending.descriptor >= 0 else { throw UDPSocket.failure("127.0.0.1", target.port) }
  }

  /// Ends the stream after the packets that have arrived.
  func end() { ending.raise() }
}
