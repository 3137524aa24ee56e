internal import Glibc
internal import UprightOrientation
internal import UprightMediaIO

/// A UDP socket that receives datagrams.
final class UDPSocket: Sendable {
  let descriptor: Int32

  /// Takes over a socket that is bound.
  init(adopting descriptor: Int32) { self.descriptor = descriptor }

  /// - Parameters:
  ///   - address: A local IPv4 or IPv6 address, or a multicast group.
  ///   - port: The port; 0 for any free one.
  /// - Throws: `usage` if the address is not a literal IP address; `cannotCreate` if it can't be bound.
  init(address: String, port: UInt16) throws(UprightError) {
    var (v4, v6) = (sockaddr_in(), sockaddr_in6())
    let isV4 = unsafe inet_pton(AF_INET, address, &v4.sin_addr) == 1
    guard unsafe isV4 || inet_pton(AF_INET6, address, &v6.sin6_addr) == 1 else {
      throw UprightError(
        .usage, "\(address) is not a literal IP address", at: "SDP",
        remedy: "write c=IN IP4 127.0.0.1")
    }
    let family = isV4 ? AF_INET : AF_INET6
    descriptor = socket(
      family,
      Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw Self.failure(address, port) }
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_port = port.bigEndian
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_port = port.bigEndian
    // A keyframe arrives in one burst.
    var room: Int32 = 4 << 20
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    let handle = descriptor
    let result =
      if isV4 {
        unsafe withUnsafePointer(to: &v4) { pointer in
          unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
      } else {
        unsafe withUnsafePointer(to: &v6) { pointer in
          unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe bind(handle, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
          }
        }
      }
    guard result == 0, !Self.isGroup(address) || Self.join(v4, v6, isV4, descriptor) else {
      let error = Self.failure(address, port)
      close(descriptor)
      throw error
    }
  }

  /// Joins a multicast group on the interface that routes to it. Returns `false` if that fails.
  private static func join(
    _ v4: sockaddr_in, _ v6: sockaddr_in6, _ isV4: Bool, _ descriptor: Int32
  ) -> Bool {
    if isV4 {
      var request = ip_mreq(imr_multiaddr: v4.sin_addr, imr_interface: in_addr(s_addr: 0))
      return unsafe setsockopt(
        descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request,
        socklen_t(MemoryLayout<ip_mreq>.size)) == 0
    }
    var request = ipv6_mreq(ipv6mr_multiaddr: v6.sin6_addr, ipv6mr_interface: 0)
    return unsafe setsockopt(
      descriptor, Int32(IPPROTO_IPV6), IPV6_ADD_MEMBERSHIP, &request,
      socklen_t(MemoryLayout<ipv6_mreq>.size)) == 0
  }

  deinit { close(descriptor) }

  /// Returns whether an address is a multicast group (RFC 5771: 224.0.0.0/4; RFC 4291, 2.7: ff00::/8).
  static func isGroup(_ address: String) -> Bool {
    if let first = address.split(separator: ".").first.flatMap({ UInt8($0) }) {
      return (224...239).contains(first)
    }
    return address.lowercased().hasPrefix("ff") && address.contains(":")
  }

  static func failure(_ address: String, _ port: UInt16) -> UprightError {
    UprightError(
      .cannotCreate, "can't receive UDP: \(unsafe String(cString: strerror(errno)))",
      at: "\(address):\(port)", remedy: "give a local address and a free port")
  }

  /// The port that the socket is bound to.
  var port: UInt16 {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &size)
      }
    }
    return result == 0 ? Self.port(of: address) : 0
  }

  /// Returns the next received datagram and the UDP port of its sender, or `nil` if there is none.
  func receive(into buffer: inout [UInt8]) -> (bytes: ArraySlice<UInt8>, sender: UInt16)? {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe recvfrom(descriptor, bytes.baseAddress, bytes.count, 0, $0, &size)
        }
      }
    }
    return count > 0 ? (buffer[..<count], Self.port(of: address)) : nil
  }

  /// Sends a datagram to a port of 127.0.0.1. It is lost if there is no room for it.
  func send(_ bytes: [UInt8], toLoopbackPort port: UInt16) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    _ = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe sendto(
          descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// Returns the port in an IPv4 or IPv6 address, which have it at the same place.
  private static func port(of address: sockaddr_storage) -> UInt16 {
    var address = address
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe UInt16(bigEndian: $0.pointee.sin_port)
      }
    }
  }
}
