public import UprightPolicy
public import UprightMedia

/// The configuration of a live session: one input, any number of outputs and a policy.
public struct LiveConfiguration: Sendable {
  /// The source of the stream.
  public var input: LiveInput
  /// The outputs. Outputs with the same format share one encode.
  public var outputs: [LiveOutput]
  /// The ids of the outputs, in their order. Those without one are named `output-1`, `output-2` and so on.
  public var outputIDs: [String] = []
  /// The canvases of the outputs, in their order; `nil`, or none, for `options.canvas`. If that is `dual`, an HLS
  /// output has both canvases, and every other output must have `portrait` or `landscape` here.
  public var outputCanvases: [CanvasRule?] = []
  /// Whether an input that is a file starts again from its beginning when it ends. Media time goes on.
  public var repeatsFile = false
  /// The rotation policy.
  public var policy: PolicyDocument
  /// The options, as for a file. Options that a live session can't support throw an error.
  public var options: TranscodeOptions
  /// The duration of an HLS segment, and the distance between IDRs, in seconds. `options.segmentDuration`
  /// applies to files only.
  public var segmentSeconds = 2.0
  /// The parts of the HLS output, for a server with low latency; `nil` for none. The output must have segments in
  /// fragmented MP4 and no B-frames.
  public var lowLatency: LowLatencyHLS?
  /// The session ends after this time without input, in seconds.
  public var inputTimeout = 60.0
  /// Whether a session of a publisher waits for its first frame without a time limit. If not, it fails after
  /// `inputTimeout` without a publisher.
  public var waitsForPublisher = true
  /// The media time at the start, in seconds, of a session that goes on with another one's stream; `nil` for a new
  /// stream, whose first frame is at 0.
  public var startTime: Double?
  /// The proxy for an http or https input, as `http://user:password@host:port`; `nil` for none.
  public var httpProxy: String?
  /// Where HLS outputs have their files, with the epoch of this writer; `nil` for their folders. Called for each
  /// playlist.
  public var hlsStore: (epoch: Int, make: @Sendable () -> any HLSStore)?
  /// The limits on queues and frame sizes.
  public var limits = LiveLimits()

  /// Creates a configuration with the default limits.
  public init(
    input: LiveInput, outputs: [LiveOutput], policy: PolicyDocument = PolicyDocument(),
    options: TranscodeOptions = TranscodeOptions()
  ) {
    self.input = input
    self.outputs = outputs
    self.policy = policy
    self.options = options
  }
}

/// The source of a live stream.
public enum LiveInput: Sendable {
  /// A URL that libavformat opens. It is reopened when the stream ends.
  case pull(url: String)
  /// A file, read once, at the speed of its timestamps.
  case file(path: String)
  /// A publisher that was accepted elsewhere. It delivers FLV, one stream per connection.
  case published(PublishedFeed)
  /// RTP that a WebRTC server on this machine forwards, of one publisher after another.
  case forwarded(ForwardedFeed)
  /// RTP as described by an SDP, received on this process's own sockets.
  case rtp(description: String)
  /// RTP packets that the program has received.
  case datagrams(RTPFeed)
  /// Access units that the program has. A `PacketSession` takes them too, without the rules of a live session.
  case packets(PacketFeed)
}

/// The destination of a live stream.
public enum LiveOutput: Sendable, Hashable {
  /// A sliding window of segments in a folder: `index.m3u8` and the files that it lists.
  case hls(folder: String)
  /// An rtmp, rtmps, rtsp, srt, udp or tcp URL. The first two receive FLV; an RTSP server receives RTP over
  /// TCP, and each change of format as parameter sets in band, within one session; the others receive MPEG-TS.
  case push(url: String)
  /// A file. Its extension selects the container.
  case file(path: String)
  /// Files that never replace an existing one: `take.mp4`, then `take-2.mp4` and so on. The next one begins at
  /// each limit, each time the output is started again, and where the format changes if the container can't
  /// carry that.
  case recording(path: String, limits: RecordingLimits)
  /// Encoded packets, in memory: H.264 with parameter sets in band and in the description, unless the options
  /// name another codec, and AAC.
  case packets(MemoryOutput<LivePacket>)
  /// HLS segments, in memory.
  case segments(MemoryOutput<LiveSegment>)
  /// A stream of MPEG-TS or FLV, in memory, in pieces of any size.
  case bytes(OutputContainer, MemoryOutput<[UInt8]>)
}

extension LiveInput {
  /// The number of packets that were lost before they came to the input, as its publisher's acceptor has told.
  var lostPackets: Int { if case .published(let feed) = self { feed.lostPackets } else { 0 } }

  /// Closes an input that the program or a publisher writes to. It accepts nothing more.
  func close() {
    switch self {
    case .published(let feed): feed.close()
    case .forwarded(let feed): feed.close()
    case .datagrams(let feed): feed.datagrams.close(discarding: true)
    case .packets(let feed): feed.packets.close(discarding: true)
    case .pull, .file, .rtp: break
    }
  }
}

extension LiveOutput: Codable {
  private enum CodingKeys: String, CodingKey { case hls, push, file, recording, limits }

  /// Writes an output that isn't in memory.
  ///
  /// - Throws: `EncodingError` for one in memory, and the encoder's errors.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .hls(let folder): try container.encode(folder, forKey: .hls)
    case .push(let url): try container.encode(url, forKey: .push)
    case .file(let path): try container.encode(path, forKey: .file)
    case .recording(let path, let limits):
      try container.encode(path, forKey: .recording)
      try container.encode(limits, forKey: .limits)
    case .packets, .segments, .bytes:
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "the output is in memory"))
    }
  }

  /// Reads what `encode(to:)` has written. Throws a `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let folder = try container.decodeIfPresent(String.self, forKey: .hls) {
      self = .hls(folder: folder)
    } else if let url = try container.decodeIfPresent(String.self, forKey: .push) {
      self = .push(url: url)
    } else if let path = try container.decodeIfPresent(String.self, forKey: .file) {
      self = .file(path: path)
    } else {
      self = .recording(
        path: try container.decode(String.self, forKey: .recording),
        limits: try container.decode(RecordingLimits.self, forKey: .limits))
    }
  }
}

extension LiveOutput {
  /// Whether it consists of segments that begin with keyframes.
  var hasSegments: Bool {
    switch self {
    case .hls, .segments: true
    case .push, .file, .recording, .packets, .bytes: false
    }
  }
}

/// The limits of one session.
public struct LiveLimits: Sendable, Hashable, Codable {
  /// The largest number of pixels in a frame; the default is 8192x4352. Larger frames are rejected.
  public var pixels = 8192 * 4352
  /// How far a session may fall behind its input before it drops frames, in seconds.
  public var lag = 1.0
  /// The duration of packets that may wait for a slow output, in seconds. Above that, packets up to the next
  /// IDR are dropped.
  public var outputSeconds = 4.0
  /// The number of bytes of packets that may wait for one output.
  public var outputBytes = 16 << 20
  /// The number of outputs that a running session may have.
  public var outputs = 64

  /// Creates the default limits.
  package init() {}
}
