#if DEBUG
import Upright

@testable import UprightLive
@testable import UprightMediaIO
@testable import UprightService

extension FuzzTarget {
  private static let rules = AddressRules(
    allowHosts: ["example.com", "*.example.org:8000", "10.0.0.5"].compactMap(HostPattern.init),
    ownAddresses: Set(["192.168.0.1", "fd00::1"].compactMap { IPAddress($0) }))

  /// An address from a client: parsed strictly, checked, written.
  static let addresses = FuzzTarget("addresses") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let address = IPAddress(text) {
      try expect(IPAddress(address.description) == address, "\(address) is read differently")
      try expect(!IPAddress.isDisguised(text), "\(text) is both a plain and a disguised address")
      _ = try? rules.check(address, for: "udp")
      _ = try? rules.check(hop: address, port: 80)
    }
    _ = IPAddress.isDisguised(text)
    try? rules.check(description: text)
    if let endpoint = ServiceConfiguration.Endpoint(text) {
      try expect(
        ServiceConfiguration.Endpoint(endpoint.description) == endpoint, "\(endpoint) differs")
    }
    _ = (LiveAddress.shown(text), LiveAddress.endpoint(text), InputTrust(url: text).protocols)
    _ = InputTrust.stillImageDemuxer(of: text)
    guard let url = StreamURL(text) else { return }
    try expect(StreamURL(url.text) == url, "\(url.text) is not read back as written")
    for secret in url.secrets {
      try expect(
        !url.redacted.contains(secret) || url.host.contains(secret) || url.path.contains(secret)
          || url.queryNames.contains { $0.contains(secret) }
          // Text shown between the parts can be equal to the secret.
          || secret.contains { ":/?&=@*".contains($0) },
        "\(secret) is shown in \(url.redacted)")
    }
    _ = HostPattern(text)?.matches(host: "a.example.org", port: 80)
    for direction in [AddressRules.Direction.input, .output] {
      guard let checked = try? rules.check(text, direction) else { continue }
      try rules.checkOwn(checked)
    }
  }

  /// A `Range` header, or the head of a request to the egress proxy.
  static let http = FuzzTarget("http") { bytes in
    var input = FuzzInput(bytes)
    let size = Int(input.integer(UInt16.self))
    let text = String(decoding: input.rest, as: UTF8.self)
    for size in [0, size, .max] {
      if case .part(let range) = ByteRange(text, size: size) {
        try expect(
          range.lowerBound >= 0 && range.upperBound < size, "\(range) is not in \(size) bytes")
      }
    }
    guard let request = ProxyRequest(head: text) else { return }
    try expect((1...65535).contains(request.port), "port \(request.port)")
    try expect(StreamURL.isHost(request.host) || IPAddress(request.host) != nil, request.host)
    try expect(
      request.forwarded.isEmpty == request.isTunnel
        && request.forwarded.utf8.count < 2 * text.utf8.count + 300, request.forwarded)
    // Only one request per connection: a second one would not be checked.
    try expect(request.forwarded.ranges(of: "\r\n\r\n").count <= 1, "two requests")
  }
}
#endif
