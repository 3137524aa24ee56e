/// A JSON value of any shape, to walk through in tests: what is not there is `null`.
public enum JSON: Sendable, Hashable, Decodable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Whatever comes next in the decoder.
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

  /// The member of that name; `null` where there is none.
  public subscript(key: String) -> JSON {
    if case .object(let members) = self { members[key] ?? .null } else { .null }
  }

  /// The element at `index`; `null` where there is none.
  public subscript(index: Int) -> JSON { array.indices.contains(index) ? array[index] : .null }

  /// The elements; empty for anything but an array.
  public var array: [JSON] { if case .array(let elements) = self { elements } else { [] } }

  /// The members; empty for anything but an object.
  public var object: [String: JSON] { if case .object(let members) = self { members } else { [:] } }

  /// The text, if this is one.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The truth value, if this is one.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The number, if this is one.
  public var double: Double? { if case .number(let value) = self { value } else { nil } }

  /// The number, if this is a whole one.
  public var int: Int? { double.flatMap(Int.init(exactly:)) }

  /// The numbers of an array of numbers.
  public var doubles: [Double] { array.compactMap(\.double) }

  /// The whole numbers of an array of whole numbers.
  public var ints: [Int] { array.compactMap(\.int) }

  /// Whether there is nothing.
  public var isNull: Bool { self == .null }
}
