internal import Foundation
internal import Synchronization

/// Every secret that the process knows, so that none of them is ever said.
///
/// Whatever leaves the process as text - a log line, an answer's error, an event - goes through
/// `redact`: errors of libraries quote the URLs that they were given.
package final class Secrets: Sendable {
  private let known = Mutex<[String: Int]>([:])

  package init() {}

  /// From now on `secret` is not said. Shorter than four bytes it would hide ordinary text.
  func add(_ secret: String) {
    guard secret.utf8.count >= 4 else { return }
    known.withLock { $0[secret, default: 0] += 1 }
  }

  /// Forgets one `add` of `secret`.
  func remove(_ secret: String) {
    known.withLock { known in
      guard let count = known[secret] else { return }
      known[secret] = count > 1 ? count - 1 : nil
    }
  }

  /// `text` with `***` in the place of each secret.
  func redact(_ text: String) -> String {
    let secrets = known.withLock { Array($0.keys) }
    // The longest first: one secret may be a part of another.
    return secrets.sorted { $0.utf8.count > $1.utf8.count }.reduce(text) {
      $0.contains($1) ? $0.replacing($1, with: "***") : $0
    }
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
