/// The server's side of the handshake (RTMP 1.0, 5.2), in its plain form: no digests, which clients ask
/// for and do not insist on.
struct Handshake: Sendable {
  static let length = 1536
  private var received: [UInt8] = []
  private var hasAnswered = false
  private let random: [UInt8]

  /// - Parameter random: what fills S1, 1528 bytes.
  init(random: [UInt8]) { self.random = random }

  /// Takes what was received; appends to `output` what must be sent.
  ///
  /// - Returns: the bytes behind the handshake once it is over; nil before.
  mutating func take(
    _ bytes: some Collection<UInt8>, output: inout [UInt8]
  ) throws(RTMPError) -> ArraySlice<UInt8>? {
    received += bytes
    guard let version = received.first else { return nil }
    // 6 is the encrypted form, 22 begins TLS, G and P begin HTTP.
    if version != 3 { throw RTMPError("this is not RTMP: it begins with \(version)") }
    if !hasAnswered, received.count >= 1 + Self.length {
      hasAnswered = true
      output.append(3)
      // A zero time and zeros in the place of a version: a server without digests.
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
