/// A value in Action Message Format 0 (AMF 0 specification, 2), which RTMP commands and FLV script data use.
enum AMFValue: Sendable, Hashable {
  case number(Double)
  case boolean(Bool)
  case string(String)
  /// Members in the order of their encoding. Also used for ECMA arrays.
  case object([Member])
  case null
  case undefined
  case array([AMFValue])
  /// Milliseconds since 1970.
  case date(Double)

  /// A named value of an object.
  struct Member: Sendable, Hashable {
    var name: String
    var value: AMFValue

    init(_ name: String, _ value: AMFValue) {
      self.name = name
      self.value = value
    }
  }

  /// The text of a string; `nil` for any other type.
  var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The number; `nil` for any other type.
  var number: Double? { if case .number(let number) = self { number } else { nil } }

  /// Returns the member `name` of an object, or `nil` if there is none.
  subscript(_ name: String) -> AMFValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name == name }?.value
  }
}

// MARK: - Reading

extension AMFValue {
  /// Decodes the consecutive values in `bytes`. Returns `nil` if one is truncated, has an unsupported type,
  /// or is nested deeper than 16 levels.
  static func values(in bytes: some Collection<UInt8>) -> [AMFValue]? {
    var reader = AMFDecoder(bytes: Array(bytes))
    var values: [AMFValue] = []
    while !reader.isAtEnd {
      guard let value = reader.value(depth: 0) else { return nil }
      values.append(value)
    }
    return values
  }
}

/// A forward reader for AMF 0. It never reads past the end, whatever a length field claims.
private struct AMFDecoder {
  let bytes: [UInt8]
  private var position = 0
  private static let deepest = 16

  init(bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position >= bytes.count }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= bytes.count - position else { return nil }
    defer { position += count }
    return bytes[position..<position + count]
  }

  private mutating func integer(_ size: Int) -> Int? {
    take(size).map { $0.reduce(0) { $0 << 8 | Int($1) } }
  }

  private mutating func double() -> Double? {
    take(8).map { Double(bitPattern: $0.reduce(0) { $0 << 8 | UInt64($1) }) }
  }

  private mutating func text(lengthOf size: Int) -> String? {
    integer(size).flatMap { take($0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  mutating func value(depth: Int) -> AMFValue? {
    guard depth < Self.deepest, let type = integer(1) else { return nil }
    switch type {
    case 0: return double().map { .number($0) }
    case 1: return integer(1).map { .boolean($0 != 0) }
    case 2: return text(lengthOf: 2).map { .string($0) }
    case 3: return members(depth: depth)
    case 5: return .null
    case 6: return .undefined
    case 8:
      // The count is only a hint. The array ends with an end marker, as an object does.
      return integer(4).flatMap { _ in members(depth: depth) }
    case 10: return elements(depth: depth)
    case 11:
      let date = double()
      return integer(2) == nil ? nil : date.map { .date($0) }
    case 12, 15: return text(lengthOf: 4).map { .string($0) }
    case 16: return text(lengthOf: 2).flatMap { _ in members(depth: depth) }
    default: return nil
    }
  }

  private mutating func members(depth: Int) -> AMFValue? {
    var members: [AMFValue.Member] = []
    while let name = text(lengthOf: 2) {
      if name.isEmpty, position < bytes.count, bytes[position] == 9 {
        position += 1
        return .object(members)
      }
      guard let value = value(depth: depth + 1) else { return nil }
      members.append(.init(name, value))
    }
    return nil
  }

  private mutating func elements(depth: Int) -> AMFValue? {
    // Each element has at least one byte.
    guard let count = integer(4), count <= bytes.count - position else { return nil }
    var values: [AMFValue] = []
    for _ in 0..<count {
      guard let value = value(depth: depth + 1) else { return nil }
      values.append(value)
    }
    return .array(values)
  }
}

// MARK: - Writing

extension AMFValue {
  /// Returns the encoding of consecutive values.
  static func bytes(of values: [AMFValue]) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values { value.append(to: &bytes) }
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .number(let number):
      bytes.append(0)
      bytes.appendBigEndian(number.bitPattern, bytes: 8)
    case .boolean(let isTrue): bytes += [1, isTrue ? 1 : 0]
    case .string(let text):
      let isLong = text.utf8.count > 0xFFFF
      bytes.append(isLong ? 12 : 2)
      bytes.appendBigEndian(UInt64(text.utf8.count), bytes: isLong ? 4 : 2)
      bytes += text.utf8
    case .object(let members):
      bytes.append(3)
      for member in members {
        let name = member.name.utf8.prefix(0xFFFF)
        bytes.appendBigEndian(UInt64(name.count), bytes: 2)
        bytes += name
        member.value.append(to: &bytes)
      }
      bytes += [0, 0, 9]
    case .null: bytes.append(5)
    case .undefined: bytes.append(6)
    case .array(let values):
      bytes.append(10)
      bytes.appendBigEndian(UInt64(values.count), bytes: 4)
      for value in values { value.append(to: &bytes) }
    case .date(let milliseconds):
      bytes.append(11)
      bytes.appendBigEndian(milliseconds.bitPattern, bytes: 8)
      bytes += [0, 0]
    }
  }
}

extension [UInt8] {
  /// Appends the low `count` bytes of `value`, most significant byte first.
  mutating func appendBigEndian(_ value: UInt64, bytes count: Int) {
    for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }
}
