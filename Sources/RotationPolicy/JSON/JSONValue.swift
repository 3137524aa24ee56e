/// A JSON value whose objects keep the order of their keys.
///
/// Objects are not dictionaries, because reports have a documented order of keys, and documents are written
/// back in their original order.
public enum JSONValue: Sendable, Hashable {
  /// `null`
  case null
  /// `true`, `false`
  case bool(Bool)
  /// A number that is written without a fraction, such as a count or an index.
  case integer(Int)
  /// A number that is written with a fraction, such as a time or a coordinate. All parsed numbers are of this
  /// case.
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
    /// The value.
    public var value: JSONValue

    /// Creates a member.
    public init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  /// The value of `key`, or `nil` if there is none or this isn't an object. O(members).
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The kind of value, for error messages.
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
  /// Creates an object, in the order of the literal.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }

  /// Creates a list.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
}
