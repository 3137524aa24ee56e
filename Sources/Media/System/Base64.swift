/// Base64 (RFC 4648, 4).
package enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Returns the bytes of a text; `nil` if it isn't Base64 with its padding.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let symbols = Array(text.utf8)
    guard symbols.count % 4 == 0 else { return nil }
    let padding = symbols.suffix(2).count { $0 == UInt8(ascii: "=") }
    var bytes: [UInt8] = []
    var (bits, count): (UInt32, Int) = (0, 0)
    for symbol in symbols.dropLast(padding) {
      guard let value = alphabet.firstIndex(of: symbol) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return bytes
  }
}
