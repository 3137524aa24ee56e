internal import CUprightMalloc
internal import UprightMediaIO
public import UprightMedia

/// Settings of the whole process. Nothing else in this package changes any: it installs no log callback, sets
/// no option of `malloc`, handles no signal and changes no environment variable. A host calls these functions
/// if it wants what they do.
public enum UprightRuntime {
  /// The release of FFmpeg whose libraries this process uses, such as `5.1.9-0+deb12u1`.
  public static var ffmpegRelease: String { Libraries.release }

  /// The importance of a message.
  public typealias LogLevel = UprightMedia.LogLevel

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
  /// What concerns a session that was made by `withLog` doesn't arrive here.
  ///
  /// - Parameters:
  ///   - level: The least important level that is passed on.
  ///   - sink: Receives one line, without its line break. It is called on any thread, by several at a time, and
  ///     must not block for long, because a decoder or an encoder waits for it.
  public static func installLog(
    upTo level: LogLevel = .warning, to sink: @escaping @Sendable (LogLevel, String) -> Void
  ) {
    LogScope.installHost(upTo: level.rawValue) { sink(LogLevel(number: $0), $1) }
  }

  /// Passes the messages of FFmpeg's libraries about what `body` makes to `sink`, and nothing of them to standard
  /// error: about each `LiveSession`, `PacketSession`, `UprightReader` or `TranscodeSession`, its input and its
  /// outputs, on whichever thread, until it ends.
  ///
  ///     let session = try UprightRuntime.withLog(to: { print("camera 3: \($1)") }) { try LiveSession(configuration) }
  ///
  /// Messages of libraries that don't say what they are about (scalers, parsers, connections) are recognised by the
  /// session's thread on which they are logged. As `installLog`, it replaces FFmpeg's log callback, for good; what
  /// concerns no such session goes to `installLog`'s sink, or else to the callback that FFmpeg has by default.
  ///
  /// - Parameters:
  ///   - level: The least important level that is passed on.
  ///   - sink: As for `installLog`. It is kept until the last session of `body` has ended.
  ///   - body: Makes sessions. FFmpeg's messages on this thread meanwhile go to `sink` too.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public static func withLog<Result, Thrown: Error>(
    upTo level: LogLevel = .warning, to sink: @escaping @Sendable (LogLevel, String) -> Void,
    _ body: () throws(Thrown) -> Result
  ) throws(Thrown) -> Result {
    let scope = LogScope(upTo: level.rawValue, to: { sink(LogLevel(number: $0), $1) })
    return try LogScope.run(in: scope, body)
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
