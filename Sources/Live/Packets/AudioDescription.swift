public import UprightOrientation
package import UprightMediaIO

/// What a decoder or a container needs to know about audio packets.
public struct AudioDescription: Sendable {
  /// An audio codec.
  public enum Codec: String, Sendable, CaseIterable {
    /// AAC (ISO/IEC 14496-3).
    case aac
    /// Opus (RFC 6716).
    case opus
    /// MPEG-1 or MPEG-2 audio, layer III.
    case mp3
    /// G.711, A-law.
    case pcma = "pcm_alaw"
    /// G.711, mu-law.
    case pcmu = "pcm_mulaw"
  }

  /// The codec.
  public let codec: Codec
  /// Samples per second.
  public let sampleRate: Int
  /// The number of channels.
  public let channels: Int
  /// The codec's configuration: an AudioSpecificConfig (ISO/IEC 14496-3) or an OpusHead (RFC 7845, 5.1). Empty
  /// if there is none.
  public let extradata: [UInt8]
  package let parameters: CodecParameters

  /// Describes packets.
  ///
  /// - Throws: `usage` for a sample rate or a number of channels that no codec has, `unavailable` if the linked
  ///   FFmpeg doesn't know the codec.
  public init(
    _ codec: Codec, sampleRate: Int, channels: Int, extradata: [UInt8] = []
  ) throws(UprightError) {
    guard (1000...768_000).contains(sampleRate), (1...64).contains(channels) else {
      throw UprightError(
        .usage, "audio of \(sampleRate) Hz and \(channels) channels", at: "audio",
        remedy: "give 1000 to 768000 Hz and 1 to 64 channels")
    }
    self.codec = codec
    self.sampleRate = sampleRate
    self.channels = channels
    self.extradata = extradata
    parameters = try CodecParameters(
      audioCodec: codec.rawValue, sampleRate: sampleRate, channels: channels, extradata: extradata)
  }

  /// The description of a track; `nil` for a codec that isn't listed here.
  init?(_ parameters: CodecParameters) {
    guard let codec = Codec(rawValue: parameters.codecName) else { return nil }
    self.codec = codec
    sampleRate = parameters.sampleRate
    channels = parameters.channels
    extradata = parameters.extradata
    self.parameters = parameters
  }

  /// Seconds per tick of the track's packets.
  var timeBase: Rational { Rational(1, sampleRate) }
}
