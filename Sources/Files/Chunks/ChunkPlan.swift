internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// A transcode that is divided into chunks, each of which another process can do: `upright plan`.
///
/// A chunk is a pure function of the plan and the input: with the same libraries and the same kind of machine, it
/// has the same bytes.
package struct ChunkPlan: Sendable {
  /// A piece of work, which makes one part of the output.
  package enum Chunk: Sendable {
    /// Frames are encoded, or copied if there is no reason to encode them.
    case frames(Frames)
    /// All tracks but the video are copied or encoded.
    ///
    /// - Parameter digest: The digest of their packets in the input.
    case tracks(digest: String)
    /// The input can't be divided, and the whole output is made.
    case whole
  }

  /// A run of frames.
  package struct Frames: Sendable {
    /// The indexes of the frames.
    package let frames: Range<Int>
    /// The time of the first frame on the media timeline, in seconds.
    package let start: Double
    /// The time of the first frame of the next chunk; `nil` for the end of the input.
    package let end: Double?
    /// Why the frames are encoded, as a text for the user; `nil` if they are copied.
    package let reason: String?
    /// The digest of the frames' packets in the input.
    let digest: String
  }

  /// What is known of the frames before any is decoded.
  struct Video: Sendable {
    /// The index of the stream in the input.
    let stream: Int
    /// Seconds per tick of the times.
    let timeBase: Rational
    /// Presentation times of all frames, ascending.
    let times: [Int64]
    let changes: [SignalScan.Change]
    /// Warnings about the signals, for the user.
    let warnings: [String]
    /// The alignment of frames on the canvas, in samples.
    let alignment: PixelSize
    /// What encoded frames need beside copied ones; `nil` if no frames are copied.
    let join: Join?
  }

  /// What frames that are encoded need to be in one track with copied ones.
  struct Join: Sendable {
    /// Decoding times of all packets, in ticks of the input.
    let decodingTimes: [Int64]
    /// The NAL units of the input's parameter sets.
    let sets: [[UInt8]]
    /// The reordering depth of the input.
    let reordering: Int?
    /// The parameters that copied and encoded frames of the same size share.
    let shared: CodecParameters
  }

  /// A still picture that is drawn into the frames.
  struct Still: Sendable, Hashable {
    let path: String
    let digest: String
  }

  /// The version of the format of plans.
  package static let version = 1
  /// The length of a chunk in seconds if none is requested.
  package static let standardDuration = 60.0

  /// The versions of everything that the output's bytes depend on.
  let tools: [String]
  /// The path or URL of the input.
  package let input: String
  let inputFormat: String?
  let identity: InputIdentity
  /// The path of the output.
  package let output: String
  let outputFormat: String?
  let container: OutputContainer
  let options: TranscodeOptions
  let policy: PolicyDocument
  /// The events; `nil` if the input's signals are the events.
  let events: [RotationEvent]?
  let stills: [Still]
  /// Why frames are encoded or copied, as a text for the user.
  package let reason: String
  /// The pieces of work, in the order of the output. Empty if the input is copied as a whole, which `join` does.
  package let chunks: [Chunk]
  /// `nil` if no chunk is a run of frames.
  let video: Video?
  /// The decisions of the policy and the formats; `nil` if they aren't known before the frames are decoded.
  let timeline: JSONValue?
  /// Warnings for the user.
  package let warnings: [String]

  /// The number of the chunk that makes all tracks but the video; `nil` if there is none.
  var tracksChunk: Int? {
    chunks.firstIndex { if case .tracks = $0 { true } else { false } }
  }

  /// Returns the request of a session that this plan describes.
  ///
  /// - Parameters:
  ///   - input: Where the input is now.
  ///   - output: A name of the output. Its container is the plan's.
  func request(input: String, output: String, overwrites: Bool) throws(UprightError)
    -> TranscodeRequest
  {
    var options = options
    options.overwrites = overwrites
    return try TranscodeRequest(
      input: input, output: output, inputFormat: inputFormat, outputFormat: outputFormat,
      options: options, policy: policy, events: events.map { .list($0) } ?? .none)
  }
}
