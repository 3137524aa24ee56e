package import UprightOrientation
package import UprightMediaIO
internal import UprightSignals

/// Decoder parameters for streams received over RTP.
extension RTPCodec {
  /// The name of libavcodec's decoder if its default one is unsuitable. For a VP9 picture with several
  /// spatial layers, all marked as shown, the default decoder outputs every layer; libvpx outputs only the
  /// highest.
  package var decoderName: String? { self == .vp9 ? "libvpx-vp9" : nil }

  /// Returns the stream parameters from a keyframe, or `nil` if it does not decode to a frame.
  ///
  /// - Parameter sets: Parameter sets from the session description, with start codes.
  package func parameters(
    ofKeyframe keyframe: [UInt8], sets: [UInt8]
  ) throws(UprightError) -> CodecParameters? {
    // The packet belongs to no stream yet; only its bytes are used.
    let none = StreamInfo(
      index: 0, kind: .video, parameters: try CodecParameters(naming: rawValue), timeBase: .one)
    let packet = try Packet(keyframe, stream: none, pts: 0, isKey: true)
    return try CodecParameters.ofVideo(
      codec: rawValue, decoderName: decoderName, keyframe: packet, extradata: sets)
  }

  /// Returns the parameters of an audio stream, which are known before its first packet.
  package func audioParameters() throws(UprightError) -> CodecParameters {
    switch self {
    // Opus in RTP is always 48 kHz and two channels, whatever a packet contains (RFC 7587, 7).
    case .opus:
      try CodecParameters(
        audioCodec: "opus", sampleRate: 48_000, channels: 2, extradata: OpusPacket.identification)
    case .pcma: try CodecParameters(audioCodec: "pcm_alaw", sampleRate: 8000, channels: 1)
    default: try CodecParameters(audioCodec: "pcm_mulaw", sampleRate: 8000, channels: 1)
    }
  }
}
