internal import Orientation

/// Where a value stands, for messages: a path in the document, or a line of an event file and a
/// path in it. A chain of links, so that walking a valid document formats no text.
indirect enum JSONPath {
  /// The top of a document.
  case document
  /// The top of line `number` of a file of JSON Lines.
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

/// A value and where it stands: what the readers of documents and events are written with.
struct JSONNode {
  let value: JSONValue
  let path: JSONPath

  /// An object's members; `what` names the object in the message for anything else.
  func members(_ what: String) throws(PolicyError) -> [JSONValue.Member] {
    guard case .object(let members) = value else { throw wrongType("an object (\(what))") }
    return members
  }

  /// The node under `member`'s key.
  func child(_ member: JSONValue.Member) -> JSONNode {
    JSONNode(value: member.value, path: .key(member.key, of: path))
  }

  /// The elements of a list.
  func elements(_ what: String) throws(PolicyError) -> [JSONNode] {
    guard case .array(let values) = value else { throw wrongType(what) }
    return values.enumerated().map { JSONNode(value: $1, path: .index($0, of: path)) }
  }

  func bool() throws(PolicyError) -> Bool {
    guard case .bool(let flag) = value else { throw wrongType("true or false") }
    return flag
  }

  func number() throws(PolicyError) -> Double {
    switch value {
    case .number(let number): return number
    case .integer(let number): return Double(number)
    default: throw wrongType("a number")
    }
  }

  func string(_ what: String = "a string") throws(PolicyError) -> String {
    guard case .string(let string) = value else { throw wrongType(what) }
    return string
  }

  /// A controller's name.
  func name() throws(PolicyError) -> String {
    let name = try string("a controller's name, a string")
    guard !name.isEmpty else {
      throw failure(.value, "a controller's name is empty", remedy: "name one of the controllers")
    }
    return name
  }

  /// One of a closed set of words, upper and lower case alike.
  func word<Value>(_ what: String, from words: [(String, Value)]) throws(PolicyError) -> Value {
    guard case .string(let text) = value else {
      throw wrongType("\(what), one of \(words.map(\.0).joined(separator: ", "))")
    }
    // Exact first: it is the usual case, and lowercasing allocates.
    if let exact = words.first(where: { $0.0 == text }) { return exact.1 }
    let lowered = text.lowercased()
    if let word = words.first(where: { $0.0.lowercased() == lowered }) { return word.1 }
    throw failure(
      .unknownWord, "\(quoted(text)) is not \(what)",
      remedy: remedy(for: text, among: words.map(\.0)))
  }

  /// The error for a key that means nothing here.
  func unknownKey(_ key: String, among known: [String]) -> PolicyError {
    PolicyError(
      .unknownKey, "unknown key \(quoted(key))", at: JSONPath.key(key, of: path).text,
      remedy: remedy(for: key, among: known))
  }

  func wrongType(_ expected: String) -> PolicyError {
    failure(.value, "\(value.kind) where \(expected) is expected", remedy: "write \(expected)")
  }

  func failure(_ code: PolicyError.Code, _ message: String, remedy: String) -> PolicyError {
    PolicyError(code, message, at: path.text, remedy: remedy)
  }

  private func remedy(for text: String, among known: [String]) -> String {
    if let near = nearMiss(of: text, among: known) { return "did you mean \"\(near)\"?" }
    return "use one of " + known.joined(separator: ", ")
  }
}
