package import UprightOrientation
package import UprightPolicy

/// Reads options by name from a JSON object. The names are those of the command line's long options, without
/// the dashes: `{"frames": "sensor", "size": "720p", "overlay": ["logo.png@top"], "strict": true}`.
///
/// Every error has the name of its option as the location.
package struct OptionReader {
  private let members: [JSONValue.Member]
  private var names: [String] = []

  /// - Parameter json: A JSON object, in UTF-8; without any bytes, there are no options.
  /// - Throws: `usage` if it isn't one.
  package init(_ json: some Collection<UInt8>) throws(UprightError) {
    let value: JSONValue
    do throws(PolicyError) {
      value = try json.isEmpty ? .object([]) : JSONValue(parsing: json)
    } catch {
      throw UprightError(error, code: .usage)
    }
    try self.init(value)
  }

  /// - Throws: `usage` if `json` isn't an object.
  package init(_ json: JSONValue) throws(UprightError) {
    guard case .object(let members) = json else {
      throw UprightError(
        .usage, "the options are not an object", at: "options", remedy: "write {\"name\": value}")
    }
    self.members = members
  }

  /// Returns an option's value; `nil` if it isn't given.
  private mutating func value(_ name: String) -> JSONValue? {
    names.append(name)
    return members.first { $0.key == name }?.value
  }

  /// Returns a value of any kind; `nil` if it isn't given.
  package mutating func json(_ name: String) -> JSONValue? { value(name) }

  /// Returns a text, or the digits of a number.
  package mutating func text(_ name: String) throws(UprightError) -> String? {
    try value(name).map { (value) throws(UprightError) in try Self.text(value, name) }
  }

  /// Returns a list of texts. A text alone is a list of one.
  package mutating func texts(_ name: String) throws(UprightError) -> [String] {
    switch value(name) {
    case nil: []
    case .array(let values):
      try values.map { (value) throws(UprightError) in try Self.text(value, name) }
    case .some(let value): [try Self.text(value, name)]
    }
  }

  private static func text(_ value: JSONValue, _ name: String) throws(UprightError) -> String {
    switch value {
    case .string(let text): return text
    case .integer(let number): return String(number)
    case .number(let number): return Int(exactly: number).map(String.init) ?? String(number)
    default: throw wrong(name, "a text or a number is expected")
    }
  }

  /// Returns a number in `range`.
  package mutating func number(
    _ name: String,
    in range: ClosedRange<Double> = -.greatestFiniteMagnitude ... .greatestFiniteMagnitude
  ) throws(UprightError) -> Double? {
    guard let text = try text(name) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      let isBounded = range.upperBound < .greatestFiniteMagnitude
      throw Self.wrong(
        name,
        "a number\(isBounded ? " from \(range.lowerBound) to \(range.upperBound)" : "") is expected"
      )
    }
    return number
  }

  /// Returns a whole number in `range`.
  package mutating func count(_ name: String, in range: ClosedRange<Int>) throws(UprightError)
    -> Int?
  {
    guard let number = try number(name) else { return nil }
    guard let count = Int(exactly: number), range.contains(count) else {
      throw Self.wrong(
        name, "a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
    }
    return count
  }

  /// Returns whether an option is set.
  package mutating func flag(_ name: String) throws(UprightError) -> Bool {
    switch value(name) {
    case nil: return false
    case .bool(let flag): return flag
    default: throw Self.wrong(name, "true or false is expected")
    }
  }

  /// Returns one of the words of a type, ignoring case.
  package mutating func word<Word: RawRepresentable<String> & CaseIterable>(
    _ name: String, as type: Word.Type = Word.self
  ) throws(UprightError) -> Word? {
    guard let text = try text(name) else { return nil }
    let lowered = text.lowercased()
    if let word = type.allCases.first(where: { $0.rawValue.lowercased() == lowered }) {
      return word
    }
    let words = type.allCases.map(\.rawValue).joined(separator: ", ")
    throw UprightError(.usage, "\(text) is not valid", at: name, remedy: "use one of \(words)")
  }

  /// Returns what `parse` makes of a text.
  package mutating func parsed<Value>(
    _ name: String, _ parse: (String) throws(UprightError) -> Value
  ) throws(UprightError) -> Value? {
    guard let text = try text(name) else { return nil }
    do throws(UprightError) { return try parse(text) } catch {
      throw UprightError(error.code, error.message, at: name, remedy: error.remedy)
    }
  }

  /// Call it when all options have been read.
  ///
  /// - Throws: `usage` for an option that nobody has asked for.
  package func finish() throws(UprightError) {
    guard let stranger = members.first(where: { !names.contains($0.key) }) else { return }
    throw UprightError(
      .usage, "there is no such option", at: stranger.key,
      remedy: "use one of " + names.sorted().joined(separator: ", "))
  }

  private static func wrong(_ name: String, _ message: String) -> UprightError {
    UprightError(.usage, message, at: name, remedy: "correct the value")
  }
}
