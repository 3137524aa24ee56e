internal import UprightOrientation
internal import UprightMediaIO

extension LiveInput {
  /// Returns the UDP ports that receive the input. Empty if the input is fetched, or uses TCP.
  ///
  /// - Throws: `badData` for an SDP that can't be read.
  func ports() throws(UprightError) -> [UDPPort] {
    switch self {
    case .rtp(let text):
      return try SessionDescription(text).ports()
    case .pull(let url) where awaitsSender:
      guard let end = LiveAddress.endpoint(url) else { return [] }
      return [UDPPort(address: end.host, port: end.port)]
    case .pull, .file, .published, .forwarded, .datagrams, .packets: return []
    }
  }

  /// Whether the first frames may be smaller than later ones: browsers begin so.
  var beginsSmall: Bool {
    switch self {
    case .forwarded, .rtp, .datagrams: true
    case .pull, .file, .published, .packets: false
    }
  }

  /// Whether a sender sends to this process. Otherwise this process fetches the input.
  var awaitsSender: Bool {
    switch self {
    case .published, .forwarded, .rtp, .datagrams, .packets: true
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
