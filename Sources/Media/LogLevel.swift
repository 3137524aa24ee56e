/// The importance of a message of FFmpeg's libraries, most important first. The numbers are `AV_LOG_...`.
public enum LogLevel: Int32, Sendable, Hashable, Comparable, CaseIterable {
  /// The process is about to end.
  case panic = 0
  /// A library can't continue.
  case fatal = 8
  /// An operation failed, or data is lost.
  case error = 16
  /// Something is unusual and may be wrong.
  case warning = 24
  /// Encoders and muxers describe what they do.
  case info = 32
  /// More of the same.
  case verbose = 40
  /// For developers of FFmpeg.
  case debug = 48
  /// Every step of parsers and decoders.
  case trace = 56

  /// Whether `a` is more important than `b`.
  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }

  /// The level of a number of FFmpeg's, which may be between two.
  package init(number: Int32) {
    self = Self.allCases.last { $0.rawValue <= number } ?? .panic
  }
}
