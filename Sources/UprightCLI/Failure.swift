internal import ArgumentParser
internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightFiles
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting

/// An error that ends the process: one line on standard error, and an exit status from sysexits.
struct Failure {
  /// The line, without its end: what happened, where, and what to do.
  let line: String
  /// The error as JSON.
  let json: JSONValue
  /// The exit status that it asks for.
  let status: Int32
  private let asJSON: Bool
  /// ArgumentParser's own way out: help, version and completions are no errors.
  private let clean: (any Error)?

  init(_ error: any Error, asJSON: Bool) {
    self.asJSON = asJSON
    let media: UprightError
    switch error {
    case let error as UprightError: media = error
    case let error as PolicyError: media = UprightError(error, code: .badData)
    case let error as ExitCode:
      (line, json, status, clean) = ("", .null, error.rawValue, error)
      return
    default:
      if UprightCommand.exitCode(for: error) == .success {
        (line, json, status, clean) = ("", .null, 0, error)
        return
      }
      media = Self.usage(UprightCommand.message(for: error))
    }
    clean = nil
    status = Self.status(media.code)
    line = "upright: error: \(media)".printable
    json = [
      "error": .string(media.message), "where": .string(media.location),
      "remedy": .string(media.remedy), "code": .string(media.code.name),
      "exit": .integer(Int(status)),
    ]
  }

  /// Writes the line.
  func tell() { StandardError.write((asJSON ? json.compact : line) + "\n") }

  func exit() -> Never {
    if let clean { UprightCommand.exit(withError: clean) }
    tell()
    Foundation.exit(status)
  }

  /// ArgumentParser's words, several lines perhaps, in our order: what, where, what to do.
  private static func usage(_ text: String) -> UprightError {
    var lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    if let first = lines.first, first.hasPrefix("Error: ") { lines[0] = String(first.dropFirst(7)) }
    // A list of values follows its sentence line by line.
    let values = lines.dropFirst().prefix { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }
    var message = lines.first ?? text
    var remedy = "see upright --help"
    if !values.isEmpty { remedy = "use " + values.joined(separator: ", ") }
    if let sentence = message.range(of: ". Please provide one of ") {
      if values.isEmpty {
        remedy = "use " + message[sentence.upperBound...].replacing("'", with: "")
        if remedy.last == "." { remedy.removeLast() }
      }
      message = String(message[..<sentence.lowerBound])
    }
    if message.last == "." { message.removeLast() }
    return UprightError(.usage, message, at: option(in: message), remedy: remedy)
  }

  /// The first option or argument that the message quotes.
  private static func option(in message: String) -> String {
    let quoted = message.split(separator: "'", omittingEmptySubsequences: false)
    let words = quoted.indices.filter { $0 % 2 == 1 }.map { quoted[$0] }
    let word = words.first { $0.hasPrefix("-") } ?? words.last ?? ""
    return String(word.split(separator: " ").first ?? "the command line")
  }

  /// The exit status of each kind of error (sysexits.h; 128 and its number after a signal).
  private static func status(_ code: UprightError.Code) -> Int32 {
    switch code {
    case .usage: 64
    case .badData: 65
    case .noInput: 66
    case .unavailable: 69
    case .cannotCreate: 73
    case .inputOutput: 74
    case .configuration: 78
    case .cancelled: Interruption.shared.status ?? 130
    default: 70
    }
  }
}
