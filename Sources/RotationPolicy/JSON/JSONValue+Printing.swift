extension JSONValue {
  /// The value on one line without spaces, as in `--trace`.
  public var compact: String {
    var text: [UInt8] = []
    write(to: &text, isSpaced: false)
    return String(decoding: text, as: UTF8.self)
  }

  /// The value on several lines, indented by two spaces. Objects and lists of scalars are written on one line
  /// if they fit. There is no line break at the end.
  public var pretty: String {
    var text: [UInt8] = []
    writePretty(to: &text, indent: 0)
    return String(decoding: text, as: UTF8.self)
  }

  private func write(to text: inout [UInt8], isSpaced: Bool) {
    switch self {
    case .null: Self.append("null", to: &text)
    case .bool(let flag): Self.append(flag ? "true" : "false", to: &text)
    case .integer(let number): Self.append(String(number), to: &text)
    case .number(let number):
      // Swift prints the shortest digits that parse to the same value. JSON has no NaN.
      Self.append(number.isFinite ? number.description : "null", to: &text)
    case .string(let string): Self.write(string, to: &text)
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { Self.append(isSpaced ? ", " : ",", to: &text) }
        value.write(to: &text, isSpaced: isSpaced)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { Self.append(isSpaced ? ", " : ",", to: &text) }
        Self.write(member.key, to: &text)
        Self.append(isSpaced ? ": " : ":", to: &text)
        member.value.write(to: &text, isSpaced: isSpaced)
      }
      text.append(UInt8(ascii: "}"))
    }
  }

  /// Appends the text of `pretty`, for a value that is indented by `indent` spaces.
  func writePretty(to text: inout [UInt8], indent: Int) {
    if isFlat {
      let start = text.count
      write(to: &text, isSpaced: true)
      if text.count - start + indent <= 100 || isScalar { return }
      text.removeSubrange(start...)
    }
    switch self {
    case .array(let values):
      text.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        Self.breakLine(after: index, indent + 2, &text)
        value.writePretty(to: &text, indent: indent + 2)
      }
      Self.breakLine(after: 0, indent, &text)
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        Self.breakLine(after: index, indent + 2, &text)
        Self.write(member.key, to: &text)
        Self.append(": ", to: &text)
        member.value.writePretty(to: &text, indent: indent + 2)
      }
      Self.breakLine(after: 0, indent, &text)
      text.append(UInt8(ascii: "}"))
    // Scalars and empty lists and objects are flat.
    default: break
    }
  }

  /// Starts a new line. Writes a comma before it unless `count`, the number of preceding elements, is 0.
  static func breakLine(after count: Int, _ indent: Int, _ text: inout [UInt8]) {
    append(count > 0 ? ",\n" : "\n", to: &text)
    for _ in 0..<indent { text.append(UInt8(ascii: " ")) }
  }

  /// A scalar, or a list or object of scalars only.
  private var isFlat: Bool {
    switch self {
    case .array(let values): values.allSatisfy(\.isScalar)
    case .object(let members): members.allSatisfy { $0.value.isScalar }
    default: true
    }
  }

  private var isScalar: Bool {
    switch self {
    case .array(let values): values.isEmpty
    case .object(let members): members.isEmpty
    default: true
    }
  }

  private static func write(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    let start = text.count
    append(string, to: &text)
    // Fast path: most strings are names that need no escapes.
    if text[start...].contains(where: isEscaped) {
      text.removeSubrange(start...)
      for byte in string.utf8 { write(byte, to: &text) }
    }
    text.append(UInt8(ascii: "\""))
  }

  /// Like `text += string.utf8`, but without appending byte by byte.
  private static func append(_ string: String, to text: inout [UInt8]) {
    var string = string
    string.withUTF8 { unsafe text.append(contentsOf: $0) }
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func write(_ byte: UInt8, to text: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""): text += "\\\"".utf8
    case UInt8(ascii: "\\"): text += "\\\\".utf8
    case UInt8(ascii: "\n"): text += "\\n".utf8
    case UInt8(ascii: "\r"): text += "\\r".utf8
    case UInt8(ascii: "\t"): text += "\\t".utf8
    case _ where isEscaped(byte):
      let digits = String(byte, radix: 16)
      text += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
    default: text.append(byte)
    }
  }
}
