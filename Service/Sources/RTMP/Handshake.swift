/// The server side of the simple handshake (RTMP 1.0, 5.2), without digests. Clients may request digests but
/// don't require them.
struct Handshake: Sendable {
  static let length = 1536
  private var received: [UInt8] = []
  private var hasAnswered = false
  private let random: [UInt8]

  /// - Parameter random: 1528 bytes to fill S1.
  init(random: [UInt8]) { self.random = random }

  /// Adds received bytes, and appends the bytes to send to `output`.
  ///
  /// - Returns: The bytes after the handshake when it is complete; `nil` before that.
  mutating func process(
    _ bytes: some Collection<UInt8>, output: inout [UInt8]
  ) throws(RTMPError) -> ArraySlice<UInt8>? {
    received += bytes
    guard let version = received.first else { return nil }
    // 6 is the encrypted form, 22 starts TLS, and G and P start HTTP requests.
    if version != 3 { throw RTMPError("not RTMP: the first byte is \(version)") }
    if !hasAnswered, received.count >= 1 + Self.length {
      hasAnswered = true
      output.append(3)
      // Zero for the time and the version: a server without digests.
      output += [UInt8](repeating: 0, count: 8)
      output += random.prefix(Self.length - 8)
      output += received[1..<1 + Self.length]
    }
    let end = 1 + 2 * Self.length
    guard hasAnswered, received.count >= end else { return nil }
    defer { received = [] }
    return received[end...]
  }
}
