public import RotationPolicy
public import UprightPipeline

/// What a live session is made of: one input, any number of outputs, a policy.
public struct LiveConfiguration: Sendable {
  /// Where the stream comes from.
  public var input: LiveInput
  /// Where it goes. Those of the same format share one encode.
  public var outputs: [LiveOutput]
  /// How the app turns.
  public var policy: PolicyDocument
  /// As for a clip; what cannot be live is refused.
  public var options: TranscodeOptions
  /// Seconds of an HLS segment, and between IDRs; `options.segmentDuration` is for whole clips.
  public var segmentSeconds = 2.0
  /// Seconds without input after which the session is over.
  public var inputTimeout = 60.0
  /// `http://user:password@host:port` that an http or https input goes through; nil: none.
  public var httpProxy: String?
  /// What may wait and how large a picture may be.
  public var limits = LiveLimits()

  /// A session with the usual bounds; without options and policy, the defaults.
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

/// Where a live stream comes from.
public enum LiveInput: Sendable {
  /// An address that libavformat opens and that is opened again when it ends.
  case pull(url: String)
  /// A file, read at the speed of its timestamps, once.
  case file(path: String)
  /// A publisher that was accepted elsewhere: FLV as it comes, once for each connection.
  case published(PublishedFeed)
  /// RTP that an SDP describes, on sockets of our own.
  case rtp(description: String)
}

/// Where a live stream goes.
public enum LiveOutput: Sendable, Hashable {
  /// A sliding window of segments in a folder: `index.m3u8` and what it names.
  case hls(folder: String)
  /// rtmp, rtmps, srt, udp or tcp; FLV to the first two, MPEG-TS to the others.
  case push(url: String)
  /// A file; its name says the container.
  case file(path: String)
}

/// Bounds of one session.
public struct LiveLimits: Sendable, Hashable {
  /// Pictures of more pixels are refused: 8192x4352.
  public var pixels = 8192 * 4352
  /// Seconds that a session may be behind its input before it leaves pictures out.
  public var lag = 1.0
  /// Seconds of packets that wait for a slow output before it is sent on to the next IDR.
  public var outputSeconds = 4.0
  /// Bytes of packets that wait for one output.
  public var outputBytes = 16 << 20

  /// The defaults.
  public init() {}
}
