internal import CUprightMalloc
internal import UprightMediaIO

/// Settings of the whole process. Nothing else in this package changes any: it installs no log callback, sets
/// no option of `malloc`, handles no signal and changes no environment variable. A host calls these functions
/// if it wants what they do.
public enum UprightRuntime {
  /// The release of FFmpeg whose libraries this process uses, such as `5.1.9-0+deb12u1`.
  public static var ffmpegRelease: String { Libraries.release }

  /// The importance of a message, most important first.
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
  }

  /// Passes the messages of FFmpeg's libraries and of the encoders below them to `sink`, and nothing to standard
  /// error. It replaces FFmpeg's log callback (`av_log_set_callback`), so messages of contexts that the host
  /// itself created with FFmpeg arrive there too. An `UprightError` then has the last error that the libraries
  /// logged in its message.
  ///
  /// Without it, FFmpeg's callback stays as it is, and the messages of coders, demuxers and muxers that this
  /// package opens have levels above `AV_LOG_TRACE`, so that no callback prints them. FFmpeg's default callback
  /// still prints errors of connections, of a playlist's entries and of damaged frame headers. `av_log_set_level`
  /// turns those off.
  ///
  /// SVT-AV1 writes to standard error without asking FFmpeg. Only the environment variable `SVT_LOG=0` turns
  /// that off.
  ///
  /// - Parameters:
  ///   - level: The least important level that is passed on.
  ///   - sink: Receives one line, without its line break. It is called on any thread, by several at a time, and
  ///     must not block for long, because a decoder or an encoder waits for it.
  public static func installLog(
    upTo level: LogLevel = .warning, to sink: @escaping @Sendable (LogLevel, String) -> Void
  ) {
    Libraries.installLog(upTo: level.rawValue) { number, line in
      sink(LogLevel.allCases.last { $0.rawValue <= number } ?? .panic, line)
    }
  }

  /// Keeps blocks of at least 256 KiB out of `malloc`'s heaps, so that they are mapped from the system, and
  /// returned to it when they are freed. Call it when the process starts.
  ///
  /// Every change of the rotation opens one encoder and closes another. Once large blocks have been freed, glibc
  /// takes the next ones from its heaps. Each thread has one, and memory that is free there stays with the
  /// process.
  public static func keepLargeBlocksApart() { mallopt(M_MMAP_THRESHOLD, 256 << 10) }

  /// Returns the unused pages of `malloc`'s heaps to the system. A process that runs for months calls it now and
  /// then. It takes about a millisecond.
  public static func returnFreeMemory() { malloc_trim(0) }
}
