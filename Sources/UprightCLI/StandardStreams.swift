internal import Foundation
internal import Orientation
internal import UprightMediaIO

/// What was asked for goes to standard output, and every byte of it counts.
enum StandardOutput {
  /// - Throws: `inputOutput` where a reader went away or a disk is full.
  static func write(_ text: String) throws(UprightError) {
    guard write(Array(text.utf8), to: 1) else {
      throw failure("standard output")
    }
  }

  /// Writes all of `bytes`; false with `errno` where that fails.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes {
        unsafe Foundation.write(descriptor, $0.baseAddress, $0.count)
      }
      if written < 0 {
        if errno == EINTR { continue }
        return false
      }
      rest = rest.dropFirst(written)
    }
    return true
  }

  /// What `errno` says of a write into `name`.
  static func failure(_ name: String) -> UprightError {
    switch errno {
    case EPIPE: UprightError(.inputOutput, "writing failed: the reader went away", at: name)
    case ENOSPC:
      UprightError(
        .inputOutput, "writing failed: the disk is full", at: name, remedy: "free some space")
    default:
      UprightError(
        .inputOutput, "writing failed: \(unsafe String(cString: strerror(errno)))", at: name)
    }
  }
}

extension String {
  /// The text on one line, without control characters: names of files and tags of media may hold line
  /// breaks and a terminal's escapes.
  var printable: String {
    var line = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      let isControl = [.control, .lineSeparator, .paragraphSeparator].contains(
        scalar.properties.generalCategory)
      line.append(isControl ? " " : scalar)
    }
    return String(line)
  }
}

/// Unbuffered text on standard error.
enum StandardError {
  static var isTerminal: Bool { isatty(2) == 1 }

  /// Writes a line. What comes from files is made printable.
  static func tell(_ line: String) { write("upright: \(line)".printable + "\n") }

  static func write(_ text: String) {
    // Where even this fails there is nobody left to tell.
    _ = StandardOutput.write(Array(text.utf8), to: 2)
  }
}
