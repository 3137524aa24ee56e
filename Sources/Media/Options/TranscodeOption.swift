internal import UprightFrames
internal import UprightOrientation
public import UprightPolicy

/// An option of a transcode or a live session: its name, its meaning, and how it is read and written.
///
/// The command line, JSON, plans, the manual and the description of the service's API are made from `all`, or compared
/// with it. An option is declared nowhere else.
public struct TranscodeOption: Sendable {
  /// The form of a value.
  public enum Form: Sendable, Hashable {
    /// Given or not.
    case flag
    /// One of some words.
    case word([String])
    /// A number, whose range the option checks.
    case number
    /// A text. Completions offer `suggestions`.
    case text(suggestions: [String])
    /// The path of a file.
    case file(endings: [String])
    /// Several texts. The option can be repeated.
    case texts
  }

  /// Where an option applies.
  public enum Scope: Sendable {
    /// Files, and `upright relay`.
    case files
    /// Sessions of the service too.
    case live
    /// Sessions of the service too, while they run.
    case change
  }

  /// The name in JSON, and on the command line after two dashes.
  public let name: String
  /// Another name on the command line.
  package private(set) var alias: String?
  /// The meaning, with units, in a sentence.
  public let help: String
  /// What stands for the value in the help; `nil` for the name.
  package let placeholder: String?
  /// The form of the value.
  public let form: Form
  /// Where the option applies.
  public let scope: Scope
  /// Returns the value in options; `null` if there is none.
  let value: @Sendable (TranscodeOptions) -> JSONValue
  /// Sets the value, if it is given.
  let read: @Sendable (inout OptionReader, inout TranscodeOptions) throws(UprightError) -> Void

  init(
    _ name: String, _ form: Form, for scope: Scope = .files, placeholder: String? = nil,
    _ help: String, value: @escaping @Sendable (TranscodeOptions) -> JSONValue,
    read:
      @escaping @Sendable (inout OptionReader, inout TranscodeOptions) throws(UprightError) -> Void
  ) {
    (self.name, self.form, self.scope) = (name, form, scope)
    (self.help, self.placeholder, self.value, self.read) = (help, placeholder, value, read)
  }

  /// Returns the option with another name on the command line.
  func alsoNamed(_ name: String) -> TranscodeOption {
    var option = self
    option.alias = name
    return option
  }

  /// The default, as it is written; `null` if there is none.
  public var standard: JSONValue { value(TranscodeOptions()) }
}

// MARK: - Kinds of options

extension TranscodeOption {
  typealias Path<Value> = any WritableKeyPath<TranscodeOptions, Value> & Sendable
  typealias Word = CaseIterable & RawRepresentable<String> & Sendable

  static func flag(
    _ name: String, _ path: Path<Bool>, for scope: Scope = .files, _ help: String
  ) -> TranscodeOption {
    TranscodeOption(
      name, .flag, for: scope, help, value: { .bool($0[keyPath: path]) }
    ) { (reader, options) throws(UprightError) in options[keyPath: path] = try reader.flag(name) }
  }

  /// One of the words of a type.
  static func word<Value: Word>(
    _ name: String, _ path: Path<Value>, for scope: Scope = .files, _ help: String
  ) -> TranscodeOption {
    word(name, Value.self, for: scope, help, value: { $0[keyPath: path] }) {
      $1[keyPath: path] = $0
    }
  }

  static func word<Value: Word>(
    _ name: String, _ path: Path<Value?>, for scope: Scope = .files, _ help: String
  ) -> TranscodeOption {
    word(name, Value.self, for: scope, help, value: { $0[keyPath: path] }) {
      $1[keyPath: path] = $0
    }
  }

  static func word<Value: Word>(
    _ name: String, _: Value.Type, for scope: Scope = .files, _ help: String,
    value: @escaping @Sendable (TranscodeOptions) -> Value?,
    set: @escaping @Sendable (Value, inout TranscodeOptions) -> Void
  ) -> TranscodeOption {
    TranscodeOption(
      name, .word(Value.allCases.map(\.rawValue)), for: scope, help,
      value: { value($0).map { .string($0.rawValue) } ?? .null }
    ) { (reader, options) throws(UprightError) in
      if let word = try reader.word(name, as: Value.self) { set(word, &options) }
    }
  }

  /// A number.
  static func number(
    _ name: String, _ path: Path<Double>, in range: ClosedRange<Double> = anyNumber,
    for scope: Scope = .files, placeholder: String = "seconds", _ help: String
  ) -> TranscodeOption {
    TranscodeOption(
      name, .number, for: scope, placeholder: placeholder, help,
      value: { .number($0[keyPath: path]) }
    ) { (reader, options) throws(UprightError) in
      if let number = try reader.number(name, in: range) { options[keyPath: path] = number }
    }
  }

  static func number(
    _ name: String, _ path: Path<Double?>, in range: ClosedRange<Double> = anyNumber,
    for scope: Scope = .files, placeholder: String = "seconds", _ help: String
  ) -> TranscodeOption {
    TranscodeOption(
      name, .number, for: scope, placeholder: placeholder, help,
      value: { $0[keyPath: path].map(JSONValue.number) ?? .null }
    ) { (reader, options) throws(UprightError) in
      options[keyPath: path] = try reader.number(name, in: range)
    }
  }

  static let anyNumber = -Double.greatestFiniteMagnitude ... .greatestFiniteMagnitude

  /// A text that is used as it is.
  static func text(
    _ name: String, _ path: Path<String?>, _ form: Form = .text(suggestions: []),
    for scope: Scope = .files, placeholder: String? = nil, _ help: String
  ) -> TranscodeOption {
    TranscodeOption(
      name, form, for: scope, placeholder: placeholder, help,
      value: { $0[keyPath: path].map(JSONValue.string) ?? .null }
    ) { (reader, options) throws(UprightError) in options[keyPath: path] = try reader.text(name) }
  }

  /// A text that is parsed.
  ///
  /// - Parameters:
  ///   - text: Returns the text that `parse` reads; `nil` if there is none.
  ///   - parse: Sets the value that a text stands for.
  static func parsed(
    _ name: String, _ form: Form = .text(suggestions: []), for scope: Scope = .files,
    placeholder: String? = nil, _ help: String,
    text: @escaping @Sendable (TranscodeOptions) -> String?,
    parse: @escaping @Sendable (String, inout TranscodeOptions) throws(UprightError) -> Void
  ) -> TranscodeOption {
    TranscodeOption(
      name, form, for: scope, placeholder: placeholder, help,
      value: { text($0).map(JSONValue.string) ?? .null }
    ) { (reader, options) throws(UprightError) in
      _ = try reader.parsed(name) { (text) throws(UprightError) in try parse(text, &options) }
    }
  }

  /// A list of texts.
  static func texts(
    _ name: String, for scope: Scope, placeholder: String, _ help: String,
    texts: @escaping @Sendable (TranscodeOptions) -> [String],
    parse: @escaping @Sendable ([String], inout TranscodeOptions) throws(UprightError) -> Void
  ) -> TranscodeOption {
    TranscodeOption(
      name, .texts, for: scope, placeholder: placeholder, help,
      value: { options in
        let list = texts(options)
        return list.isEmpty ? .null : .array(list.map(JSONValue.string))
      }
    ) { (reader, options) throws(UprightError) in try parse(reader.texts(name), &options) }
  }
}
