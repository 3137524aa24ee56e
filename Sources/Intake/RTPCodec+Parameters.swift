internal import Orientation
package import UprightMediaIO
internal import UprightRTP

/// What a decoder must know of streams that come in RTP.
extension RTPCodec {
  /// libavcodec's decoder where its usual one would not do. Of a VP9 picture in layers, all of which are
  /// marked as shown, its own hands out every layer, libvpx the highest.
  package var decoderName: String? { self == .vp9 ? "libvpx-vp9" : nil }

  /// What a keyframe says of its stream; nil where no picture comes of it.
  ///
  /// - Parameter sets: parameter sets from the session's description, with start codes.
  package func parameters(
    ofKeyframe keyframe: [UInt8], sets: [UInt8]
  ) throws(UprightError) -> CodecParameters? {
    // The packet belongs to no stream yet; only its bytes are looked at.
    let none = StreamInfo(
      index: 0, kind: .video, parameters: try CodecParameters(naming: rawValue), timeBase: .one)
    let packet = try Packet(keyframe, stream: none, pts: 0, isKey: true)
    return try CodecParameters.ofPictures(
      codec: rawValue, decoderName: decoderName, keyframe: packet, extradata: sets)
  }

  /// What is known of a stream of sound before its first packet.
  package func audioParameters() throws(UprightError) -> CodecParameters {
    switch self {
    // Whatever a packet holds, RTP's Opus is 48 kHz and two channels (RFC 7587, 7).
    case .opus:
      try CodecParameters(
        soundOf: "opus", sampleRate: 48_000, channels: 2, extradata: OpusPacket.identification)
    case .pcma: try CodecParameters(soundOf: "pcm_alaw", sampleRate: 8000, channels: 1)
    default: try CodecParameters(soundOf: "pcm_mulaw", sampleRate: 8000, channels: 1)
    }
  }
}
