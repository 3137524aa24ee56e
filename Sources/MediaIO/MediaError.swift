internal import CFFmpeg
internal import CFFmpegShims

/// What went wrong with media, where, and what to do about it.
///
/// Printed as one line, `what: where: what to do`.
public struct MediaError: Error, Sendable, Hashable {
  /// The class of the failure. Open: new codes may come.
  public struct Code: Sendable, Hashable {
    /// A stable word for logs and JSON.
    public let name: String

    /// The call makes no sense: an option, or two that contradict each other.
    public static let usage = Self(name: "usage")
    /// The input's bytes are not what they say they are.
    public static let badData = Self(name: "badData")
    /// The input is not there or cannot be read.
    public static let noInput = Self(name: "noInput")
    /// A decoder, encoder, muxer or protocol that is needed is missing from the linked libraries.
    public static let unavailable = Self(name: "unavailable")
    /// Our own fault.
    public static let fault = Self(name: "fault")
    /// The output cannot be made.
    public static let cannotCreate = Self(name: "cannotCreate")
    /// Reading or writing failed on the way (disk full, broken pipe, connection lost).
    public static let inputOutput = Self(name: "inputOutput")
    /// A setting of the service cannot be used.
    public static let configuration = Self(name: "configuration")
    /// Stopped by the caller.
    public static let cancelled = Self(name: "cancelled")
  }

  /// The class of the failure.
  public let code: Code
  /// What happened.
  public let message: String
  /// The file, URL, line or option that it is about.
  public let location: String
  /// What the reader can do about it.
  public let remedy: String

  /// Makes an error; `location` and `remedy` may be empty.
  public init(_ code: Code, _ message: String, at location: String = "", remedy: String = "") {
    self.code = code
    self.message = message
    self.location = location
    self.remedy = remedy
  }
}

extension MediaError: CustomStringConvertible {
  /// What, where and what to do, with colons between; what is empty is left out.
  public var description: String {
    [message, location, remedy].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

// MARK: - The funnel every libav* return code goes through

/// FFmpeg's own words for an error code.
func describe(_ code: CInt) -> String {
  var buffer = [CChar](repeating: 0, count: Int(AV_ERROR_MAX_STRING_SIZE))
  av_strerror(code, &buffer, buffer.count)
  return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The most telling text for a failure on this thread: the library's last error line, if it wrote
/// one, and what the code means.
func explain(_ code: CInt) -> String {
  let line = String(cString: upright_log_take_error())
  return line.isEmpty ? describe(code) : "\(describe(code)) (\(line))"
}

/// Returns `result` when it is not negative, else throws what `error` makes of it.
@discardableResult
func check(_ result: CInt, _ error: (CInt) -> MediaError) throws(MediaError) -> CInt {
  if result < 0 { throw error(result) }
  return result
}

/// The error of an allocation that came back empty.
func outOfMemory(_ what: String) -> MediaError {
  MediaError(.fault, "out of memory", at: what)
}
