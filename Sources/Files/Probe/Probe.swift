public import UprightOrientation
public import UprightMedia
public import UprightMediaIO

/// All orientation signals in a file over time: `upright probe`.
public struct Probe: Sendable, Hashable {
  /// A stream of the input.
  public struct Stream: Sendable, Hashable {
    /// What is known of a video stream.
    public struct Video: Sendable, Hashable {
      /// The size of the stored frames in pixels, as the container declares it.
      public let size: PixelSize
      /// The size in which the frames are shown at the start, before the turn: cropped, with square pixels, and
      /// scaled by the display matrix.
      public let shownSize: PixelSize
      /// The sample aspect ratio, width to height, with the scale of the display matrix. 1:1 if unknown.
      public let sampleAspectRatio: Rational
      /// The number of frames that the container declares. `nil` if it declares none.
      public let frames: Int?
      /// The track's display matrix. `nil` if there is none.
      public let displayMatrix: DisplayMatrix?
      /// The legacy `rotate` tag, in degrees clockwise. `nil` if there is none.
      public let rotateTag: Int?
      /// The transfer function of HDR, `PQ` or `HLG`; `nil` for a standard dynamic range.
      public let dynamicRange: String?
    }

    /// What is known of an audio stream.
    public struct Audio: Sendable, Hashable {
      /// Samples per second.
      public let sampleRate: Int
      /// The number of channels.
      public let channels: Int
    }

    /// The index of the stream in the input, from 0.
    public let index: Int
    /// The kind of content.
    public let kind: StreamKind
    /// FFmpeg's name of the codec, such as `h264`; `none` if it doesn't know the codec.
    public let codec: String
    /// The container's four-character code for the codec, such as `mebx`. Characters that aren't printable
    /// ASCII are dots.
    public let codecTag: String
    /// The duration in seconds. `nil` if unknown.
    public let duration: Double?
    /// `nil` unless the stream is video or a cover picture.
    public let video: Video?
    /// `nil` unless the stream is audio.
    public let audio: Audio?
  }

  /// A change of the signals, or of the frame size, at a frame.
  public struct Signal: Sendable, Hashable {
    /// What changes.
    public enum Content: Sendable, Hashable {
      /// A signal begins, or begins to be applied because one of higher precedence has ended. `isApplied` is
      /// `false` while a signal of higher precedence is present.
      case begins(OrientationSignal, isApplied: Bool)
      /// The signal of a source ends.
      case ends(OrientationSignal.Source)
      /// The size in which the frames are shown, before the turn, changes.
      case size(PixelSize)
    }

    /// The time of the frame on the media timeline, in seconds.
    public let seconds: Double
    /// The index of the frame in presentation order, from 0.
    public let frame: Int
    /// What changes.
    public let content: Content

    /// The signal that begins. `nil` if one ends, or if the size changes.
    public var signal: OrientationSignal? {
      if case .begins(let signal, _) = content { signal } else { nil }
    }

    /// Whether a signal begins that is applied.
    public var isApplied: Bool {
      if case .begins(_, let isApplied) = content { isApplied } else { false }
    }

    /// The source whose signal begins or ends. `nil` if the size changes.
    public var source: OrientationSignal.Source? {
      switch content {
      case .begins(let signal, _): signal.source
      case .ends(let source): source
      case .size: nil
      }
    }
  }

  /// The input as it was named: a path, a URL, or `-` for standard input.
  public let input: String
  /// FFmpeg's name of the input's format, such as `mov,mp4,m4a,3gp,3g2,mj2`.
  public let format: String
  /// The duration of the whole input in seconds, also where the streams have none of their own (Matroska). `nil` if unknown.
  public let duration: Double?
  /// The streams of the input, in its order.
  public let streams: [Stream]
  /// The index of the stream whose signals are listed. `nil` if there is no video.
  public let videoStream: Int?
  /// The changes of the signals in order of time; of those of a frame, in order of precedence. The size of
  /// the first frame isn't listed.
  public let signals: [Signal]
  /// The readings of motion sensors in the input's metadata tracks (`gpmd` of GoPro, `camm` of Android).
  public let telemetry: [Telemetry]
  /// Warnings for the user: signals with invalid values, streams that change their codec.
  public let warnings: [String]

  /// The extensions, in lower case, of the files in a folder that are taken for videos. Playlists are left out because their
  /// segments are in the same folder, and Janus recordings because a call has several of them.
  public static let fileExtensions: Set<String> = [
    "mp4", "m4v", "mov", "qt", "3gp", "3g2", "mkv", "webm", "ts", "mts", "m2ts", "flv", "avi",
    "mpg", "mpeg", "vob", "m2t", "mxf", "dv", "ogv", "asf", "wmv", "h264", "264", "hevc", "h265",
    "265", "ivf", "obu",
    "y4m", "mjpeg", "mjpg",
  ]

  /// Reads all of `input`. Frames are decoded only if a signal can't be found otherwise.
  ///
  /// - Parameters:
  ///   - input: A path, a URL that libavformat supports, or `-` for standard input.
  ///   - format: libavformat's name of the input's format, if it can't be detected.
  /// - Throws: `noInput`, `badData`.
  public init(input: String, format: String? = nil) throws(UprightError) {
    let demuxer = try openSource(input, format: format)
    self.input = input
    self.format = demuxer.container.format
    duration = demuxer.container.duration?.seconds
    streams = demuxer.container.streams.map(Stream.init)
    videoStream = demuxer.bestStream(.video)?.index
    telemetry = try Self.telemetry(of: demuxer)
    guard videoStream != nil else {
      (signals, warnings) = ([], [])
      return
    }
    var scan = try SignalScan(demuxer)
    var log = SignalLog()
    var isEmpty = true
    while let change = try scan.next() {
      log.add(change)
      isEmpty = false
    }
    if isEmpty, let error = scan.error { throw error }
    signals = log.signals
    warnings = scan.warnings + ((demuxer as? Demuxer)?.losses ?? [])
  }
}

extension Probe.Stream {
  init(_ stream: StreamInfo) {
    index = stream.index
    kind = stream.kind
    codec = stream.codecName
    codecTag = stream.codecTag
    duration = stream.duration?.seconds
    video = stream.kind == .video ? Video(stream) : nil
    audio = stream.kind == .audio ? Audio(stream) : nil
  }
}

extension Probe.Stream.Video {
  init(_ stream: StreamInfo) {
    size = stream.parameters.size
    shownSize = stream.frameShape.shown
    sampleAspectRatio = stream.sampleAspectRatio
    frames = stream.frameCount > 0 ? stream.frameCount : nil
    displayMatrix = stream.displayMatrix
    rotateTag = stream.rotateTag
    dynamicRange = stream.parameters.dynamicRange
  }
}

extension Probe.Stream.Audio {
  init(_ stream: StreamInfo) {
    sampleRate = stream.parameters.sampleRate
    channels = stream.parameters.channels
  }
}
