internal import UprightOrientation

/// The location of a value, for error messages: a path in the document, or a line of an event file and a path
/// in it.
///
/// A linked list, so that no text is formatted while a valid document is read.
package indirect enum JSONPath {
  /// The top of a document.
  case document
  /// The top of a line of a JSON Lines file. The value is the line number.
  case line(Int)
  case key(String, of: JSONPath)
  case index(Int, of: JSONPath)

  /// `controllers.list.supported[0]`, `line 3, gravity[1]`.
  var text: String {
    switch self {
    case .document: return "the document"
    case .line(let number): return "line \(number)"
    case .index(let index, let parent): return "\(parent.text)[\(index)]"
    case .key(let key, let parent):
      let isPlain =
        !key.isEmpty
        && key.utf8.count <= 60
        && key.unicodeScalars.allSatisfy {
          $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" || $0 == "-"
        }
      switch parent {
      case .document: return isPlain ? key : "[\(quoted(key))]"
      case .line: return "\(parent.text), " + (isPlain ? key : "[\(quoted(key))]")
      default: return parent.text + (isPlain ? ".\(key)" : "[\(quoted(key))]")
      }
    }
  }
}

/// A value and its location, with accessors that throw an error with that location.
package struct JSONNode {
  package let value: JSONValue
  let path: JSONPath

  /// The top of a document.
  package init(document value: JSONValue) { self.init(value: value, path: .document) }

  init(value: JSONValue, path: JSONPath) {
    self.value = value
    self.path = path
  }

  /// Returns the value of a key of an object.
  ///
  /// - Throws: If this isn't an object, or has no such key.
  package func required(_ key: String) throws(PolicyError) -> JSONNode {
    guard let member = try members("with \(quoted(key))").first(where: { $0.key == key }) else {
      throw failure(.missing, "\(quoted(key)) is missing", remedy: "add it")
    }
    return child(member)
  }

  /// Returns the value of a key of an object; `nil` if there is none, or it is `null`.
  ///
  /// - Throws: If this isn't an object.
  package func optional(_ key: String) throws(PolicyError) -> JSONNode? {
    let member = try members("with \(quoted(key))").first { $0.key == key }
    return member.flatMap { $0.value == .null ? nil : child($0) }
  }

  /// Returns a whole number in `range`.
  package func count(in range: ClosedRange<Int>) throws(PolicyError) -> Int {
    guard let count = Int(exactly: try number()), range.contains(count) else {
      throw wrongType("a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return count
  }

  /// Returns the members of an object. `what` names the expected object in the error message.
  package func members(_ what: String) throws(PolicyError) -> [JSONValue.Member] {
    guard case .object(let members) = value else { throw wrongType("an object (\(what))") }
    return members
  }

  /// Returns the node of `member`.
  package func child(_ member: JSONValue.Member) -> JSONNode {
    JSONNode(value: member.value, path: .key(member.key, of: path))
  }

  /// Returns the elements of a list.
  package func elements(_ what: String) throws(PolicyError) -> [JSONNode] {
    guard case .array(let values) = value else { throw wrongType(what) }
    return values.enumerated().map { JSONNode(value: $1, path: .index($0, of: path)) }
  }

  package func bool() throws(PolicyError) -> Bool {
    guard case .bool(let flag) = value else { throw wrongType("true or false") }
    return flag
  }

  package func number() throws(PolicyError) -> Double {
    switch value {
    case .number(let number): return number
    case .integer(let number): return Double(number)
    default: throw wrongType("a number")
    }
  }

  package func string(_ what: String = "a string") throws(PolicyError) -> String {
    guard case .string(let string) = value else { throw wrongType(what) }
    return string
  }

  /// Returns the name of a controller. Throws if it is empty.
  func name() throws(PolicyError) -> String {
    let name = try string("a controller's name, a string")
    guard !name.isEmpty else {
      throw failure(.value, "a controller's name is empty", remedy: "name one of the controllers")
    }
    return name
  }

  /// Returns the value of one of `words`, ignoring case.
  func word<Value>(_ what: String, from words: [(String, Value)]) throws(PolicyError) -> Value {
    guard case .string(let text) = value else {
      throw wrongType("\(what), one of \(words.map(\.0).joined(separator: ", "))")
    }
    // Exact case first: it is the most common, and lowercasing allocates.
    if let exact = words.first(where: { $0.0 == text }) { return exact.1 }
    let lowered = text.lowercased()
    if let word = words.first(where: { $0.0.lowercased() == lowered }) { return word.1 }
    throw failure(
      .unknownWord, "\(quoted(text)) is not \(what)",
      remedy: remedy(for: text, among: words.map(\.0)))
  }

  /// Returns the error for an unknown key.
  func unknownKey(_ key: String, among known: [String]) -> PolicyError {
    PolicyError(
      .unknownKey, "unknown key \(quoted(key))", at: JSONPath.key(key, of: path).text,
      remedy: remedy(for: key, among: known))
  }

  package func wrongType(_ expected: String) -> PolicyError {
    failure(.value, "\(value.kind) where \(expected) is expected", remedy: "write \(expected)")
  }

  package func failure(_ code: PolicyError.Code, _ message: String, remedy: String) -> PolicyError {
    PolicyError(code, message, at: path.text, remedy: remedy)
  }

  private func remedy(for text: String, among known: [String]) -> String {
    if let near = nearMiss(of: text, among: known) { return "did you mean \"\(near)\"?" }
    return "use one of " + known.joined(separator: ", ")
  }
}
