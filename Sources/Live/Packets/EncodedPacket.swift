public import UprightOrientation
public import UprightPolicy
public import UprightMediaIO

/// A compressed frame, or a packet of audio, in memory, and its times.
public struct EncodedPacket: Sendable, Hashable {
  /// The access unit. H.264 and HEVC: NAL units with start codes, or with length fields if the stream's
  /// description has `extradata`. AV1: a temporal unit of OBUs. VP8 and VP9: a frame. Audio: an
  /// access unit of the codec, without ADTS or Ogg framing.
  public var bytes: [UInt8]
  /// The presentation time, in ticks of `timeBase`.
  public var pts: Int64
  /// The decoding time, in ticks of `timeBase`; `nil` if it equals `pts`.
  public var dts: Int64?
  /// The duration, in ticks of `timeBase`; 0 if unknown.
  public var duration: Int64
  /// Seconds per tick.
  public var timeBase: Rational
  /// Whether decoding can start here.
  public var isKey: Bool
  /// The coordination of video orientation that the RTP packets of the frame carried (3GPP TS 26.114, 7.4.5);
  /// `nil` if they carried none, which means that the last one applies.
  public var cvo: CVO?
  /// The track that the packet belongs to.
  public var track: MediaTrack

  /// Creates a packet.
  public init(
    _ bytes: [UInt8], pts: Int64, dts: Int64? = nil, duration: Int64 = 0, timeBase: Rational,
    isKey: Bool, cvo: CVO? = nil,
    track: MediaTrack = .video
  ) {
    self.bytes = bytes
    self.pts = pts
    self.dts = dts
    self.duration = duration
    self.timeBase = timeBase
    self.isKey = isKey
    self.cvo = cvo
    self.track = track
  }
}

/// The track of a packet.
public enum MediaTrack: Sendable, Hashable {
  /// The video track.
  case video
  /// The audio track.
  case audio
}

/// What a decoder or a container needs to know about video packets.
public struct VideoDescription: Sendable {
  /// A video codec.
  public enum Codec: String, Sendable, CaseIterable {
    /// H.264 (AVC).
    case h264
    /// H.265 (HEVC).
    case hevc
    /// VP8.
    case vp8
    /// VP9.
    case vp9
    /// AV1.
    case av1
  }

  /// The codec.
  public let codec: Codec
  /// The codec's configuration: avcC, hvcC, av1C or vpcC. Empty if everything is in band.
  public let extradata: [UInt8]
  /// The coded size; `nil` if only the packets contain it.
  public let size: PixelSize?
  package let parameters: CodecParameters

  /// Describes packets.
  ///
  /// - Throws: `unavailable` if the linked FFmpeg doesn't know the codec.
  public init(
    _ codec: Codec, extradata: [UInt8] = [], size: PixelSize? = nil
  ) throws(UprightError) {
    self.codec = codec
    self.extradata = extradata
    self.size = size
    parameters = try CodecParameters(
      videoCodec: codec.rawValue, size: size, extradata: extradata)
  }

  init(_ codec: Codec, size: PixelSize, _ parameters: CodecParameters) {
    self.codec = codec
    self.size = size
    self.parameters = parameters
    extradata = parameters.extradata
  }
}

/// An element of a packet session's output.
public enum PacketOutput: Sendable {
  /// The packets from here on have this format. The next packet is a keyframe if the size or the configuration
  /// is another one.
  case format(FormatChange, VideoDescription)
  /// A frame, turned and encoded, in the time base of the session, or a packet of audio, as it was sent.
  case packet(EncodedPacket)
  /// An event was decided.
  case decision(RotationDecision)
  /// An event that is not valid, such as one for a controller that the policy doesn't have, was ignored.
  case refused(UprightError)
}

/// How a `PacketSession` encodes. Every value has a default.
public struct EncodeOptions: Sendable {
  /// The codec: `h264`, `hevc`, `vp9` or `av1`.
  public var codec = VideoCodec.h264
  /// The rate control.
  public var rate = VideoEncoder.RateControl.constantQuality(nil)
  /// The encoder's preset; `nil` for the default of live encodes.
  public var speed: String?
  /// The longest time between keyframes, in seconds. Use `requestKeyframe` for others.
  public var keyframeSeconds = 2.0
  /// The frame rate for rate control, in frames per second.
  public var frameRate = Rational(30, 1)
  /// Further options of the encoder, by its names.
  public var encoderOptions: [String: String] = [:]

  /// The defaults.
  public init() {}
}
