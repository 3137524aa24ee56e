/// A JSON value whose objects keep the order of their keys.
///
/// Reports promise an order of keys and documents are quoted back in the order they were written in,
/// which is why this is not a dictionary.
public enum JSONValue: Sendable, Hashable {
  /// `null`
  case null
  /// `true`, `false`
  case bool(Bool)
  /// A number written without a fraction: a count, an index.
  case integer(Int)
  /// A number written with a fraction: a time, a coordinate. Everything parsed is this case.
  case number(Double)
  /// A string.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// An object, its members in order.
  case object([Member])

  /// One key of an object and its value.
  public struct Member: Sendable, Hashable {
    /// The key.
    public var key: String
    /// What stands under it.
    public var value: JSONValue

    /// A member.
    public init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  /// The value under `key`; nil where there is none or this is not an object. O(members).
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// What kind of value this is, as an error message says it.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByStringLiteral
{
  /// An object in the order of the literal.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }

  /// A list.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
}
