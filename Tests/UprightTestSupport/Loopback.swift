import Foundation

/// Sockets on loopback: UDP here, TCP in its own file.
package enum Loopback {
  package struct Failure: Error {}

  static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = port.bigEndian
    return address
  }

  fileprivate static func socket() throws -> CInt {
    let descriptor = Glibc.socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
    if descriptor < 0 { throw Failure() }
    return descriptor
  }

  /// A port that nobody has at this moment.
  package static func freePort() throws -> UInt16 { try Bound().port }

  /// Whether somebody receives on that port.
  package static func isReceived(_ port: UInt16) -> Bool {
    let wanted = String(format: ":%04X ", port)
    let table = try? String(contentsOfFile: "/proc/net/udp", encoding: .utf8)
    return table?.contains(wanted) == true
  }

  /// A port that is taken while this lives.
  package final class Bound: Sendable {
    package let port: UInt16
    private let socket: CInt

    package init() throws {
      let socket = try Loopback.socket()
      var address = Loopback.address(0)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
        }
      }
      (self.socket, port) = (socket, UInt16(bigEndian: address.sin_port))
      if !isBound { throw Failure() }
    }

    deinit { close(socket) }
  }

  /// Sends datagrams to a port.
  package final class Datagrams: Sendable {
    private let socket: CInt
    private let port: UInt16
    private let group: String?

    /// - Parameter group: a multicast group in place of loopback; its datagrams do not leave the machine.
    package init(_ port: UInt16, group: String? = nil) throws {
      socket = try Loopback.socket()
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
