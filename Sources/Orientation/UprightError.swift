/// What went wrong, where, and what to do about it.
///
/// Printed as one line, `what: where: what to do`.
public struct UprightError: Error, Sendable {
  /// The class of an error. New codes may be added.
  public struct Code: Sendable, Hashable {
    /// A stable name for logs and JSON.
    public let name: String

    /// The code of a name that another process has sent.
    package init(name: String) { self.name = name }

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
    /// Another writer has taken over the output.
    public static let superseded = Self(name: "superseded")
    /// A call of the C interface breaks one of its rules.
    package static let misuse = Self(name: "invalid")
    /// Another call is using a handle of the C interface.
    package static let busy = Self(name: "busy")
  }

  /// The class of the error.
  public let code: Code
  /// What happened.
  public let message: String
  /// The file, URL, line or option that the error is about.
  public let location: String
  /// What the user can do about it.
  public let remedy: String
  /// The error that caused this one, if there is one.
  public let cause: (any Error)?
  /// The library's own report, if an FFmpeg library failed.
  public var library: LibraryReport?
  /// The value of `errno`, if a system call failed.
  package var systemError: Int32?

  /// An FFmpeg library's error code and its text.
  public struct LibraryReport: Sendable, Hashable, Codable {
    /// The negative code, as `AVERROR` makes it.
    public let code: Int32
    /// What `av_strerror` says of it.
    public let text: String

    /// Creates a report.
    package init(code: Int32, text: String) {
      self.code = code
      self.text = text
    }
  }

  /// Creates an error. `location` and `remedy` may be empty.
  public init(
    _ code: Code, _ message: String, at location: String = "", remedy: String = "",
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.location = location
    self.remedy = remedy
    self.cause = cause
  }
}

extension UprightError {
  /// The same error for a caller that gives options by name and not on a command line: `--crf` is `crf`.
  ///
  /// - Parameter group: What the names of options in `location` are preceded by.
  public func namingOptions(in group: String = "") -> UprightError {
    func named(_ text: String) -> String {
      text.split(separator: " ", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("--") ? $0.dropFirst(2) : $0 }.joined(separator: " ")
    }
    let option = location.dropFirst(2).prefix { $0 != " " && $0 != "=" }
    var error = UprightError(
      code, named(message), at: location.hasPrefix("--") ? group + option : location,
      remedy: named(remedy), cause: cause)
    (error.library, error.systemError) = (library, systemError)
    return error
  }
}

extension UprightError {
  /// Returns this error with the value of `errno`.
  package func failing(with systemError: Int32) -> UprightError {
    var error = self
    error.systemError = systemError
    return error
  }
}

extension UprightError: Hashable {
  /// Equal in everything but the cause.
  public static func == (a: UprightError, b: UprightError) -> Bool {
    a.code == b.code && a.message == b.message && a.location == b.location
      && a.remedy == b.remedy && a.library == b.library && a.systemError == b.systemError
  }

  /// Hashes everything but the cause.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
    hasher.combine(location)
    hasher.combine(remedy)
    hasher.combine(library)
    hasher.combine(systemError)
  }
}

extension UprightError: CustomStringConvertible {
  /// The message, the location and the remedy, separated by colons. Empty parts are left out.
  public var description: String {
    [message, location, remedy].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

extension UprightError: Codable {
  private enum CodingKeys: String, CodingKey { case code, message, location, remedy, library }

  /// Writes the error without its cause. Throws what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code.name, forKey: .code)
    try container.encode(message, forKey: .message)
    try container.encode(location, forKey: .location)
    try container.encode(remedy, forKey: .remedy)
    try container.encodeIfPresent(library, forKey: .library)
  }

  /// Reads what `encode(to:)` has written. Throws a `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      Code(name: try container.decode(String.self, forKey: .code)),
      try container.decode(String.self, forKey: .message),
      at: try container.decode(String.self, forKey: .location),
      remedy: try container.decode(String.self, forKey: .remedy))
    library = try container.decodeIfPresent(LibraryReport.self, forKey: .library)
  }
}
