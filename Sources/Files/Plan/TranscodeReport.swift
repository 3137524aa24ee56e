public import UprightOrientation
public import UprightPolicy

/// The result of a transcode or of a copy with `TagSession`: the report of `--report`.
public struct TranscodeReport: Sendable, Hashable {
  /// What was read.
  public struct Input: Sendable, Hashable {
    /// The input as it was named: a path, a URL, or `-` for standard input.
    public let path: String
    /// FFmpeg's name of the video codec, such as `h264`.
    public let codec: String
    /// The size in which the frames are shown, before the turn: cropped, with square pixels. If it changes, it is
    /// the largest that lasts, or that at the start if nothing is encoded.
    public let size: PixelSize
    /// The number of video frames that were read.
    public let frames: Int
    /// The duration of the video in seconds, as the container declares it. `nil` if it declares none.
    public let duration: Double?
  }

  /// What was written.
  public struct Output: Sendable, Hashable {
    /// The file that was written. It differs from the named output if it is partial or one of several files.
    /// If there are several, it is the named output, which doesn't exist.
    public let path: String
    /// The files that were written, in order: one for each format if the output is split, otherwise `path`
    /// alone. The segments of a playlist aren't listed.
    public let files: [String]
    /// The sizes of the video in pixels, in order: one for each sequence of frames that share an encoder.
    public let sizes: [PixelSize]
    /// The number of frames.
    public let frames: Int
    /// The number of those frames that were copied without decoding.
    public let copiedFrames: Int
    /// The time from the first frame to the end of the last one, in seconds.
    public let duration: Double
    /// What the output lacks of the input, as texts for the user: streams with their reasons, tags, and
    /// metadata of frames.
    public let dropped: [String]

    /// The number of frames that were encoded.
    public var encodedFrames: Int { frames - copiedFrames }
  }

  /// How long the run took.
  public struct Timing: Sendable, Hashable {
    /// The elapsed time in seconds.
    public let wall: Double
    /// The user and system time of the whole process so far, in seconds.
    public let cpu: Double
    /// The time of each stage. The stages run in parallel, and a stage that wasn't needed has 0.
    public let stages: Stages
  }

  /// The time spent in each stage, in seconds.
  public struct Stages: Sendable, Hashable {
    /// Reading and decoding.
    public var decode = 0.0
    /// Turning, scaling and drawing.
    public var orient = 0.0
    /// Encoding.
    public var encode = 0.0
  }

  /// A run that was stopped before the end of its input.
  public struct Stop: Sendable, Hashable {
    /// The duration of the output in seconds.
    public let at: Double
    /// The duration that the output would have had, in seconds. `nil` if it is unknown.
    public let duration: Double?
  }

  /// What was read.
  public let input: Input
  /// What was written.
  public let output: Output
  /// The stream formats in order of time. At least one.
  public let formats: [FormatChange]
  /// The decisions of the policy, one for each event, in the order of the events.
  public let decisions: [RotationDecision]
  /// Warnings for the user.
  public let warnings: [String]
  /// How long the run took.
  public let timing: Timing
  /// Where the run was stopped. `nil` if it reached the end of its input.
  public let stopped: Stop?

  /// Whether the run was stopped, so that the output ends early. It can be played.
  public var isPartial: Bool { stopped != nil }
}
