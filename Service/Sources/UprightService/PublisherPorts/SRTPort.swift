internal import CUprightSRT
internal import Foundation
internal import Glibc
internal import Logging
internal import NIOCore
internal import Synchronization
internal import Upright

/// One SRT port: a listening socket for any number of publishers, which say in their `streamid` which stream is theirs.
///
/// SRT asks about each publisher in its handshake, so that most refusals are a reason of SRT. A hook is asked after
/// the handshake; a publisher that it refuses is disconnected.
final class SRTPort: Sendable {
  private let routes: PublishRoutes
  private let logger: Logger
  private let listener: SRTSOCKET
  /// The number of the port.
  let number: Int?
  /// The publishers, by their sessions.
  private let publishers = Mutex<[String: SRTPublisher]>([:])
  /// The handshakes with a passphrase that haven't ended.
  private let secured = Mutex<Set<SRTSOCKET>>([])
  private let silence: TimeAmount
  private let countDropped: @Sendable (Int) -> Void

  /// How long a handshake may take, as libsrt has it (`SRTO_CONNTIMEO`).
  private static let handshakeTime = Duration.seconds(3)

  private struct Failure: Error {}

  /// libsrt, which is never shut down: libavformat may use it too.
  private static let library: Bool = {
    guard srt_startup() >= 0 else { return false }
    // It prints to standard error, otherwise: what it reports of connections is logged here.
    srt_setloglevel(LOG_CRIT)
    return true
  }()

  /// Binds the port.
  ///
  /// - Parameters:
  ///   - silence: A publisher without a packet for this time is disconnected.
  ///   - countDropped: Called with the number of packets that SRT has dropped since the last call.
  /// - Throws: If the port can't be bound.
  init(
    host: String, port: Int, _ routes: PublishRoutes, _ logger: Logger, silence: TimeAmount,
    countDropped: @escaping @Sendable (Int) -> Void
  ) throws {
    guard Self.library else { throw Failure() }
    let address = try SocketAddress(ipAddress: host, port: port)
    let listener = srt_create_socket()
    (self.listener, self.routes, self.logger) = (listener, routes, logger)
    (self.silence, self.countDropped) = (silence, countDropped)
    do {
      if address.protocol == .inet6 { try Self.set(listener, SRTO_IPV6ONLY, 0) }
      let isBound = unsafe address.withSockAddr { address, size in
        unsafe srt_bind(listener, address, CInt(clamping: size)) == 0
      }
      guard isBound else { throw Failure() }
      number = Self.address(of: listener)?.port
    } catch {
      srt_close(listener)
      throw error
    }
    // Held until the thread below has seen the end of the listener, after which nothing is asked.
    let held = unsafe Unmanaged.passRetained(self)
    _ = unsafe srt_listen_callback(
      listener,
      { port, socket, _, _, streamID in
        guard let port = unsafe port, let streamID = unsafe streamID else { return -1 }
        return unsafe Unmanaged<SRTPort>.fromOpaque(port).takeUnretainedValue()
          .examine(socket, String(cString: streamID))
      }, held.toOpaque())
    guard srt_listen(listener, 64) == 0 else {
      close()
      unsafe held.release()
      throw Failure()
    }
    Thread.detachNewThread {
      self.accept()
      unsafe held.release()
    }
  }

  /// Closes the port. The publishers stay until their sessions end.
  func close() { _ = srt_close(listener) }

  // MARK: - The handshake

  /// Lets a publisher's handshake go on, with its stream's passphrase. Called on a thread of SRT. Returns -1 to reject
  /// it.
  private func examine(_ socket: SRTSOCKET, _ streamID: String) -> CInt {
    do throws(PublishRefusal) {
      let request = PublishRequest(try SRTStreamID(streamID).address, from: "", over: .srt)
      let passphrase = try routes.passphrase(of: request) { session in
        publishers.withLock { $0[session] }?.yields ?? false
      }
      guard let passphrase else { return 0 }
      expectHandshake(of: socket)
      let size = CInt(clamping: passphrase.utf8.count)
      return unsafe srt_setsockflag(socket, SRTO_PASSPHRASE, passphrase, size)
    } catch {
      logger.info("publisher rejected: \(error.reason)")
      _ = srt_setrejectreason(socket, Self.reason(error.code))
      return -1
    }
  }

  /// Logs a handshake that SRT refuses by itself: one without the stream's passphrase never comes to `accept`.
  private func expectHandshake(of socket: SRTSOCKET) {
    secured.withLock { _ = $0.insert(socket) }
    Task {
      try? await Task.sleep(for: Self.handshakeTime)
      guard secured.withLock({ $0.remove(socket) }) != nil else { return }
      logger.info("publisher rejected: it doesn't have the passphrase, or left in the handshake")
    }
  }

