internal import Foundation

/// What turns names into addresses. A test puts its own in this place.
protocol Resolver: Sendable {
  /// The addresses of `host`, which may be an address itself; never empty.
  func addresses(of host: String) async throws(Refusal) -> [IPAddress]
}

/// The system's own.
struct SystemResolver: Resolver {
  func addresses(of host: String) async throws(Refusal) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    if IPAddress.isDisguised(host) { throw Refusal("the host is a number") }
    // getaddrinfo blocks, for half a minute where a name server is silent.
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
  /// The address of a socket address; nil where it is of another family.
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
