internal import Foundation
public import Orientation
internal import OrientationSignals
public import RotationPolicy
internal import UprightContainers
public import UprightMediaIO

/// One clip copied bit for bit, with another word on which way up its pictures are: `upright tag`.
///
/// Whatever the clip said of it before is gone: the track's matrix, the `rotate` tag, SEI messages. So
/// one truth stands, and readers of different signals agree.
public final class TagSession: Sendable {
  /// What a tagged clip can be told.
  public struct Options: Sendable, Hashable {
    /// What stands the stored pictures upright; `up` removes every signal.
    public var orientation: ImageOrientation
    /// Whether H.264 and HEVC pictures say it themselves, beside the container.
    public var writesMessages = false
    /// Whether GPS positions stay in the metadata.
    public var keepsLocation = false
    /// Whether damage in the input is an error.
    public var isStrict = false
    /// Whether an output that is there already may be replaced.
    public var overwrites = false

    /// The defaults.
    public init(orientation: ImageOrientation) { self.orientation = orientation }
  }

  /// A path, a URL, or `-`.
  public let input: String
  /// A path, a URL, or `-`.
  public let output: String
  let options: Options
  /// What stands the stored pictures upright.
  public var orientation: ImageOrientation { options.orientation }
  let inputFormat: String?
  /// libavformat's name of the output's container.
  let muxer: String
  let interrupt = Interrupt()
  let writingInterrupt = Interrupt()
  let unfinished = UnfinishedFiles()

  /// - Parameters:
  ///   - outputFormat: the container where the name does not say it.
  /// - Throws: `usage` for an output whose container cannot be copied into.
  public init(
    input: String, output: String, inputFormat: String? = nil, outputFormat: String? = nil,
    options: Options
  ) throws(MediaError) {
    self.input = input
    self.output = output
    self.inputFormat = inputFormat
    self.options = options
    muxer = try Self.muxer(output, format: outputFormat)
  }

  /// An elementary stream's own names; else a container's.
  private static func muxer(_ output: String, format: String?) throws(MediaError) -> String {
    switch format?.lowercased() ?? URL(fileURLWithPath: output).pathExtension.lowercased() {
    case "h264", "264", "avc": return "h264"
    case "hevc", "265", "h265": return "hevc"
    default: break
    }
    let container = try OutputContainer(target: output, format: format)
    guard container != .hls && container != .y4m else {
      throw MediaError(
        .usage, "nothing can be copied into \(container.rawValue) here", at: output,
        remedy: "tag a file, and let transcode make the stream of it")
    }
    return container.muxer
  }

  /// Stops reading; the output is closed so that it plays. Any thread.
  public func stop() { interrupt.raise() }

  /// Removes what is not finished. For a process that is about to end without waiting for `run`.
  public func abandon() {
    interrupt.raise()
    writingInterrupt.raise()
    unfinished.removeAll()
  }

  /// Copies the clip and returns what was done. Blocks.
  ///
  /// - Throws: as spec 4's exit codes are split; no half output is left under the final name.
  public func run() throws(MediaError) -> TagReport {
    try OutputCheck.check(output: output, input: input, mayReplace: options.overwrites)
    return try TagRun(self).run()
  }
}

/// What `upright tag` did.
public struct TagReport: Sendable {
  /// In the form of a transcode's report; nothing was encoded.
  public let json: JSONValue
  /// What the user should know.
  public let warnings: [String]
  /// Frames that were copied.
  public let frames: Int
  /// The file that was made: the one that was named, or a partial one after `stop`.
  public let output: String
}
