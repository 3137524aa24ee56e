extension JSONValue {
  /// The value on one line without spaces: a line of `--trace`.
  public var compact: String {
    var text = ""
    write(to: &text, comma: ",", colon: ":")
    return text
  }

  /// The value over several lines, indented by two spaces; what holds nothing nested and fits a
  /// line stands on one. No line break at the end.
  public var pretty: String {
    var text = ""
    writePretty(to: &text, indent: "")
    return text
  }

  private func write(to text: inout String, comma: String, colon: String) {
    switch self {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .integer(let number): text += String(number)
    case .number(let number):
      // Swift prints the shortest digits that read back as the same value. JSON has no NaN.
      text += number.isFinite ? number.description : "null"
    case .string(let string): Self.write(string, to: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += comma }
        value.write(to: &text, comma: comma, colon: colon)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += comma }
        Self.write(member.key, to: &text)
        text += colon
        member.value.write(to: &text, comma: comma, colon: colon)
      }
      text += "}"
    }
  }

  private func writePretty(to text: inout String, indent: String) {
    if isFlat {
      var line = ""
      write(to: &line, comma: ", ", colon: ": ")
      if line.utf8.count + indent.utf8.count <= 100 {
        text += line
        return
      }
    }
    let inner = indent + "  "
    switch self {
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        value.writePretty(to: &text, indent: inner)
      }
      text += "\n\(indent)]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        Self.write(member.key, to: &text)
        text += ": "
        member.value.writePretty(to: &text, indent: inner)
      }
      text += "\n\(indent)}"
    default: write(to: &text, comma: ", ", colon: ": ")
    }
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

  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
