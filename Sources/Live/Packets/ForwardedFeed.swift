public import UprightOrientation
internal import Synchronization
internal import UprightMediaIO
internal import UprightPipeline

/// The RTP of one publisher after another, which a WebRTC server on this machine forwards to a port of this
/// process. Safe to use from any thread.
///
/// Anyone on the machine can send to the port. Only packets with the source identifiers of the `Target` are accepted,
/// and only from the port that sent the first of them.
public final class ForwardedFeed: @unchecked Sendable {
  /// Where the WebRTC server must forward a publisher's RTP: video and audio to one port.
  public struct Target: Sendable, Hashable {
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

    /// Whether the session has a connection to open, or a refusal to report.
    var hasNews: Bool { waiting != nil || connection == nil && reason != nil }
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
    let connection = try ForwardedConnection(description, onRefusal: onRefusal)
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

  /// Ends a connection whose stream has ended or can't be used.
  func refuse(_ connection: ForwardedConnection) {
    let isPresent = arrival.withLock {
      guard state.connection === connection else { return false }
      state.connection = nil
      return true
    }
    guard isPresent else { return }
    connection.end()
    connection.onRefusal()
  }

  /// Closes the feed at the end of the session. It accepts nothing more.
  func close() {
    let connection = arrival.withLock {
      state.isClosed = true
      return state.connection.take()
    }
    connection?.end()
    connection?.onRefusal()
  }
}

/// One publisher's RTP, on a socket that is open until the last reference is released.
final class ForwardedConnection: Sendable {
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
    _ description: String, onRefusal: @escaping @Sendable () -> Void
  ) throws(UprightError) {
    self.description = try SessionDescription(description)
    self.onRefusal = onRefusal
    socket = try UDPSocket(address: "127.0.0.1", port: 0)
    guard ending.descriptor >= 0 else { throw UDPSocket.failure("127.0.0.1", socket.port) }
    // Random, so that another process can't guess them, and not 0, which Janus takes for none.
    target = ForwardedFeed.Target(
      port: socket.port, videoSource: .random(in: 1...UInt32.max),
      audioSource: .random(in: 1...UInt32.max))
  }

  /// Ends the stream after the packets that have arrived.
  func end() { ending.raise() }
}
