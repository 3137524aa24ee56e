extension JSONValue {
  /// The value on one line without spaces, as in `--trace`.
  public var compact: String {
    var text = TextBuffer()
    write(to: &text, isSpaced: false)
    return text.text
  }

  /// The value on several lines, indented by two spaces. Objects and lists of scalars are written on one line
  /// if they fit. There is no line break at the end.
  public var pretty: String {
    var text = TextBuffer()
    writePretty(to: &text, indent: 0)
    return text.text
  }

  private func write(to text: inout TextBuffer, isSpaced: Bool) {
    switch self {
    case .null: text.append("null")
    case .bool(let flag): text.append(flag ? "true" : "false")
    case .integer(let number): text.append(String(number))
    case .number(let number):
      // Swift prints the shortest digits that parse to the same value. JSON has no NaN.
      text.append(number.isFinite ? number.description : "null")
    case .string(let string): text.append(quoted: string)
    case .array(let values):
      text.append("[")
      for (index, value) in values.enumerated() {
        if index > 0 { text.append(isSpaced ? ", " : ",") }
        value.write(to: &text, isSpaced: isSpaced)
      }
      text.append("]")
    case .object(let members):
      text.append("{")
      for (index, member) in members.enumerated() {
        if index > 0 { text.append(isSpaced ? ", " : ",") }
        text.append(quoted: member.key)
        text.append(isSpaced ? ": " : ":")
        member.value.write(to: &text, isSpaced: isSpaced)
      }
      text.append("}")
    }
  }

  /// Appends the text of `pretty`, for a value that is indented by `indent` spaces.
  func writePretty(to text: inout TextBuffer, indent: Int) {
    if isFlat {
      let start = text.count
      write(to: &text, isSpaced: true)
      if text.count - start + indent <= 100 || isScalar { return }
      text.rewind(to: start)
    }
    switch self {
    case .array(let values):
      text.append("[")
      for (index, value) in values.enumerated() {
        Self.breakLine(after: index, indent + 2, &text)
        value.writePretty(to: &text, indent: indent + 2)
      }
      Self.breakLine(after: 0, indent, &text)
      text.append("]")
    case .object(let members):
      text.append("{")
      for (index, member) in members.enumerated() {
        Self.breakLine(after: index, indent + 2, &text)
        text.append(quoted: member.key)
        text.append(": ")
        member.value.writePretty(to: &text, indent: indent + 2)
      }
      Self.breakLine(after: 0, indent, &text)
      text.append("}")
    // Scalars and empty lists and objects are flat.
    default: break
    }
  }

  /// Starts a new line. Writes a comma before it unless `count`, the number of preceding elements, is 0.
  static func breakLine(after count: Int, _ indent: Int, _ text: inout TextBuffer) {
    text.append(count > 0 ? ",\n" : "\n")
    text.append(spaces: indent)
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
}
