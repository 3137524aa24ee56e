internal import Foundation
internal import UprightMediaIO

/// A UDP port of this machine that an input comes in on.
struct UDPPort: Sendable, Hashable {
  /// Literal.
  let address: String
  let port: UInt16

  /// - Throws: `cannotCreate` where it cannot be bound: it is taken, or not ours.
  func check() throws(UprightError) { _ = try UDPSocket(address: address, port: port) }

  /// Whether a socket of this process is bound to it. Where the system does not say, it counts as bound.
  var isOurs: Bool {
    guard let owners = Self.owners(of: port) else { return true }
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.contains { descriptor in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(descriptor)")
      return target.map(owners.contains) ?? false
    }
  }

  /// The sockets that are bound to a port, as links to them read; nil where there is no table.
  private static func owners(of port: UInt16) -> Set<String>? {
    var owners: Set<String> = []
    var isKnown = false
    for table in ["/proc/net/udp", "/proc/net/udp6"] {
      guard let text = try? String(contentsOfFile: table, encoding: .ascii) else { continue }
      isKnown = true
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

extension LiveInput {
  /// The UDP ports that it comes in on; none where it is fetched, or comes over TCP.
  ///
  /// - Throws: `badData` for a description that cannot be read.
  func ports() throws(UprightError) -> [UDPPort] {
    switch self {
    case .rtp(let text):
      let description = try SessionDescription(text)
      let ports = [description.video, description.audio].compactMap(\.self).map {
        UDPPort(address: $0.address, port: $0.port)
      }
      guard Set(ports.map(\.port)).count == ports.count else {
        throw UprightError(
          .badData, "pictures and sound on one port are not told apart", at: "SDP",
          remedy: "give each a port of its own")
      }
      return ports
    case .pull(let url) where awaitsSender:
      guard let end = LiveAddress.endpoint(url) else { return [] }
      return [UDPPort(address: end.host, port: end.port)]
    case .pull, .file, .published: return []
    }
  }

  /// Whether somebody sends to us; else we fetch.
  var awaitsSender: Bool {
    switch self {
    case .published, .rtp: true
    case .file: false
    case .pull(let url):
      switch InputTrust.scheme(of: url) {
      case "srt":
        url.split(separator: "?").dropFirst().joined().split(separator: "&").contains(
          "mode=listener")
      case "udp": true
      default: false
      }
    }
  }
}
