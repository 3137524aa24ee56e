/// An error in the input of the policy: an invalid document, event or size.
///
/// `description` is one line that gives the message, the path and the remedy.
public struct PolicyError: Error, Sendable, Hashable {
  /// The kind of error. Later versions may add codes.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The name of the code, as printed by `--json-errors`.
    public let description: String

    init(_ word: String) { description = word }

    /// The bytes are not JSON.
    public static let syntax = Code("syntax")
    /// A value has the wrong type or is out of range.
    public static let value = Code("value")
    /// A key is unknown.
    public static let unknownKey = Code("unknownKey")
    /// A word is unknown.
    public static let unknownWord = Code("unknownWord")
    /// A required key is missing.
    public static let missing = Code("missing")
    /// A controller doesn't exist, or can't be used in that place.
    public static let controller = Code("controller")
    /// The time of an event is negative, not finite, or before that of the previous event.
    public static let time = Code("time")
    /// A stream size can't be encoded.
    public static let size = Code("size")
    /// UIKit would raise `UIApplicationInvalidInterfaceOrientation`.
    public static let invalidOrientation = Code("invalidOrientation")
  }

  /// The kind of error.
  public var code: Code
  /// A description of the error.
  public var message: String
  /// The location: a JSON path (`controllers.list.supported[0]`) or a line (`line 3`).
  public var path: String
  /// How to fix it.
  public var remedy: String

  /// Creates an error at `path`.
  public init(_ code: Code, _ message: String, at path: String, remedy: String) {
    self.code = code
    self.message = message
    self.path = path
    self.remedy = remedy
  }
}

extension PolicyError: CustomStringConvertible {
  /// `message: path: remedy`, on one line.
  public var description: String { "\(message): \(path): \(remedy)" }
}

/// Returns `text` in quotation marks, cut to 60 scalars and with control characters escaped.
///
/// Messages quote words from files. A message must not contain a line break or a terminal escape sequence.
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
