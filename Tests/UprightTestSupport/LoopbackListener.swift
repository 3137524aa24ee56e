import Foundation

extension Loopback {
  /// Returns a TCP port that is not in use at the moment.
  package static func freeTCPPort() throws -> Int { try Listener().port }

  /// A listening TCP port on the loopback interface. The kernel accepts connections. Nothing reads from
  /// them unless `accept` is called.
  package final class Listener: Sendable {
    package let port: Int
    private let socket: CInt

    /// - Parameter room: The size of a connection's receive buffer, in bytes.
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

    /// Returns the descriptor of the next connection, which the caller closes. Returns `nil` after `stop`.
    package func accept() -> CInt? {
      let peer = Glibc.accept(socket, nil, nil)
      return peer < 0 ? nil : peer
    }

    /// Makes a waiting `accept` return.
    package func stop() { shutdown(socket, CInt(SHUT_RDWR)) }
  }
}