  /// The reason that a rejected publisher gets.
  private static func reason(_ code: PublishRefusal.Code) -> CInt {
    switch code {
    case .invalid: SRT_REJX_BAD_REQUEST
    case .mode: SRT_REJX_BAD_MODE
    case .denied: SRT_REJX_FORBIDDEN
    case .unknown: SRT_REJX_NOTFOUND
    case .taken: SRT_REJX_CONFLICT
    }
  }

  // MARK: - Publishers

  /// Accepts publishers until the port is closed. Each has a thread of its own.
  private func accept() {
    while true {
      let socket = srt_accept(listener, nil, nil)
      guard socket != SRT_INVALID_SOCK else {
        guard srt_getsockstate(listener) == SRTS_LISTENING else { return }
        continue
      }
      secured.withLock { _ = $0.remove(socket) }
      let peer = IPAddress.peer(of: Self.address(of: socket, isPeer: true))
      guard routes.peers.enter(peer) else {
        srt_close(socket)
        continue
      }
      Thread.detachNewThread { [self] in
        serve(socket, peer)
        srt_close(socket)
        routes.peers.leave(peer)
      }
    }
  }

  private func serve(_ socket: SRTSOCKET, _ peer: String) {
    do {
      let request = PublishRequest(
        try SRTStreamID(Self.streamID(of: socket)).address, from: peer, over: .srt)
      let route = try enter(request)
      let publisher = SRTPublisher(socket, route.feed, silence: silence, countDropped)
      publishers.withLock { $0[route.session] = publisher }
      logger.info("session \(route.session): publisher connected")
      publisher.run()
      publishers.withLock { $0[route.session] = nil }
      route.feed.end()
      routes.leave(route)
      publisher.finish()
      let dropped = publisher.dropped > 0 ? ", \(publisher.dropped) packets were dropped" : ""
      logger.info("session \(route.session): publisher disconnected\(dropped)")
    } catch {
      let refusal = error as? PublishRefusal ?? PublishRefusal("internal error")
      logger.info("publisher rejected: \(refusal.reason)")
    }
  }

  /// Waits until the publisher is let in. The lookup may ask another server, which has a few seconds for its answer.
  private func enter(_ request: PublishRequest) throws -> PublishRoutes.Route {
    let result = Mutex<Result<PublishRoutes.Route, any Error>>(.failure(CancellationError()))
    let done = DispatchSemaphore(value: 0)
    Task {
      let found: Result<PublishRoutes.Route, any Error>
      do {
        found = .success(
          try await routes.enter(request) { [self] session in
            guard let old = publishers.withLock({ $0[session] }), old.yields else { return false }
            await blocking { old.replace() }
            return true
          })
      } catch { found = .failure(error) }
      result.withLock { $0 = found }
      done.signal()
    }
    done.wait()
    return try result.withLock { $0 }.get()
  }

  // MARK: - Sockets

  static func set(_ socket: SRTSOCKET, _ option: SRT_SOCKOPT, _ value: CInt) throws {
    var value = value
    let size = CInt(MemoryLayout<CInt>.size)
    guard unsafe srt_setsockflag(socket, option, &value, size) == 0 else { throw Failure() }
  }

  private static func streamID(of socket: SRTSOCKET) -> String {
    var text = [CChar](repeating: 0, count: SRTStreamID.maxSize + 1)
    var size = CInt(clamping: text.count)
    guard unsafe srt_getsockflag(socket, SRTO_STREAMID, &text, &size) == 0 else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the socket's own address, or its peer's.
  private static func address(of socket: SRTSOCKET, isPeer: Bool = false) -> SocketAddress? {
    var storage = sockaddr_storage()
    var size = CInt(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { storage in
      let raw = UnsafeMutableRawPointer(storage)
      let address = unsafe raw.assumingMemoryBound(to: sockaddr.self)
      let found =
        unsafe isPeer
        ? srt_getpeername(socket, address, &size) : srt_getsockname(socket, address, &size)
      guard found == 0 else { return nil }
      // The family comes first in an address of any kind.
      switch unsafe CInt(raw.load(as: sa_family_t.self)) {
      case AF_INET: return unsafe SocketAddress(raw.load(as: sockaddr_in.self))
      case AF_INET6: return unsafe SocketAddress(raw.load(as: sockaddr_in6.self))
      default: return nil
      }
    }
  }
}
