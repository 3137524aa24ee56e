import Foundation

/// Sockets on the loopback interface: UDP here, TCP in `LoopbackListener.swift`.
package enum Loopback {
  package struct Failure: Error {}

  static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
  }

  /// Returns a socket that child processes don't inherit. A child process would keep its port in use.
  static func socket(_ kind: __socket_type) throws -> CInt {
    let descriptor = Glibc.socket(AF_INET, CInt(kind.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if descriptor < 0 { throw Failure() }
    return descriptor
  }

  /// Binds `socket` to a random port below the range from which the kernel assigns ports to outgoing
  /// connections, so that a free port stays free until it is used. Returns the port.
  static func bind(_ socket: CInt) throws -> UInt16 {
    for _ in 0..<100 {
      let port = UInt16.random(in: 10_240..<32_768)
      var address = Loopback.address(port)
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isBound { return port }
    }
    throw Failure()
  }

  /// Returns a UDP port that is not in use at the moment.
  package static func freePort() throws -> UInt16 { try Bound().port }

  /// Whether a process receives on UDP port `port`.
  package static func isReceived(_ port: UInt16) -> Bool {
    let wanted = String(format: ":%04X ", port)
    let table = try? String(contentsOfFile: "/proc/net/udp", encoding: .utf8)
    return table?.contains(wanted) == true
  }

  /// A UDP port that is in use as long as this object exists.
  package final class Bound: Sendable {
    package let port: UInt16
    private let socket: CInt

    package init() throws {
      socket = try Loopback.socket(SOCK_DGRAM)
      port = try Loopback.bind(socket)
    }

    deinit { close(socket) }
  }

  /// A UDP port that receives datagrams.
  package final class Receiver: Sendable {
    package let port: UInt16
    private let socket: CInt

    package init() throws {
      socket = try Loopback.socket(SOCK_DGRAM)
      port = try Loopback.bind(socket)
    }

    deinit { close(socket) }

    /// Returns a datagram that has arrived, or `nil` if there is none.
    package func receive() -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &buffer, buffer.count, CInt(MSG_DONTWAIT))
      return count > 0 ? Array(buffer[..<count]) : nil
    }
  }

  /// Sends datagrams to a UDP port.
  package final class Datagrams: Sendable {
    private let socket: CInt
    private let port: UInt16
    private let group: String?

    /// - Parameter group: A multicast group to send to instead of loopback. Its datagrams don't leave the
    ///   machine.
    package init(_ port: UInt16, group: String? = nil) throws {
      socket = try Loopback.socket(SOCK_DGRAM)
      self.port = port
      self.group = group
      var hops: CInt = 0
      setsockopt(
        socket, CInt(IPPROTO_IP), IP_MULTICAST_TTL, &hops, socklen_t(MemoryLayout<CInt>.size))
    }

    deinit { close(socket) }

    package func send(_ bytes: [UInt8]) {
      var address = Loopback.address(port)
      if let group { inet_pton(AF_INET, group, &address.sin_addr) }
      _ = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
  }
}
