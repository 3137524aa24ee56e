internal import ArgumentParser
internal import Foundation
internal import MediaIO
internal import RotationPolicy

/// An error on its way out of the process: one line on standard error, and spec 4's exit status.
struct Failure {
  private let line: String
  private let json: JSONValue
  private let status: Int32
  private let asJSON: Bool
  /// ArgumentParser's own way out: help, version and completions are no errors.
  private let clean: (any Error)?

  init(_ error: any Error, asJSON: Bool) {
    self.asJSON = asJSON
    var media: MediaError
    switch error {
    case let error as MediaError: media = error
    case let error as PolicyError: media = MediaError(.badData, error.message, at: error.path, remedy: error.remedy)
    case let error as ExitCode:
      (line, json, status, clean) = ("", .null, error.rawValue, error)
      return
    default:
      if UprightCommand.exitCode(for: error) == .success {
        (line, json, status, clean) = ("", .null, 0, error)
        return
      }
      media = MediaError(
        .usage, Self.firstLine(UprightCommand.message(for: error)), remedy: "see upright --help")
    }
    clean = nil
    status = Self.status(media.code)
    line = "upright: error: \(media)".replacingOccurrences(of: "\n", with: " ")
    json = [
      "error": .string(media.message), "where": .string(media.location),
      "remedy": .string(media.remedy), "code": .string(media.code.name),
      "exit": .integer(Int(status)),
    ]
  }

  func exit() -> Never {
    if let clean { UprightCommand.exit(withError: clean) }
    StandardError.write((asJSON ? json.compact : line) + "\n")
    Foundation.exit(status)
  }

  private static func firstLine(_ text: String) -> String {
    let line = text.split(separator: "\n").first.map(String.init) ?? text
    return line.hasPrefix("Error: ") ? String(line.dropFirst(7)) : line
  }

  /// Sysexits, as spec 4 lists them.
  private static func status(_ code: MediaError.Code) -> Int32 {
    switch code {
    case .usage: 64
    case .badData: 65
    case .noInput: 66
    case .unavailable: 69
    case .cannotCreate: 73
    case .inputOutput: 74
    case .cancelled: Interruption.shared.status ?? 130
    default: 70
    }
  }
}

/// Unbuffered text on standard error.
enum StandardError {
  static var isTerminal: Bool { isatty(2) == 1 }

  static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
