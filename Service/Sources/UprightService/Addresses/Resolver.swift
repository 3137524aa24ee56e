internal import Foundation

/// Resolves host names. Tests provide another implementation.
protocol Resolver: Sendable {
  /// Returns the addresses of `host`, which may be an address itself. The result is never empty.
  func addresses(of host: String) async throws(Refusal) -> [IPAddress]
}

/// The system's resolver.
struct SystemResolver: Resolver {
  func addresses(of host: String) async throws(Refusal) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    if IPAddress.isDisguised(host) { throw Refusal("the host is a number") }
    // getaddrinfo blocks, for half a minute if a name server doesn't answer.
    let found = await blocking { Self.lookUp(host) }
    guard !found.isEmpty else { throw Refusal("the name \(host) has no address") }
    return found
  }

  private static func lookUp(_ host: String) -> [IPAddress] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [IPAddress] = []
    var entry = unsafe list
    while let info = unsafe entry {
      if let address = unsafe IPAddress(info.pointee.ai_addr), !addresses.contains(address) {
        addresses.append(address)
      }
      unsafe entry = info.pointee.ai_next
    }
    return addresses
  }
}

extension IPAddress {
  /// Creates the address of a socket address. Returns `nil` if the family isn't `AF_INET` or `AF_INET6`.
  @unsafe init?(_ pointer: UnsafePointer<sockaddr>?) {
    guard let pointer = unsafe pointer else { return nil }
    switch unsafe Int32(pointer.pointee.sa_family) {
    case AF_INET:
      let address = unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe $0.pointee.sin_addr
      }
      self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
    case AF_INET6:
      let address = unsafe pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        unsafe $0.pointee.sin6_addr
      }
      self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
    default: return nil
    }
  }

  /// Returns the address among those of this machine at which its network reaches it: of IPv4, that of the way to other
  /// networks before others, which may be those of virtual machines, then a private one. `nil` if there is none.
  static func inNetwork(among addresses: Set<IPAddress>) -> IPAddress? {
    if let outward, addresses.contains(outward), outward.scope != .loopback { return outward }
    let all = addresses.filter { $0.bytes.count == 4 }.sorted { $0.description < $1.description }
    return all.first { $0.scope == .private }
      ?? all.first { [.public, .reserved].contains($0.scope) }
  }

  /// The address of this machine for packets to other networks; `nil` if it has no route.
  private static var outward: IPAddress? {
    let socket = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(53).bigEndian
    // Any public address: connecting a datagram socket sends nothing.
    address.sin_addr.s_addr = UInt32(0x0808_0808).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isFound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
      }
    }
    guard isFound else { return nil }
    let bits = UInt32(bigEndian: address.sin_addr.s_addr)
    return IPAddress(bytes: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) })
  }

  /// The addresses of this machine's interfaces.
  static var ofThisMachine: Set<IPAddress> {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&list) == 0 else { return [] }
    defer { unsafe freeifaddrs(list) }
    var addresses: Set<IPAddress> = []
    var entry = unsafe list
    while let interface = unsafe entry {
      if let address = unsafe IPAddress(interface.pointee.ifa_addr) { addresses.insert(address) }
      unsafe entry = interface.pointee.ifa_next
    }
    return addresses
  }
}
