public import UprightOrientation
internal import UprightSignals
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// Copies an input without re-encoding and sets the orientation of its frames: `upright tag`.
///
/// All earlier orientation metadata is removed: the track's matrix, the `rotate` tag, SEI messages. Only one
/// orientation remains, so that readers of different signals agree.
public final class TagSession: Sendable {
  /// The options of `upright tag`.
  public struct Options: Sendable, Hashable {
    /// The orientation that makes the stored frames upright; `up` removes every signal.
    public var orientation: ImageOrientation
    /// Whether SEI messages are written to H.264 and HEVC frames, in addition to the container's field.
    public var writesMessages = false
    /// Whether GPS positions are kept in the metadata.
    public var keepsLocation = false
    /// Whether damaged input is an error.
    public var isStrict = false
    /// Whether an existing output file may be replaced.
    public var overwrites = false

    /// Creates default options.
    public init(orientation: ImageOrientation) { self.orientation = orientation }
  }

  /// The input: a path, a URL, or `-` for standard input.
  public let input: String
  /// The output: a path, a URL, or `-` for standard output.
  public let output: String
  let options: Options
  /// The orientation that makes the stored frames upright.
  public var orientation: ImageOrientation { options.orientation }
  let inputFormat: String?
  /// libavformat's name of the output container.
  let muxer: String
  let interrupt = Interrupt()
  let writingInterrupt = Interrupt()
  let unfinished = UnfinishedFiles()

  /// Creates a session. Opens nothing.
  ///
  /// - Parameters:
  ///   - input: A path, a URL that libavformat supports, or `-` for standard input.
  ///   - output: A path, a URL, or `-` for standard output. Its name determines the container.
  ///   - inputFormat: libavformat's name of the input's format, if it can't be detected.
  ///   - outputFormat: The container, if the output's name doesn't determine it.
  ///   - options: The orientation, and what else is written.
  /// - Throws: `usage` if frames can't be copied to the output's container.
  public init(
    input: String, output: String, inputFormat: String? = nil, outputFormat: String? = nil,
    options: Options
  ) throws(UprightError) {
    self.input = input
    self.output = output
    self.inputFormat = inputFormat
    self.options = options
    muxer = try Self.muxer(output, format: outputFormat)
  }

  /// Returns the muxer of an elementary stream, or of a container.
  private static func muxer(_ output: String, format: String?) throws(UprightError) -> String {
    switch format?.lowercased() ?? FilePath(output).fileExtension.lowercased() {
    case "h264", "264", "avc": return "h264"
    case "hevc", "265", "h265": return "hevc"
    default: break
    }
    let container = try OutputContainer(target: output, format: format)
    guard container != .hls && container != .y4m else {
      throw UprightError(
        .usage, "tag cannot write \(container.rawValue)", at: output,
        remedy: "tag a file, then use transcode to convert it")
    }
    return container.muxer
  }

  /// Stops reading. The output is finished so that it is playable. Can be called on any thread.
  public func stop() { interrupt.raise() }

  /// Removes unfinished output. Use it if the process exits without waiting for `run`.
  package func abandon() {
    interrupt.raise()
    writingInterrupt.raise()
    unfinished.removeAll()
  }

  /// Copies the input and returns a report, in which all frames are copied and there is one format: how a
  /// player shows the output. Blocks.
  ///
  /// - Throws: `UprightError`. No partial output is left under the final name.
  public func run() throws(UprightError) -> TranscodeReport {
    try OutputCheck.check(output: output, input: input, mayReplace: options.overwrites)
    return try TagRun(self).run()
  }
}
