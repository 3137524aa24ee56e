public import UprightOrientation
public import UprightMedia
public import UprightFrames
public import UprightMediaIO

/// One encode of an output that has several.
public struct PlannedRendition: Sendable, Hashable {
  /// The name, such as `portrait` or `landscape-720p`.
  public let name: String
  /// The file or the media playlist.
  public let path: String
  /// The rate control.
  public let rate: VideoEncoder.RateControl
}

/// What a session would do: `--dry-run`.
public struct TranscodePlan: Sendable, Hashable {
  /// What would be read.
  public struct Input: Sendable, Hashable {
    /// The input as it was named: a path, a URL, or `-` for standard input.
    public let path: String
    /// FFmpeg's name of the video codec, such as `h264`.
    public let codec: String
    /// The size in which the frames are shown at the start, before the turn: cropped, with square pixels.
    public let size: PixelSize
    /// The duration of the video in seconds. `nil` if unknown.
    public let duration: Double?
  }

  /// What would be written.
  public struct Output: Sendable, Hashable {
    /// The output as it was named: a path, a URL, or `-` for standard output.
    public let path: String
    /// The container.
    public let container: OutputContainer
    /// The name of the video codec: that of the input if frames are copied, otherwise a `VideoCodec`.
    public let codec: String
  }

  /// Consecutive frames that are either all copied or all encoded.
  public struct Part: Sendable, Hashable {
    /// The time of the first frame on the media timeline, in seconds.
    public let start: Double
    /// The end on the media timeline, in seconds, excluding it. `nil` for the end of the input.
    public let end: Double?
    /// The number of frames. `nil` if the input wasn't analysed in advance.
    public let frames: Int?
    /// Whether the frames are copied without decoding.
    public let isCopied: Bool
    /// Why the frames are copied or encoded, as a text for the user.
    public let reason: String
  }

  /// A track of the output besides the video.
  public struct Track: Sendable, Hashable {
    /// What happens to the packets of a track.
    public enum Action: String, Sendable, CaseIterable {
      /// They are written as they were read.
      case copy = "copied"
      /// They are decoded and encoded, because the container can't store their codec.
      case encode = "re-encoded"
      /// Their text is written in the container's format for subtitles.
      case convert = "converted"
    }

    /// The index of the stream in the input, from 0.
    public let stream: Int
    /// The kind of content.
    public let kind: StreamKind
    /// FFmpeg's name of the codec in the input.
    public let codec: String
    /// What happens to the packets.
    public let action: Action
  }

  /// What would be read.
  public let input: Input
  /// What would be written.
  public let output: Output
  /// What `--for` decides, as a text for the user; `nil` without it.
  public let destination: String?
  /// The shape of the output's frames: one, or portrait and landscape.
  public let canvases: [FrameCanvas]
  /// The encodes of an output that has several, all those of a canvas in a row; empty for an output that has
  /// one.
  public let renditions: [PlannedRendition]
  /// What happens to the video, in order and without gaps. At least one part. If there are several, the
  /// first starts at 0.
  public let parts: [Part]
  /// The maximum number of parts that are encoded at the same time, at least 1.
  public let concurrency: Int
  /// Whether HDR is converted to BT.709 in 8 bits.
  public let isToneMapped: Bool
  /// The tracks besides the video, in the order of the output.
  public let tracks: [Track]
  /// What the output would lack of the input, as texts for the user: streams with their reasons, and tags.
  public let dropped: [String]
  /// Warnings for the user.
  public let warnings: [String]

  /// The shape of the output's frames; the first of two.
  public var canvas: FrameCanvas { canvases[0] }

  /// The number of frames that are copied. `nil` if the input wasn't analysed in advance.
  public var copiedFrames: Int? { frames(of: \.isCopied) }

  /// The number of frames that are encoded. `nil` if the input wasn't analysed in advance.
  public var encodedFrames: Int? { frames { !$0.isCopied } }

  private func frames(of isCounted: (Part) -> Bool) -> Int? {
    let counts = parts.compactMap { part in part.frames.map { isCounted(part) ? $0 : 0 } }
    return counts.count == parts.count ? counts.reduce(0, +) : nil
  }
}
