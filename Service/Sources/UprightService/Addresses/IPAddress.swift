internal import NIOCore

/// An IPv4 or IPv6 address.
struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16 bytes, in network byte order.
  let bytes: [UInt8]

  /// The purpose of an address (RFC 6890, RFC 4291).
  enum Scope: String, Sendable {
    case unspecified, loopback, linkLocal, `private`, multicast, reserved, `public`
  }

  init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Parses an IPv4 address of four decimal numbers without leading zeros (RFC 6943, 3.1.1), or an IPv6 address
  /// (RFC 4291, 2.2) without a zone. Returns `nil` for anything else.
  init?(_ text: some StringProtocol) {
    let read = text.contains(":") ? Self.version6(text) : Self.version4(text)
    guard let read else { return nil }
    bytes = read
  }

  private static func version4(_ text: some StringProtocol) -> [UInt8]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
        part.utf8.count == 1 || part.utf8.first != 48, let byte = UInt8(part)
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  private static func version6(_ text: some StringProtocol) -> [UInt8]? {
    let text = String(text)
    let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
    guard halves.count <= 2, let head = groups(halves[0]) else { return nil }
    guard halves.count == 2 else { return head.count == 16 ? head : nil }
    guard let tail = groups(halves[1]), head.count + tail.count <= 14 else { return nil }
    return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
  }

  /// Returns the bytes of groups separated by colons. The last group may be in IPv4 notation.
  private static func groups(_ text: Substring) -> [UInt8]? {
    if text.isEmpty { return [] }
    var bytes: [UInt8] = []
    let groups = text.split(separator: ":", omittingEmptySubsequences: false)
    for (index, group) in groups.enumerated() {
      if group.contains("."), index == groups.count - 1 {
        guard let last = version4(group) else { return nil }
        bytes += last
      } else {
        guard (1...4).contains(group.utf8.count), group.utf8.allSatisfy({ $0 != 43 && $0 != 45 }),
          let value = UInt16(group, radix: 16)
        else { return nil }
        bytes += [UInt8(value >> 8), UInt8(value & 255)]
      }
    }
    return bytes.count <= 16 ? bytes : nil
  }

  /// Returns whether `host` is an address in a numeric form that C's `inet_aton` and browsers accept:
  /// `127.1`, `2130706433`, `0x7f.1`, `0177.0.0.1`. It can't be a name, because no top-level domain is a
  /// number (WHATWG URL, "ends in a number").
  static func isDisguised(_ host: some StringProtocol) -> Bool {
    guard IPAddress(host) == nil else { return false }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    guard let last = parts.last(where: { !$0.isEmpty })?.lowercased() else { return true }
    if last.hasPrefix("0x") { return last.dropFirst(2).allSatisfy(\.isHexDigit) }
    return last.utf8.allSatisfy { (48...57).contains($0) }
  }

  /// The IPv4 address that this address contains: IPv4-mapped (RFC 4291, 2.5.5.2), IPv4-compatible, NAT64
  /// (RFC 6052) or 6to4 (RFC 3056). An IPv4 address returns itself.
  var version4: IPAddress? {
    if bytes.count == 4 { return self }
    let isZeroTo10 = bytes[..<10].allSatisfy { $0 == 0 }
    if isZeroTo10, bytes[10] == 0xFF, bytes[11] == 0xFF {
      return IPAddress(bytes: Array(bytes[12...]))
    }
    if isZeroTo10, bytes[10] == 0, bytes[11] == 0, bytes[12] != 0 {
      return IPAddress(bytes: Array(bytes[12...]))
    }
    let nat64: [UInt8] = [0, 0x64, 0xFF, 0x9B]
    if Array(bytes[..<4]) == nat64 { return IPAddress(bytes: Array(bytes[12...])) }
    if bytes[0] == 0x20, bytes[1] == 0x02 { return IPAddress(bytes: Array(bytes[2..<6])) }
    return nil
  }

  /// The scope. An address that contains an IPv4 address has the scope of that address.
  var scope: Scope {
    if let version4 { return version4.scope4 }
    if bytes.allSatisfy({ $0 == 0 }) { return .unspecified }
    if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes.last == 1 { return .loopback }
    switch (bytes[0], bytes[1]) {
    case (0xFF, _): return .multicast
    case (0xFE, 0x80...0xBF): return .linkLocal
    case (0xFE, 0xC0...0xFF), (0xFC...0xFD, _): return .private
    // 2001::/23 is for protocol assignments such as Teredo; 2001:db8::/32 and 3fff::/20 are for documentation.
    case (0x20, 0x01) where bytes[2] < 2 || (bytes[2], bytes[3]) == (0x0D, 0xB8): return .reserved
    case (0x3F, 0xFF) where bytes[2] < 0x10: return .reserved
    case (0x20...0x3F, _): return .public
    default: return .reserved
    }
  }

  private var scope4: Scope {
    switch (bytes[0], bytes[1], bytes[2]) {
    case (0, 0, 0) where bytes[3] == 0: .unspecified
    case (127, _, _): .loopback
    case (169, 254, _): .linkLocal
    case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _): .private
    case (224...239, _, _): .multicast
    case (0, _, _), (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _), (198, 51, 100),
      (203, 0, 113), (240...255, _, _):
      .reserved
    default: .public
    }
  }

  /// The text form. IPv6 has all eight groups, without `::`.
  var description: String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    return stride(from: 0, to: 16, by: 2).map {
      String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
    }.joined(separator: ":")
  }

  /// The form for a URL's host.
  var host: String { bytes.count == 4 ? description : "[\(description)]" }

  /// Returns the peer that a connection from `address` is counted for: an IPv4 address, or the /64 of an IPv6 one,
  /// of which one host has all addresses (RFC 4291, 2.5.4).
  static func peer(of address: SocketAddress?) -> String {
    let text = address?.ipAddress ?? ""
    guard let address = IPAddress(text), address.bytes.count == 16 else { return text }
    let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    if address.bytes.starts(with: mapped), let version4 = address.version4 {
      return version4.description
    }
    return address.description.split(separator: ":").prefix(4).joined(separator: ":") + "::/64"
  }
}
