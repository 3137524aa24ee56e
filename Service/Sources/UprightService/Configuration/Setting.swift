internal import Foundation
internal import UprightOrientation
package import UprightPolicy

/// A setting of the service: its name, its meaning, and how it is read and written.
package struct Setting: Sendable {
  /// Why a value can't be used.
  struct Fault: Error {
    let message: String
    /// The place of the fault within the value, as in `[2]`; empty for the value itself.
    let place: String
    let remedy: String

    init(_ message: String, at place: String = "", remedy: String) {
      (self.message, self.place, self.remedy) = (message, place, remedy)
    }

    /// - Parameter valid: A description of the values that can be used.
    init(valid: String) { self.init("invalid setting", remedy: "use \(valid)") }
  }

  /// The name in the configuration file, and of `flags`.
  package let name: String
  /// The meaning, with units and range.
  package let help: String
  /// Whether only the configuration file can have it.
  let isInFileOnly: Bool
  /// Returns the setting's value in a configuration, as it is written in the file.
  let value: @Sendable (ServiceConfiguration) -> JSONValue
  /// Sets the value in a configuration. From the command line and the environment it is a string.
  let read: @Sendable (JSONValue, inout ServiceConfiguration) throws(Fault) -> Void

  init(
    _ name: String, _ help: String, isInFileOnly: Bool = false,
    value: @escaping @Sendable (ServiceConfiguration) -> JSONValue,
    read: @escaping @Sendable (JSONValue, inout ServiceConfiguration) throws(Fault) -> Void
  ) {
    (self.name, self.help, self.isInFileOnly) = (name, help, isInFileOnly)
    (self.value, self.read) = (value, read)
  }

  /// The environment variable. `nil` if only the file can have the setting.
  package var variable: String? {
    isInFileOnly ? nil : "UPRIGHT_" + words.map { $0.uppercased() }.joined(separator: "_")
  }

  /// The long option of the command line.
  var option: String { "--" + words.map { $0.lowercased() }.joined(separator: "-") }

  private var words: [Substring] {
    name.matches(of: /[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*/).map(\.output)
  }

  /// The value without configuration. `null` if there is none.
  package var standard: JSONValue { value(ServiceConfiguration()) }
}

extension Setting {
  typealias Path<Value> = any WritableKeyPath<ServiceConfiguration, Value> & Sendable

  /// A text.
  ///
  /// - Parameters:
  ///   - valid: A description of the values that can be used.
  ///   - set: Sets the value. Returns `nil` if it can't be used.
  static func text(
    _ name: String, _ help: String, valid: String,
    _ value: @escaping @Sendable (ServiceConfiguration) -> String,
    set: @escaping @Sendable (String, inout ServiceConfiguration) -> Void?
  ) -> Setting {
    Setting(name, help, value: { .string(value($0)) }) { (given, all) throws(Fault) in
      guard set(try string(given), &all) != nil else { throw Fault(valid: valid) }
    }
  }

  /// A text that has no default.
  static func text(
    _ name: String, _ path: Path<String?>, _ help: String, valid: String = "",
    _ isValid: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Setting {
    Setting(name, help, value: { $0[keyPath: path].map(JSONValue.string) ?? .null }) {
      (given, all) throws(Fault) in
      let text = try string(given)
      guard isValid(text) else { throw Fault(valid: valid) }
      all[keyPath: path] = text
    }
  }

  /// A flag: true or false, also as text.
  static func flag(_ name: String, _ path: Path<Bool>, _ help: String) -> Setting {
    Setting(name, help, value: { .bool($0[keyPath: path]) }) { (given, all) throws(Fault) in
      switch given {
      case .bool(let isOn): all[keyPath: path] = isOn
      case .string("true"): all[keyPath: path] = true
      case .string("false"): all[keyPath: path] = false
      default: throw Fault(valid: "true or false")
      }
    }
  }

  /// The path of a file with a secret, without the spaces and newlines around it.
  static func secretFile(
    _ name: String, _ path: Path<String?>, _ secret: Path<String?>, _ help: String,
    valid: String = "", _ isValid: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> Setting {
    Setting(name, help, value: { $0[keyPath: path].map(JSONValue.string) ?? .null }) {
      (given, all) throws(Fault) in
      let file = try string(given)
      guard let data = FileManager.default.contents(atPath: file) else {
        throw Fault("can't read the file \(printable(file))", remedy: "check \(name)")
      }
      let text = String(decoding: data, as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      guard isValid(text) else { throw Fault("invalid secret in the file", remedy: "use \(valid)") }
      (all[keyPath: path], all[keyPath: secret]) = (file, text)
    }
  }

  /// A list of texts: an array, or in the environment a text with commas between them.
  static func texts(
    _ name: String, _ path: Path<[String]>, _ help: String, valid: String,
    _ isValid: @escaping @Sendable (String) -> Bool
  ) -> Setting {
    Setting(
      name, help + " In the environment they are separated by commas.",
      value: { .array($0[keyPath: path].map(JSONValue.string)) }
    ) { (given, all) throws(Fault) in
      let texts: [String]
      if let text = given.text {
        texts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      } else {
        texts = try elements(given).map { (value) throws(Fault) in try string(value) }
      }
      if let wrong = texts.first(where: { !isValid($0) }) {
        throw Fault("invalid value \(printable(wrong))", remedy: "use \(valid)")
      }
      all[keyPath: path] = texts
    }
  }

  /// A number of bytes, also as in 16M, 500M, 10G.
  ///
  /// - Parameter help: The meaning, without a full stop: the forms follow.
  static func bytes(_ name: String, _ path: Path<Int>, _ help: String) -> Setting {
    Setting(
      name, "\(help), in bytes or as in 16M, 500M, 10G.", value: { .integer($0[keyPath: path]) }
    ) { (value, all) throws(Fault) in
      guard let bytes = value.bytes, bytes >= 0 else {
        throw Fault(valid: "a number of bytes, or text such as 500M or 10G")
      }
      all[keyPath: path] = bytes
    }
  }

  /// An integer.
  ///
  /// - Parameters:
  ///   - help: The meaning, without a full stop: the range follows.
  ///   - more: What follows the range.
  static func integer(
    _ name: String, _ path: Path<Int>, _ help: String, _ range: ClosedRange<Int>, more: String = ""
  ) -> Setting {
    let valid = "\(range.lowerBound) to \(range.upperBound)"
    return Setting(
      name, "\(help), \(valid).\(more)", value: { .integer($0[keyPath: path]) }
    ) { (given, all) throws(Fault) in
      guard let number = given.double ?? given.text.flatMap(Int.init).map(Double.init),
        let integer = Int(exactly: number), range.contains(integer)
      else { throw Fault(valid: "an integer from \(valid)") }
      all[keyPath: path] = integer
    }
  }

  /// A number.
  ///
  /// - Parameter help: The meaning, without a full stop: the range follows.
  static func number(
    _ name: String, _ path: Path<Double>, _ help: String, _ range: ClosedRange<Double>,
    more: String = ""
  ) -> Setting {
    let bounds = [range.lowerBound, range.upperBound].map(json)
    let valid = bounds.map(\.compact).joined(separator: " to ")
    return Setting(name, "\(help), \(valid).\(more)", value: { json($0[keyPath: path]) }) {
      (given, all) throws(Fault) in
      guard let number = given.double ?? given.text.flatMap(Double.init), range.contains(number)
      else { throw Fault(valid: valid) }
      all[keyPath: path] = number
    }
  }

  private static func json(_ number: Double) -> JSONValue {
    Int(exactly: number).map(JSONValue.integer) ?? .number(number)
  }

  /// The elements of an array.
  static func elements(_ value: JSONValue) throws(Fault) -> [JSONValue] {
    guard case .array(let elements) = value else {
      throw Fault("isn't an array", remedy: "write [...]")
    }
    return elements
  }

  private static func string(_ value: JSONValue) throws(Fault) -> String {
    if case .integer(let number) = value { return String(number) }
    guard let text = value.text else { throw Fault("unsupported value", remedy: "write a string") }
    return text
  }
}
