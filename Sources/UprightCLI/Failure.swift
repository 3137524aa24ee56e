internal import ArgumentParser
internal import Glibc
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// An error that ends the process: one line on standard error and an exit status of sysexits.h.
struct Failure {
  /// The root command, whose parser's errors these are.
  private let root: any ParsableCommand.Type
  /// The line, without the line break: the error, its location and the remedy.
  let line: String
  /// The error as JSON.
  let json: JSONValue
  /// The exit status.
  let status: Int32
  private let asJSON: Bool
  /// ArgumentParser's clean exit (help, version and completions), or an exit status that is thrown after its
  /// errors were printed. `nil` for an error.
  private let clean: (any Error)?

  /// - Parameter interrupted: The exit status if the caller stopped the command.
  init(
    _ error: any Error, of root: any ParsableCommand.Type, asJSON: Bool, interrupted: Int32? = nil
  ) {
    self.root = root
    self.asJSON = asJSON
    let media: UprightError
    switch error {
    case let error as UprightError: media = error
    case let error as PolicyError: media = UprightError(error, code: .badData)
    case let error as ExitCode:
      (line, json, status, clean) = ("", .null, error.rawValue, error)
      return
    default:
      if root.exitCode(for: error) == .success {
        (line, json, status, clean) = ("", .null, 0, error)
        return
      }
      media = Self.usage(root.message(for: error), of: root.configuration.commandName ?? "upright")
    }
    clean = nil
    status = Self.status(media.code, interrupted)
    line = "upright: error: \(media)".printable
    json = [
      "error": .string(media.message), "where": .string(media.location),
      "remedy": .string(media.remedy), "code": .string(media.code.name),
      "exit": .integer(Int(status)),
    ]
  }

  /// Writes the error to standard error, as a line of text or as JSON.
  func print() { StandardError.write((asJSON ? json.compact : line) + "\n") }

  func exit() -> Never {
    if let clean { root.exit(withError: clean) }
    print()
    Glibc.exit(status)
  }

  /// Splits ArgumentParser's message, of one or several lines, into error, location and remedy.
  private static func usage(_ text: String, of program: String) -> UprightError {
    var lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }.map(String.init)
    if let first = lines.first, first.hasPrefix("Error: ") { lines[0] = String(first.dropFirst(7)) }
    // The permitted values follow on separate lines.
    let values = lines.dropFirst().prefix { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }
    var message = lines.first ?? text
    var remedy = "see \(program) --help"
    if !values.isEmpty { remedy = "use " + values.joined(separator: ", ") }
    if let sentence = message.firstRange(of: ". Please provide one of ") {
      if values.isEmpty {
        remedy = "use " + message[sentence.upperBound...].replacing("'", with: "")
        if remedy.last == "." { remedy.removeLast() }
      }
      message = String(message[..<sentence.lowerBound])
    }
    if message.last == "." { message.removeLast() }
    return UprightError(.usage, message, at: option(in: message), remedy: remedy)
  }

  /// Returns the first option that the message quotes, or else the last quoted argument.
  private static func option(in message: String) -> String {
    let quoted = message.split(separator: "'", omittingEmptySubsequences: false)
    let words = quoted.indices.filter { $0 % 2 == 1 }.map { quoted[$0] }
    let word = words.first { $0.hasPrefix("-") } ?? words.last ?? ""
    return String(word.split(separator: " ").first ?? "the command line")
  }

  /// The exit status of each kind of error, that of sysexits.h, and its meaning for the help.
  private static let statuses: [(code: UprightError.Code, status: Int32, meaning: String)] = [
    (.usage, 64, "An option or an argument is invalid."),
    (.badData, 65, "The input is damaged, or has another format than expected."),
    (.noInput, 66, "The input doesn't exist or can't be read."),
    (.unavailable, 69, "A codec, container or protocol is missing from the FFmpeg libraries."),
    (.fault, 70, "An internal error."),
    (.cannotCreate, 73, "The output can't be created."),
    (.inputOutput, 74, "Reading or writing failed: disk full, pipe closed, connection lost."),
    (.configuration, 78, "A setting of the service is invalid."),
  ]

  /// The exit statuses for the help, a line each, but for those after a signal.
  static var statusList: String {
    let errors = statuses.map { "  \($0.status)   \($0.meaning)" }
    return (["  0    Success."] + errors).joined(separator: "\n")
  }

  private static func status(_ code: UprightError.Code, _ interrupted: Int32?) -> Int32 {
    if code == .cancelled { return interrupted ?? 130 }
    return statuses.first { $0.code == code }?.status ?? 70
  }
}
