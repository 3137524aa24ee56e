internal import Foundation
internal import Synchronization

/// Every secret that the process knows, so that none of them is ever said.
///
/// Whatever leaves the process as text - a log line, an answer's error, an event - goes through
/// `redact`: errors of libraries quote the URLs that they were given.
package final class Secrets: Sendable {
  private struct Known {
    var count = 0
    /// Whether it is a secret in a URL only: elsewhere the word is a session's name, or too short to hide.
    var onlyInURLs = false
    /// What stands in its place.
    var mark = "***"
  }

  private let known = Mutex<[String: Known]>([:])

  package init() {}

  /// From now on `secret` is not said. Shorter than four bytes it would hide ordinary text.
  func add(_ secret: String) {
    guard secret.utf8.count >= 4 else { return }
    known.withLock { $0[secret, default: Known()].count += 1 }
  }

  /// The same for a word that may stand anywhere but in a URL.
  func add(inURLs secret: String) {
    guard !secret.isEmpty else { return }
    known.withLock {
      $0[secret, default: Known(onlyInURLs: true)].count += 1
    }
  }

  /// From now on paths in `folder` are told without it: where the service keeps its files is nobody's
  /// business.
  func hide(folder: String) {
    guard folder.count > 1 else { return }
    known.withLock { $0[folder + "/"] = Known(count: 1, mark: "") }
  }

  /// Forgets one `add` of `secret`.
  func remove(_ secret: String) {
    known.withLock { known in
      guard let count = known[secret]?.count else { return }
      if count > 1 { known[secret]?.count = count - 1 } else { known[secret] = nil }
    }
  }

  /// `text` with `***` in the place of each secret, and paths without the hidden folder.
  func redact(_ text: String) -> String {
    let secrets = known.withLock { $0.map { (text: $0, known: $1) } }
    // The longest first: one secret may be a part of another.
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

  /// A new secret: 32 bytes of chance as 43 letters, digits, `-` and `_`.
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }
}

/// Whether two secrets are equal, in a time that says nothing of where they differ.
func constantTimeEqual(_ first: some StringProtocol, _ second: some StringProtocol) -> Bool {
  let (first, second) = (Array(first.utf8), Array(second.utf8))
  // The length may be told: it is the same for every token of ours.
  var difference = UInt64(first.count ^ second.count)
  for index in first.indices {
    difference |= UInt64(first[index] ^ (index < second.count ? second[index] : ~first[index]))
  }
  return difference == 0
}
