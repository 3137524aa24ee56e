internal import CFFmpeg
internal import CFFmpegShims

/// A media error: what went wrong, where, and what to do about it.
///
/// Printed as one line, `what: where: what to do`.
public struct UprightError: Error, Sendable, Hashable {
  /// The class of an error. New codes may be added.
  public struct Code: Sendable, Hashable {
    /// A stable name for logs and JSON.
    public let name: String

    /// The call is invalid: an option, or two that contradict each other.
    public static let usage = Self(name: "usage")
    /// The input is malformed or has another format than expected.
    public static let badData = Self(name: "badData")
    /// The input doesn't exist or can't be read.
    public static let noInput = Self(name: "noInput")
    /// A required decoder, encoder, muxer or protocol is missing from the linked libraries.
    public static let unavailable = Self(name: "unavailable")
    /// An internal error.
    public static let fault = Self(name: "fault")
    /// The output can't be created.
    public static let cannotCreate = Self(name: "cannotCreate")
    /// Reading or writing failed after the start (disk full, broken pipe, connection lost).
    public static let inputOutput = Self(name: "inputOutput")
    /// A setting of the service is invalid.
    public static let configuration = Self(name: "configuration")
    /// Stopped by the caller.
    public static let cancelled = Self(name: "cancelled")
  }

  /// The class of the error.
  public let code: Code
  /// What happened.
  public let message: String
  /// The file, URL, line or option that the error is about.
  public let location: String
  /// What the user can do about it.
  public let remedy: String

  /// Creates an error. `location` and `remedy` may be empty.
  public init(_ code: Code, _ message: String, at location: String = "", remedy: String = "") {
    self.code = code
    self.message = message
    self.location = location
    self.remedy = remedy
  }
}

extension UprightError: CustomStringConvertible {
  /// The message, the location and the remedy, separated by colons. Empty parts are left out.
  public var description: String {
    [message, location, remedy].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

// MARK: - Checking FFmpeg's return codes

/// Returns FFmpeg's text for an error code.
func describe(_ code: CInt) -> String {
  var buffer = [CChar](repeating: 0, count: Int(AV_ERROR_MAX_STRING_SIZE))
  av_strerror(code, &buffer, buffer.count)
  return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Returns the most specific text for an error on this thread: FFmpeg's text for the code, and the library's
/// last error line if there is one.
func explain(_ code: CInt) -> String {
  let line = String(cString: upright_log_take_error())
  return line.isEmpty ? describe(code) : "\(describe(code)) (\(line))"
}

/// Returns `result` if it isn't negative, else throws the error that `error` returns for it.
@discardableResult
func check(_ result: CInt, _ error: (CInt) -> UprightError) throws(UprightError) -> CInt {
  if result < 0 { throw error(result) }
  return result
}

/// Returns the error for a failed allocation.
func outOfMemory(_ what: String) -> UprightError {
  UprightError(.fault, "out of memory", at: what)
}
