import Foundation

extension Loopback {
  /// A TCP port that nobody has at this moment.
  package static func freeTCPPort() throws -> Int { try Listener().port }

  /// A TCP port of loopback that listens; whoever connects is accepted by the kernel and, unless
  /// `accept` is called, never read.
  package final class Listener: Sendable {
    package let port: Int
    private let socket: CInt

    /// - Parameter room: bytes that are taken from a connection before somebody reads.
    package init(room: Int? = nil) throws {
      let socket = try Loopback.socket(SOCK_STREAM)
      if let room {
        var room = CInt(room)
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size))
      }
      self.socket = socket
      port = Int(try Loopback.bind(socket))
      if listen(socket, 16) != 0 { throw Failure() }
    }

    deinit {
      stop()
      close(socket)
    }

    /// The next connection's descriptor, the caller's to close; nil once stopped.
    package func accept() -> CInt? {
      let peer = Glibc.accept(socket, nil, nil)
      return peer < 0 ? nil : peer
    }

    /// Wakes who waits in `accept`.
    package func stop() { shutdown(socket, CInt(SHUT_RDWR)) }
  }
}
