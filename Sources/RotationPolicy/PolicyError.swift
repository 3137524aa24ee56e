/// Bad input to the policy: a document, an event or a size that cannot be used.
///
/// `description` is one line: what happened, where, what to do.
public struct PolicyError: Error, Sendable, Hashable {
  /// The kind of error. Open: later versions may add codes.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's word, as printed by `--json-errors`.
    public let description: String

    init(_ word: String) { description = word }

    /// The bytes are not JSON.
    public static let syntax = Code("syntax")
    /// A value has the wrong type or lies outside of its range.
    public static let value = Code("value")
    /// A key that means nothing here.
    public static let unknownKey = Code("unknownKey")
    /// A word that means nothing here.
    public static let unknownWord = Code("unknownWord")
    /// A key that must be given is not there.
    public static let missing = Code("missing")
    /// A controller that does not exist, or that cannot stand where it was put.
    public static let controller = Code("controller")
    /// An event's time is negative, not finite, or before its predecessor's.
    public static let time = Code("time")
    /// A stream size that cannot be encoded.
    public static let size = Code("size")
    /// UIKit would raise `UIApplicationInvalidInterfaceOrientation`.
    public static let invalidOrientation = Code("invalidOrientation")
  }

  /// What kind of error.
  public var code: Code
  /// What happened.
  public var message: String
  /// Where: a JSON path (`controllers.list.supported[0]`) or a line (`line 3`).
  public var path: String
  /// What to do about it.
  public var remedy: String

  /// An error at `path`.
  public init(_ code: Code, _ message: String, at path: String, remedy: String) {
    self.code = code
    self.message = message
    self.path = path
    self.remedy = remedy
  }
}

extension PolicyError: CustomStringConvertible {
  /// `what happened: where: what to do`, on one line.
  public var description: String { "\(message): \(path): \(remedy)" }
}

/// `text` between quotation marks, short and on one line whatever it holds: words from a file go
/// into messages, and a message must not carry a line break or a terminal's escape sequence.
func quoted(_ text: some StringProtocol) -> String {
  var result = "\""
  for (count, scalar) in text.unicodeScalars.enumerated() {
    if count == 60 {
      result += "..."
      break
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator:
      result += "\\u{" + String(scalar.value, radix: 16) + "}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result + "\""
}
