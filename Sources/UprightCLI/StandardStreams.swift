internal import Glibc
internal import UprightOrientation

/// Writes results to standard output. A failed write is an error.
enum StandardOutput {
  /// - Throws: `inputOutput` if the reader closed the pipe or the disk is full.
  static func write(_ text: String) throws(UprightError) {
    guard write(Array(text.utf8), to: 1) else {
      throw failure("standard output")
    }
  }

  /// Writes all of `bytes`. Returns `false` and sets `errno` if that fails.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if written < 0 {
        if errno == EINTR { continue }
        return false
      }
      rest = rest.dropFirst(written)
    }
    return true
  }

  /// Returns the error for `errno` after a failed write to `name`.
  static func failure(_ name: String) -> UprightError {
    switch errno {
    case EPIPE: UprightError(.inputOutput, "writing failed: the reader closed the pipe", at: name)
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
  /// The text on one line, with control characters replaced by spaces: file names and tags of media may
  /// contain line breaks and terminal escapes.
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

/// Writes unbuffered text to standard error.
enum StandardError {
  static var isTerminal: Bool { isatty(2) == 1 }

  /// Writes a line that starts with `upright: `. The text is made printable.
  static func printLine(_ line: String) { write("upright: \(line)".printable + "\n") }

  static func write(_ text: String) {
    // A failure of standard error can't be reported anywhere.
    _ = StandardOutput.write(Array(text.utf8), to: 2)
  }
}
