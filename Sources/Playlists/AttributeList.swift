/// The attributes of a tag (RFC 8216, 4.2).
struct AttributeList: Sendable {
  private var values: [String: String] = [:]
  /// The names whose value is a quoted string.
  private var quoted: Set<String> = []
  /// What is wrong with the list; `nil` if nothing is.
  private(set) var problem: String?

  /// Parses a list. Attributes before the first problem are kept.
  init(_ text: some StringProtocol) {
    var rest = Array(text.utf8)[...]
    guard !rest.isEmpty else {
      problem = "has no attributes"
      return
    }
    while true {
      guard let end = rest.firstIndex(of: UInt8(ascii: "=")) else {
        problem = "has an attribute without a value"
        return
      }
      let name = String(decoding: rest[..<end], as: UTF8.self)
      guard Self.isName(name) else {
        problem = "has an invalid attribute name"
        return
      }
      rest = rest[(end + 1)...]
      guard let value = takeValue(&rest, name) else { return }
      guard values.updateValue(value, forKey: name) == nil else {
        problem = "has \(name) twice"
        return
      }
      if rest.isEmpty { return }
      rest = rest.dropFirst()
      if rest.isEmpty {
        problem = "ends with a comma"
        return
      }
    }
  }

  /// Takes a value and stops at the comma after it. Returns `nil` if it isn't one.
  private mutating func takeValue(_ rest: inout ArraySlice<UInt8>, _ name: String) -> String? {
    let quote = UInt8(ascii: "\"")
    if rest.first == quote {
      guard let end = rest.dropFirst().firstIndex(of: quote) else {
        problem = "has no closing quote after \(name)"
        return nil
      }
      let value = String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
      rest = rest[(end + 1)...]
      guard rest.isEmpty || rest.first == UInt8(ascii: ",") else {
        problem = "has no comma after \(name)"
        return nil
      }
      quoted.insert(name)
      return value
    }
    let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
    let value = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[end...]
    guard !value.isEmpty, !value.contains(where: { $0 == "\"" || $0.isWhitespace }) else {
      problem = "has an invalid value of \(name)"
      return nil
    }
    return value
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { (65...90).contains($0) || (48...57).contains($0) || $0 == 45 }
  }

  /// The value, without quotes.
  subscript(name: String) -> String? { values[name] }

  /// The value if it is a quoted string.
  func quoted(_ name: String) -> String? { quoted.contains(name) ? values[name] : nil }

  /// The value if it isn't quoted and is a decimal number of seconds.
  func seconds(_ name: String) -> Double? {
    quoted.contains(name) ? nil : values[name].flatMap { PlaylistNumber.seconds($0) }
  }

  /// The value if it isn't quoted and is a decimal integer.
  func integer(_ name: String) -> Int? {
    quoted.contains(name) ? nil : values[name].flatMap { PlaylistNumber.integer($0) }
  }
}

/// The numbers of playlists (RFC 8216, 4.2).
enum PlaylistNumber {
  /// Returns a decimal integer of up to 18 digits. Numbers up to 2^64 - 1 are allowed, but nobody counts so far.
  static func integer(_ text: some StringProtocol) -> Int? {
    guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) })
    else { return nil }
    return Int(text)
  }

  /// Returns a decimal floating-point number without a sign.
  static func seconds(_ text: some StringProtocol) -> Double? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), text.utf8.count <= 40,
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } })
    else { return nil }
    return Double(text)
  }
}
