public import UprightOrientation
internal import UprightSignals
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO
internal import UprightPolicy

/// Sets the orientation of a file's frames without decoding them: `upright tag`.
///
/// In a container that stores an orientation, the bytes that say it are changed, and no others: in a copy of the file,
/// or in the file itself. Another container, MPEG-TS and elementary streams are written anew with the same packets and a
/// single orientation signal, so that readers of different signals agree.
public final class TagSession: Sendable {
  /// The options of `upright tag`.
  public struct Options: Sendable, Hashable {
    /// The orientation that makes the stored frames upright; `up` removes every signal.
    public var orientation: ImageOrientation
    /// Whether SEI messages are written to H.264 and HEVC frames, in addition to the container's field.
    public var writesMessages = false
    /// Whether damaged input is an error.
    public var isStrict = false
    /// Whether an existing output file may be replaced.
    public var overwrites = false
    /// Whether the output has the input's time of modification.
    public var keepsTime = false
    /// Whether a stereoscopic or spherical video is turned although its description becomes wrong.
    public var isForced = false
    /// A file to which old bytes are appended before a file is changed in place, for `TagUndo`.
    public var record: String?

    /// Creates default options.
    public init(orientation: ImageOrientation) { self.orientation = orientation }
  }

  /// How the output is made.
  enum Target: Hashable, Sendable {
    /// A copy of the input, in a container of this name that libavformat writes, if the input has another one.
    case container(String)
    /// A copy of a still image.
    case still
    /// The input itself.
    case inPlace
  }

  /// The input: a path, a URL, or `-` for standard input.
  public let input: String
  /// The output: a path, a URL, or `-` for standard output. The input's path, if the file itself is changed.
  public let output: String
  let options: Options
  /// The orientation that makes the stored frames upright.
  public var orientation: ImageOrientation { options.orientation }
  let (inputFormat, outputFormat): (String?, String?)
  let target: Target
  let interrupt: Interrupt
  let writingInterrupt = Interrupt()
  let unfinished: UnfinishedFiles

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
    (self.inputFormat, self.outputFormat) = (inputFormat, outputFormat)
    (interrupt, unfinished) = (Interrupt(), UnfinishedFiles())
    self.options = options
    target = try Self.target(output, format: outputFormat)
  }

  /// Creates a session that changes a file itself. Opens nothing.
  ///
  /// - Throws: `usage` for options that only a new file can have.
  public init(inPlace path: String, options: Options) throws(UprightError) {
    (input, output) = (path, path)
    (inputFormat, outputFormat) = (nil, nil)
    (interrupt, unfinished) = (Interrupt(), UnfinishedFiles())
    self.options = options
    target = .inPlace
    if options.writesMessages {
      throw UprightError(
        .usage, "SEI messages can't be inserted in place", at: "--sei",
        remedy: "write a new file with -o")
    }
  }

  /// Creates a session that does what a transcode asks for whose frames are copied.
  init(_ request: TranscodeRequest, options: Options) throws(UprightError) {
    (input, output) = (request.input, request.output)
    (inputFormat, outputFormat) = (request.inputFormat, request.container.rawValue)
    (interrupt, unfinished) = (request.interrupt, request.unfinished)
    self.options = options
    target = .container(request.container.muxer)
  }

  private static func target(_ output: String, format: String?) throws(UprightError) -> Target {
    let name = format?.lowercased() ?? FilePath(output).fileExtension.lowercased()
    switch name {
    case "h264", "264", "avc": return .container("h264")
    case "hevc", "265", "h265": return .container("hevc")
    case "qt": return .container("mov")
    case "3gp", "3g2", "3gpp": return .container("mp4")
    default: break
    }
    if PatchedFormat.isStill(fileExtension: name) { return .still }
    let container = try OutputContainer(target: output, format: format)
    guard container != .hls && container != .y4m else {
      throw UprightError(
        .usage, "tag cannot write \(container.rawValue)", at: output,
        remedy: "tag a file, then use transcode to convert it")
    }
    return .container(container.muxer)
  }

  /// Stops reading. An output that is written anew is finished so that it is playable; a copy is removed, and a file
  /// that is changed in place is completed. Can be called on any thread.
  public func stop() { interrupt.raise() }

  /// Removes unfinished output. Use it if the process exits without waiting for `run`.
  package func abandon() {
    interrupt.raise()
    writingInterrupt.raise()
    unfinished.removeAll()
  }

  /// Sets the orientation and returns a report, in which all frames are copied and there is one format: how a
  /// player shows the output. Blocks.
  ///
  /// - Throws: `UprightError`. No partial output is left under the final name.
  public func run() throws(UprightError) -> TranscodeReport {
    if target == .inPlace { return try PatchRun(self).runInPlace() }
    try OutputCheck.check(output: output, input: input, mayReplace: options.overwrites)
    if let patch = try PatchRun.copying(self) { return try patch.run() }
    guard case .container(let muxer) = target else {
      throw UprightError(
        .usage, "the output's name is that of another kind of file than the input", at: output,
        remedy: "give it the input's extension")
    }
    return try TagRun(self, muxer: muxer).run()
  }

  /// The warning about positions in the metadata.
  static let locationNote = "the metadata says where it was taken (GPS), and that is kept"

  /// The report's format: how a player shows frames of `size`.
  func format(of size: PixelSize) -> FormatChange {
    let upright = orientation.applied(to: size)
    let device = DeviceOrientation(frameOf: size, lying: orientation)
    let format = StreamFormat(
      appOrientation: device.interface ?? .portrait, captureResolution: upright,
      encodeResolution: upright)
    return FormatChange(
      from: 0, format: format, firstFrame: 0, turn: orientation,
      transform: AffineMatrix(orientation, size: size))
  }
}

extension TagSession {
  /// Whether names with this extension are those of still images whose orientation can be set.
  package static func isStill(fileExtension: String) -> Bool {
    PatchedFormat.isStill(fileExtension: fileExtension)
  }

  /// The extension that the output's name has, or that the format stands for.
  var outputExtension: String {
    guard let outputFormat else { return FilePath(output).fileExtension.lowercased() }
    let names = ["matroska": "mkv", "mpegts": "ts"]
    return names[outputFormat.lowercased()] ?? outputFormat.lowercased()
  }
}
