internal import UprightOrientation
internal import UprightMediaIO

/// One file that an output of a live session writes, or has written.
public struct LiveRecording: Sendable, Hashable, Codable {
  /// The state of a file.
  public enum State: String, Sendable, CaseIterable, Codable {
    /// It is being written, and is playable up to its last segment.
    case recording
    /// It is complete.
    case finished
    /// It could not be written to its end. It is playable up to its last segment, if it has one.
    case failed
  }

  /// The path of the file.
  public var path: String
  /// The state.
  public var state = State.recording
  /// Why it has failed; otherwise `nil`.
  public var reason: String?
  /// The media time of its first frame in the session, in seconds. In the file that frame is at 0.
  public var start: Double
  /// The duration so far, in seconds.
  public var duration = 0.0
  /// The number of frames in it.
  public var frames = 0
  /// The number of frames that the output did not take while the file was written.
  public var dropped = 0

  /// Creates the description of a file that is still empty.
  public init(path: String, start: Double) {
    self.path = path
    self.start = start
  }
}

/// When a recording goes on in another file: at the first keyframe at which a limit has been reached.
public struct RecordingLimits: Sendable, Hashable, Codable {
  /// The duration of a file in seconds, 1 to 86400; `nil` for no limit.
  public var seconds: Double?
  /// The size of a file in bytes, 1 MiB to 1 TiB, without what the container adds; `nil` for no limit.
  public var bytes: Int?

  /// The durations that are valid, in seconds.
  public static let durations = 1.0...86_400
  /// The sizes that are valid, in bytes.
  public static let sizes = 1 << 20...1 << 40

  /// Creates limits. Without any, a recording is one file.
  public init(seconds: Double? = nil, bytes: Int? = nil) {
    self.seconds = seconds
    self.bytes = bytes
  }

  /// - Throws: `usage` if a limit isn't valid.
  func check() throws(UprightError) {
    if let seconds, !Self.durations.contains(seconds) {
      throw UprightError(.usage, "files of \(seconds) s", remedy: "use 1 to 86400 s")
    }
    if let bytes, !Self.sizes.contains(bytes) {
      throw UprightError(.usage, "files of \(bytes) bytes", remedy: "use 1 MiB to 1 TiB")
    }
  }
}
