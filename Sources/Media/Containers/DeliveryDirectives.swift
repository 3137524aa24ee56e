/// The delivery directives in the query of a playlist's URL (RFC 8216bis, 6.2.5).
public struct DeliveryDirectives: Sendable, Hashable {
  /// Why directives can't be read.
  public struct Malformed: Error, Hashable {
    /// The reason, as a sentence without its full stop.
    public let reason: String
  }

  /// `_HLS_msn`, at least 0.
  public private(set) var segment: Int?
  /// `_HLS_part`, at least 0. Only with a segment.
  public private(set) var part: Int?
  /// Whether `_HLS_skip` asks for a delta update.
  package private(set) var skips = false

  /// Reads the directives of a query, the part of the URL after the question mark; other parameters are ignored.
  ///
  /// - Throws: `Malformed` if a directive has no valid value, appears twice, or lacks the one it depends on.
  public init(_ query: String?) throws(Malformed) {
    for pair in (query ?? "").split(separator: "&") {
      let name = pair.prefix { $0 != "=" }
      let value = pair.dropFirst(name.count + 1)
      switch name {
      case "_HLS_msn": segment = try Self.number(value, name, after: segment)
      case "_HLS_part": part = try Self.number(value, name, after: part)
      case "_HLS_skip":
        guard ["YES", "v2"].contains(value) else {
          throw Malformed(reason: "_HLS_skip must be YES or v2")
        }
        skips = true
      default: break
      }
    }
    guard part == nil || segment != nil else {
      throw Malformed(reason: "_HLS_part needs _HLS_msn")
    }
  }

  private static func number(
    _ text: Substring, _ name: Substring, after earlier: Int?
  ) throws(Malformed) -> Int {
    guard earlier == nil else { throw Malformed(reason: "\(name) appears twice") }
    // A decimal integer has no sign and at most 20 digits (RFC 8216bis, 4.2).
    guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (48...57).contains($0) }),
      let number = Int(text)
    else { throw Malformed(reason: "\(name) must be a number of at most 18 digits") }
    return number
  }
}
