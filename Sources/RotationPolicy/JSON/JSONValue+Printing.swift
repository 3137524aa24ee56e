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
    case .null: text.append(literal: "null")
    case .bool(let flag): text.append(flag ? "true" : "false")
    case .integer(let number): text.append(String(number))
    case .number(let number): text.append(number)
    case .string(let string): text.append(quoted: string)
    case .array(let values):
      text.append(literal: "[")
      for (index, value) in values.enumerated() {
        if index > 0 { Self.separate(",", isSpaced, &text) }
        value.write(to: &text, isSpaced: isSpaced)
      }
      text.append(literal: "]")
    case .object(let members):
      text.append(literal: "{")
      for (index, member) in members.enumerated() {
        if index > 0 { Self.separate(",", isSpaced, &text) }
        text.append(quoted: member.key)
        Self.separate(":", isSpaced, &text)
        member.value.write(to: &text, isSpaced: isSpaced)
      }
      text.append(literal: "}")
    }
  }

  private static func separate(
    _ mark: StaticString, _ isSpaced: Bool, _ text: inout TextBuffer
  ) {
    text.append(literal: mark)
    if isSpaced { text.append(literal: " ") }
  }

  /// Appends the text of `pretty`, for a value that is indented by `indent` spaces.
  func writePretty(to text: inout TextBuffer, indent: Int) {
    if leastScalarWidth != nil { return write(to: &text, isSpaced: true) }
    if let width = leastWidth, width + indent <= Self.lineWidth {
      let start = text.count
      write(to: &text, isSpaced: true)
      if text.count - start + indent <= Self.lineWidth { return }
      text.rewind(to: start)
    }
    switch self {
    case .array(let values):
      text.append(literal: "[")
      for (index, value) in values.enumerated() {
        Self.breakLine(after: index, indent + 2, &text)
        value.writePretty(to: &text, indent: indent + 2)
      }
      Self.breakLine(after: 0, indent, &text)
      text.append(literal: "]")
    case .object(let members):
      text.append(literal: "{")
      for (index, member) in members.enumerated() {
        Self.breakLine(after: index, indent + 2, &text)
        text.append(quoted: member.key)
        text.append(literal: ": ")
        member.value.writePretty(to: &text, indent: indent + 2)
      }
      Self.breakLine(after: 0, indent, &text)
      text.append(literal: "}")
    // Scalars and empty lists and objects are written above.
    default: break
    }
  }

  /// Starts a new line. Writes a comma before it unless `count`, the number of preceding elements, is 0.
  static func breakLine(after count: Int, _ indent: Int, _ text: inout TextBuffer) {
    if count > 0 { text.append(literal: ",") }
    text.append(literal: "\n")
    text.append(spaces: indent)
  }

  /// The maximum length of a line with a list or an object, in bytes.
  private static let lineWidth = 100

  /// A lower bound of the length on one line, in bytes, without the digits of numbers and without escape
  /// sequences. `nil` if the value is a list or an object that contains another.
  private var leastWidth: Int? {
    var width = 0
    switch self {
    case .array(let values):
      for index in values.indices {
        guard let value = values[index].leastScalarWidth else { return nil }
        width += value + 2
      }
      return width
    case .object(let members):
      for index in members.indices {
        guard let value = members[index].value.leastScalarWidth else { return nil }
        width += members[index].key.utf8.count + value + 6
      }
      return width
    default: return leastScalarWidth
    }
  }

  /// `leastWidth` of a scalar or an empty list or object. `nil` for other values.
  private var leastScalarWidth: Int? {
    switch self {
    case .null, .bool: 4
    case .integer, .number: 1
    case .string(let string): string.utf8.count + 2
    case .array(let values): values.isEmpty ? 2 : nil
    case .object(let members): members.isEmpty ? 2 : nil
    }
  }
}
