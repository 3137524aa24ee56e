package import UprightOrientation

/// Decodes and re-encodes one audio stream of a file, for containers that can't carry the source's codec.
/// Used by one thread at a time.
package final class AudioTranscoder {
  private let decoder: AudioDecoder
  private let track: AudioTrackEncoder
  /// The position of the first sample; `nil` for that of the stream.
  private let start: Int64?

  /// Opens the decoder and the encoder. The sample rate and the channels are the source's.
  ///
  /// - Parameter start: The position at which the track begins, in samples. What is before is left out.
  /// - Throws: `unavailable` if a decoder or encoder isn't linked, `badData` if the stream can't be decoded.
  package init(
    stream: StreamInfo, encoderName: String, wantsGlobalHeader: Bool, start: Int64? = nil
  ) throws(UprightError) {
    self.start = start
    decoder = try AudioDecoder(stream: stream)
    guard decoder.rate > 0, decoder.layout.count > 0 else {
      throw UprightError(
        .badData, "\(stream.codecLabel) audio cannot be decoded: no sample rate or no channels",
        at: "stream \(stream.index)")
    }
    let encoder = try AudioEncoder(
      encoderName, rate: decoder.rate, layout: decoder.layout,
      wantsGlobalHeader: wantsGlobalHeader)
    track = try AudioTrackEncoder(encoder, .file(rate: encoder.format.rate), start: start)
  }

  /// The number of packets that couldn't be decoded so far.
  package var damagedPackets: Int { decoder.damagedPackets }

  /// Seconds per tick of the encoded packets. One tick is one sample.
  package var timeBase: Rational { track.encoder.timeBase }

  /// The number of samples in a packet, and of those that the encoder puts before the first one.
  package var frameSize: Int { track.encoder.frameSize }
  package var priming: Int { track.encoder.priming }

  /// Returns what a muxer must know.
  package func parameters() throws(UprightError) -> CodecParameters {
    try track.encoder.parameters()
  }

  /// Replaces what is missing before a position, in samples, by silence.
  package func fill(
    to position: Int64, emit: AudioTrackEncoder.Emit
  ) throws(UprightError) {
    try track.reach(position, isExpected: false, emit: emit)
  }

  /// Sends one packet, or `nil` at the end, and passes every resulting packet to `emit`.
  package func transcode(
    _ packet: consuming Packet?, emit: AudioTrackEncoder.Emit
  ) throws(UprightError) {
    let format = track.encoder.format
    if let packet {
      try decoder.decode(packet, as: format) { (frame) throws(UprightError) in
        var frame = frame
        if let start, let position = frame.pts, position < start {
          guard start - position < frame.count else { return }
          frame.removeFirst(start - position)
          frame.pts = start
        }
        try track.add(frame, emit: emit)
      }
    } else {
      try decoder.finish(as: format) { (frame) throws(UprightError) in
        try track.add(frame, emit: emit)
      }
      try track.finish(emit: emit)
    }
  }
}
