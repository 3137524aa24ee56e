/// A pattern of stream paths: `APP/NAME`, or `NAME` for any app. NAME contains one `*`, which stands for any text
/// without a slash.
struct StreamPattern: Sendable, Hashable, CustomStringConvertible {
  let description: String
  /// `nil` for any app.
  private let app: String?
  private let prefix: String
  private let suffix: String

  /// Parses a pattern. Returns `nil` for anything else, and for characters that names don't have.
  init?(_ text: String) {
    var parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let sides = parts.popLast()?.split(separator: "*", omittingEmptySubsequences: false),
      sides.count == 2, AddressRules.isName("n" + sides.joined(separator: "")),
      sides[0].isEmpty || AddressRules.isName(String(sides[0])),
      parts.allSatisfy({ AddressRules.isName(String($0)) })
    else { return nil }
    description = text
    app = parts.isEmpty ? nil : parts.joined(separator: "/")
    (prefix, suffix) = (String(sides[0]), String(sides[1]))
  }

  /// Returns whether the stream has the pattern's app, and its name begins and ends as the pattern's.
  func matches(_ request: PublishRequest) -> Bool {
    (app == nil || app == request.app)
      && request.name.utf8.count >= prefix.utf8.count + suffix.utf8.count
      && request.name.hasPrefix(prefix) && request.name.hasSuffix(suffix)
  }
}
