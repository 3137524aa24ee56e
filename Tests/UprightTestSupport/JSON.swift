/// A JSON value of any type, for use in tests. A missing member or element is `null`.
public enum JSON: Sendable, Hashable, Decodable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Decodes the next value.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSON].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  /// The member named `key`. `null` if there is none.
  public subscript(key: String) -> JSON {
    if case .object(let members) = self { members[key] ?? .null } else { .null }
  }

  /// The element at `index`. `null` if there is none.
  public subscript(index: Int) -> JSON { array.indices.contains(index) ? array[index] : .null }

  /// The elements of an array. Empty for any other value.
  public var array: [JSON] { if case .array(let elements) = self { elements } else { [] } }

  /// The members of an object. Empty for any other value.
  public var object: [String: JSON] { if case .object(let members) = self { members } else { [:] } }

  /// The text of a string. `nil` for any other value.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The value of a Boolean. `nil` for any other value.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The value of a number. `nil` for any other value.
  public var double: Double? { if case .number(let value) = self { value } else { nil } }

  /// The value of a number that is an integer. `nil` for any other value.
  public var int: Int? { double.flatMap(Int.init(exactly:)) }

  /// The numbers in an array.
  public var doubles: [Double] { array.compactMap(\.double) }

  /// The integers in an array.
  public var ints: [Int] { array.compactMap(\.int) }

  /// Whether the value is `null`.
  public var isNull: Bool { self == .null }
}
