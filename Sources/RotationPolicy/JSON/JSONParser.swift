extension JSONValue {
  /// Parses one JSON text (RFC 8259). Only white space may surround it.
  ///
  /// The parser is stricter than the RFC: a repeated key in an object, a number outside the range of a
  /// `Double` and nesting deeper than 64 levels are errors (a megabyte of `[` must not overflow the stack).
  /// A byte order mark at the start is skipped.
  ///
  /// - Throws: `syntax`, with the line and column.
  public init(parsing bytes: some Sequence<UInt8>) throws(PolicyError) {
    self = try JSONParser.value(of: Array(bytes)[...])
  }

  /// Parses what `compact` or `pretty` printed, so that it is printed alike: a number without a fraction is an
  /// `integer`.
  package init(printed bytes: some Sequence<UInt8>) throws(PolicyError) {
    self = try JSONParser.value(of: Array(bytes)[...], keepsIntegers: true)
  }
}

/// A recursive descent parser for one JSON text.
struct JSONParser {
  private let bytes: ArraySlice<UInt8>
  private var index: Int
  private let keepsIntegers: Bool
  private static let depthLimit = 64

  private init(_ bytes: ArraySlice<UInt8>, keepsIntegers: Bool) {
    self.bytes = bytes
    self.keepsIntegers = keepsIntegers
    index = bytes.startIndex + (bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
  }

  /// Returns the value of the JSON text `bytes`.
  static func value(
    of bytes: ArraySlice<UInt8>, keepsIntegers: Bool = false
  ) throws(PolicyError) -> JSONValue {
    var parser = JSONParser(bytes, keepsIntegers: keepsIntegers)
    let result = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.index == bytes.endIndex else {
      throw parser.failure("there is text after the JSON value", remedy: "remove it")
    }
    return result
  }

  private mutating func value(depth: Int) throws(PolicyError) -> JSONValue {
    guard depth < Self.depthLimit else {
      throw failure("the JSON is nested too deeply", remedy: "use at most 64 levels")
    }
    skipSpace()
    guard index < bytes.endIndex else {
      throw failure("the JSON ends too early", remedy: "write a value here")
    }
    switch bytes[index] {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: return try word()
    }
  }

  private mutating func object(depth: Int) throws(PolicyError) -> JSONValue {
    index += 1
    var members: [JSONValue.Member] = []
    var seen: Set<String> = []
    skipSpace()
    if consume(UInt8(ascii: "}")) { return .object([]) }
    repeat {
      skipSpace()
      guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "\"") else {
        throw failure(
          "a key is expected", remedy: "write \"key\": value, without a comma at the end")
      }
      let key = try string()
      // A set is faster only for large objects. Without one, a large object would take O(n^2).
      let isRepeated =
        members.count < 12
        ? members.contains { $0.key == key } : seen.contains(key)
      guard !isRepeated else {
        throw failure("the key \(quoted(key)) appears twice", remedy: "keep one of the two")
      }
      skipSpace()
      guard consume(UInt8(ascii: ":")) else {
        throw failure("a colon is expected after \(quoted(key))", remedy: "write \"key\": value")
      }
      members.append(.init(key, try value(depth: depth + 1)))
      if members.count == 12 { seen = Set(members.map(\.key)) }
      if members.count > 12 { seen.insert(key) }
      skipSpace()
    } while consume(UInt8(ascii: ","))
    guard consume(UInt8(ascii: "}")) else {
      throw failure("an object is not closed", remedy: "write a comma or } here")
    }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(PolicyError) -> JSONValue {
    index += 1
    var values: [JSONValue] = []
    skipSpace()
    if consume(UInt8(ascii: "]")) { return .array([]) }
    repeat {
      values.append(try value(depth: depth + 1))
      skipSpace()
    } while consume(UInt8(ascii: ","))
    guard consume(UInt8(ascii: "]")) else {
      throw failure("a list is not closed", remedy: "write a comma or ] here")
    }
    return .array(values)
  }

  private mutating func word() throws(PolicyError) -> JSONValue {
    let start = index
    while index < bytes.endIndex, bytes[index] < 0x80, Self.isWordByte(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    switch text {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      index = start
      throw failure(
        text.isEmpty ? "a value is expected" : "\(quoted(text)) is not a JSON value",
        remedy: "write a string in quotation marks, a finite number, true, false, [...] or {...}")
    }
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }
}

extension JSONParser {
  private mutating func number() throws(PolicyError) -> JSONValue {
    let start = index
    _ = consume(UInt8(ascii: "-"))
    let hasLeadingZero = index < bytes.endIndex && bytes[index] == UInt8(ascii: "0")
    let whole = digits()
    var isNumber = whole > 0 && (whole == 1 || !hasLeadingZero)
    if consume(UInt8(ascii: ".")) { isNumber = digits() > 0 && isNumber }
    if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
      if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
      isNumber = digits() > 0 && isNumber
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if keepsIntegers, isNumber, let value = Int(text) { return .integer(value) }
    guard isNumber, let value = Double(text), value.isFinite else {
      index = start
      throw failure("\(quoted(text)) is not a finite JSON number", remedy: "write it as 3 or 3.25")
    }
    return .number(value)
  }

  private mutating func digits() -> Int {
    let start = index
    while index < bytes.endIndex, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) {
      index += 1
    }
    return index - start
  }

  private mutating func string() throws(PolicyError) -> String {
    index += 1
    // The text up to the last escape sequence.
    var text: [UInt8] = []
    var start = index
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        let rest = bytes[start..<index]
        let whole = text.isEmpty ? rest : (text + rest)[...]
        guard let utf8 = try? UTF8Span(validating: whole.span) else {
          throw failure("a string is not UTF-8", remedy: "save the file as UTF-8")
        }
        index += 1
        return String(copying: utf8)
      case UInt8(ascii: "\\"):
        text += bytes[start..<index]
        index += 1
        text += String(try escape()).utf8
        start = index
      case 0..<0x20:
        throw failure("a string has a control character", remedy: "escape it (\\n, \\u0000)")
      default: index += 1
      }
    }
    throw failure("a string is not closed", remedy: "end it with a quotation mark")
  }

  private mutating func escape() throws(PolicyError) -> Character {
    guard index < bytes.endIndex else {
      throw failure("a string is not closed", remedy: "end it with a quotation mark")
    }
    let letter = bytes[index]
    index += 1
    switch letter {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return Character(try unicodeEscape())
    default:
      throw failure("an escape sequence is not valid", remedy: "write a backslash as \\\\")
    }
  }

  /// Reads the scalar after `\u`. Reads a second escape if the first is a high surrogate.
  private mutating func unicodeEscape() throws(PolicyError) -> Unicode.Scalar {
    let first = hexadecimal()
    if let first, let scalar = Unicode.Scalar(first) { return scalar }
    if let first, (0xD800..<0xDC00).contains(first), consume(UInt8(ascii: "\\")),
      consume(UInt8(ascii: "u")), let second = hexadecimal(), (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    {
      return scalar
    }
    throw failure("a \\u escape is not a character", remedy: "write four hexadecimal digits")
  }

  private mutating func hexadecimal() -> UInt32? {
    guard index + 4 <= bytes.endIndex else { return nil }
    var value: UInt32 = 0
    for byte in bytes[index..<index + 4] {
      guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        return nil
      }
      value = value << 4 | UInt32(digit)
    }
    index += 4
    return value
  }

  private mutating func consume(_ byte: UInt8) -> Bool {
    guard index < bytes.endIndex, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() {
    while index < bytes.endIndex {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      default: return
      }
    }
  }

  private func failure(_ message: String, remedy: String) -> PolicyError {
    let before = bytes[..<min(index, bytes.endIndex)]
    let line = before.count { $0 == 0x0A } + 1
    let column = index - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.startIndex) + 1
    return PolicyError(.syntax, message, at: "line \(line), column \(column)", remedy: remedy)
  }
}
