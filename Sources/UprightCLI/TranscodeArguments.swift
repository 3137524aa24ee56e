internal import ArgumentParser
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames

/// The command-line options of a transcode: those of `TranscodeOption.all`.
///
/// ArgumentParser finds the options of a type by reflection. The mirror of this one has an option for each entry of the
/// table, so that an option is declared once for the command line, JSON and the service.
struct TranscodeArguments: ParsableArguments, CustomReflectable {
  /// The options that were given, by name.
  private var given: [JSONValue.Member] = []

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for option in Self.options {
      let key = Key(stringValue: option.name)
      switch option.form {
      case .flag:
        let isGiven = try container.decode(Flag<Bool>.self, forKey: key).wrappedValue
        if isGiven { given.append(.init(option.name, .bool(true))) }
      case .texts:
        let texts = try container.decode(Option<[String]>.self, forKey: key).wrappedValue
        if !texts.isEmpty { given.append(.init(option.name, .array(texts.map { .string($0) }))) }
      default:
        let text = try container.decode(Option<String?>.self, forKey: key).wrappedValue
        if let text { given.append(.init(option.name, .string(text))) }
      }
    }
  }

  var customMirror: Mirror {
    Mirror(self, children: Self.options.map { (label: $0.name, value: $0.argument) })
  }

  /// `--overwrite` is an option of every command that writes.
  private static let options = TranscodeOption.all.filter { $0.name != "overwrite" }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Returns the text of an option; `nil` if it wasn't given.
  subscript(name: String) -> String? { texts(name).first }

  /// Returns the texts of an option that can be repeated.
  func texts(_ name: String) -> [String] {
    switch given.first(where: { $0.key == name })?.value {
    case .string(let text)?: [text]
    case .array(let values)?:
      values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    default: []
    }
  }

  /// What is added to an output's name for its files, if it has two. An HLS output has its own name.
  var fileSuffixes: [String] {
    self["canvas"]?.lowercased() == CanvasRule.dual.rawValue && self["landscape-output"] == nil
      ? ["portrait", "landscape"] : []
  }

  /// The usual container of who plays the output; `nil` if nobody is named.
  var container: String? {
    self["for"].flatMap { Destination(rawValue: $0.lowercased()) }?.containers.first?.rawValue
  }

  /// Returns the options, checked.
  ///
  /// - Parameter policy: The policy that was given. With one, the camera's gravity is the weakest signal by default.
  /// - Throws: `usage`, with the option as its location.
  func options(
    overwrites: Bool, policy: String? = nil
  ) throws(UprightError) -> TranscodeOptions {
    var given = given
    if policy != nil, self["frames"] == nil { given.append(.init("frames", .string("gravity"))) }
    do throws(UprightError) {
      var reader = try OptionReader(.object(given))
      var options = try TranscodeOptions(&reader)
      options.overwrites = overwrites
      return options
    } catch {
      guard Self.options.contains(where: { $0.name == error.location }) else { throw error }
      throw UprightError(
        error.code, error.message, at: "--\(error.location)", remedy: error.remedy)
    }
  }
}

extension TranscodeOption {
  /// The option for ArgumentParser.
  fileprivate var argument: Any {
    var names: NameSpecification = .init([.customLong(name)])
    if let alias { names = .init([.customLong(name), .customLong(alias)]) }
    let help = ArgumentHelp(.init(stringLiteral: description), valueName: placeholder ?? name)
    switch form {
    case .flag: return Flag<Bool>(wrappedValue: false, name: names, help: help)
    case .texts:
      return Option<[String]>(
        wrappedValue: [], name: names, parsing: .unconditionalSingleValue, help: help)
    case .number:
      return Option<String?>(name: names, parsing: .unconditional, help: help)
    case .word(let words):
      return Option<String?>(name: names, help: help, completion: .list(words))
    case .file(let endings):
      return Option<String?>(name: names, help: help, completion: .file(extensions: endings))
    case .text(let suggestions):
      return Option<String?>(
        name: names, help: help, completion: suggestions.isEmpty ? nil : .list(suggestions))
    }
  }

  /// The help, with the default if it doesn't say another.
  private var description: String {
    switch standard {
    case .null, .bool: return help
    case _ where help.contains("(default"): return help
    case .string(let text): return "\(help) (default: \(text))"
    default: return "\(help) (default: \(standard.compact))"
    }
  }
}
