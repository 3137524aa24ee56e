internal import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

/// A local UDP port that receives an input.
struct UDPPort: Sendable, Hashable {
  /// A literal IP address.
  let address: String
  let port: UInt16

  /// - Throws: `cannotCreate` if the port can't be bound: it is in use, or the address is not local.
  func check() throws(UprightError) { _ = try bind() }

  /// - Throws: `cannotCreate` if the port can't be bound.
  func bind() throws(UprightError) -> UDPSocket { try UDPSocket(address: address, port: port) }

  /// Whether a socket of this process is bound to the port. `true` if the system can't tell.
  var isOurs: Bool {
    guard let owners = Self.owners(of: port) else { return true }
    let descriptors = FilePath("/proc/self/fd")
    return (descriptors.names ?? []).contains { owners.contains(descriptors.appending($0).link) }
  }

  /// Returns the sockets that are bound to a port, as the targets of their links in `/proc/self/fd`. Returns
  /// `nil` if there is no socket table.
  private static func owners(of port: UInt16) -> Set<String>? {
    var owners: Set<String> = []
    var isKnown = false
    for table in ["/proc/net/udp", "/proc/net/udp6"] {
      guard let bytes = FilePath(table).contents else { continue }
      isKnown = true
      let text = String(decoding: bytes, as: UTF8.self)
      for line in text.split(separator: "\n").dropFirst() {
        // sl, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode.
        let words = line.split(separator: " ")
        guard words.count > 9, let local = words[1].split(separator: ":").last,
          UInt16(local, radix: 16) == port
        else { continue }
        owners.insert("socket:[\(words[9])]")
      }
    }
    return isKnown ? owners : nil
  }
}
