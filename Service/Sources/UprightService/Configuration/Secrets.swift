internal import Upright
internal import Foundation
internal import Synchronization

/// The secrets that the process knows, and their removal from text.
///
/// All text that leaves the process (log lines, error responses, events) passes through `redact`, because error
/// messages of libraries quote the URLs that they were given.
package final class Secrets: Sendable {
  private struct Known {
    var count = 0
    /// Whether to hide the secret in URLs only. Elsewhere the word may be a session's name, or is too short
    /// to hide.
    var onlyInURLs = false
    /// The replacement text.
    var mark = "***"
  }

  private let known = Mutex<[String: Known]>([:])

  package init() {}

  /// Adds a secret. Ignores secrets shorter than four bytes, which would hide ordinary text.
  func add(_ secret: String) {
    guard secret.utf8.count >= 4 else { return }
    known.withLock { $0[secret, default: Known()].count += 1 }
  }

  /// Adds a secret that is hidden in URLs only.
  func add(inURLs secret: String) {
    guard !secret.isEmpty else { return }
    known.withLock {
      $0[secret, default: Known(onlyInURLs: true)].count += 1
    }
  }

  /// Removes the prefix `folder` from paths, so that clients don't learn where the service keeps its files.
  func hide(folder: String) {
    guard folder.count > 1 else { return }
    known.withLock { $0[folder + "/"] = Known(count: 1, mark: "") }
  }

  /// Undoes one `add` of `secret`.
  func remove(_ secret: String) {
    known.withLock { known in
      guard let count = known[secret]?.count else { return }
      if count > 1 { known[secret]?.count = count - 1 } else { known[secret] = nil }
    }
  }

  /// Returns `text` with each secret replaced by `***`, and with paths relative to the hidden folder.
  func redact(_ text: String) -> String {
    let secrets = known.withLock { $0.map { (text: $0, known: $1) } }
    // Longest first, because one secret may be part of another.
    return secrets.sorted { $0.text.utf8.count > $1.text.utf8.count }.reduce(text) { text, secret in
      guard text.contains(secret.text) else { return text }
      return secret.known.onlyInURLs
        ? Self.redact(secret.text, inURLsOf: text)
        : text.replacing(secret.text, with: secret.known.mark)
    }
  }

  private static func redact(_ secret: String, inURLsOf text: String) -> String {
    var (result, rest) = ("", text[...])
    while let range = rest.firstRange(of: secret) {
      let before = (result + rest[..<range.lowerBound]).last
      let after = rest[range.upperBound...].first
      let isPart = before.map { "/=:@".contains($0) } ?? false
      let ends = after.map { !$0.isLetter && !$0.isNumber && !"-_".contains($0) } ?? true
      result += rest[..<range.lowerBound] + (isPart && ends ? "***" : secret)
      rest = rest[range.upperBound...]
    }
    return result + rest
  }

  /// Returns the HMAC-SHA-256 (RFC 2104) of `message` as 64 hexadecimal digits.
  static func hash(_ message: String, key: String) -> String {
    MessageDigest.hmacSHA256(message.utf8, key: key.utf8).hexadecimal
  }

  /// Returns a new secret: 32 random bytes as 43 letters, digits, `-` and `_` (base64url).
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return Data(bytes).base64URL
  }
}

extension Sequence<UInt8> {
  /// The bytes as pairs of hexadecimal digits, in lower case.
  var hexadecimal: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension Data {
  /// The bytes in base64url without padding (RFC 4648, 5).
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}

/// Returns whether two secrets are equal. The running time doesn't depend on where they differ.
func constantTimeEqual(_ first: some StringProtocol, _ second: some StringProtocol) -> Bool {
  let (first, second) = (Array(first.utf8), Array(second.utf8))
  // The length isn't secret: it is the same for all tokens that the service makes.
  var difference = UInt64(first.count ^ second.count)
  for index in first.indices {
    difference |= UInt64(first[index] ^ (index < second.count ? second[index] : ~first[index]))
  }
  return difference == 0
}
