internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

/// Encodes audio. Used by one thread at a time.
package final class AudioEncoder {
  private let context: UnsafeMutablePointer<AVCodecContext>
  /// The format of the samples that can be encoded.
  package let format: AudioFormat

  /// An encoder for any of libavcodec's audio codecs.
  ///
  /// - Parameters:
  ///   - name: libavcodec's name of the encoder.
  ///   - rate: The requested samples per second. The encoder's actual rate is in `format`.
  ///   - layout: The requested channels. Those of `format` include them if the codec can.
  ///   - bitrate: Bits per second. `nil` leaves it to the encoder.
  ///   - wantsGlobalHeader: Whether the packets have no headers; the extradata is then in the parameters.
  /// - Throws: `unavailable` if the encoder isn't linked or rejects the rate or the channels.
  package init(
    _ name: String, rate: Int, layout: ChannelLayout, bitrate: Int? = nil, wantsGlobalHeader: Bool
  ) throws(UprightError) {
    guard let codec = avcodec_find_encoder_by_name(name) else {
      throw UprightError(.unavailable, "the linked FFmpeg has no \(name) encoder")
    }
    var made = QuietContext.codec(codec)
    guard let context = made else { throw outOfMemory("encoder") }
    context.pointee.sample_rate = Self.closestRate(codec, to: CInt(clamping: rate))
    let fitting = layout.fitting(name)
    fitting.set(&context.pointee.ch_layout)
    context.pointee.sample_fmt = upright_codec_sample_formats(codec)?[0] ?? AV_SAMPLE_FMT_FLTP
    if let bitrate { context.pointee.bit_rate = Int64(bitrate) }
    context.pointee.time_base = AVRational(num: 1, den: context.pointee.sample_rate)
    if wantsGlobalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
    // FFmpeg's manual (aac, aac_coder): better and much faster than the default above 64 kbit/s. The
    // default's search costs more than encoding the video of a small stream.
    if let bitrate, bitrate > 64_000 {
      av_opt_set(context.pointee.priv_data, "aac_coder", "fast", 0)
    }
    let code = avcodec_open2(context, codec, nil)
    guard code >= 0 else {
      avcodec_free_context(&made)
      throw UprightError(
        .unavailable, "\(name) rejects this audio: \(explain(code))",
        at: "\(rate) Hz, \(fitting.count) channels")
    }
    self.context = context
    format = AudioFormat(context)
  }

  /// Returns `rate` if the encoder supports it, else the lowest supported rate above it, else the highest
  /// supported rate.
  private static func closestRate(_ codec: UnsafePointer<AVCodec>, to rate: CInt) -> CInt {
    guard let list = upright_codec_sample_rates(codec) else { return rate }
    var rates: [CInt] = []
    while list[rates.count] != 0 { rates.append(list[rates.count]) }
    if rates.contains(rate) { return rate }
    return rates.filter { $0 > rate }.min() ?? rates.max() ?? rate
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&pointer)
  }

  /// Seconds per tick of the packets. One tick is one sample.
  package var timeBase: Rational { Rational(context.pointee.time_base) }

  /// The number of samples in a full frame.
  package var frameSize: Int {
    context.pointee.frame_size > 0 ? Int(context.pointee.frame_size) : 1024
  }

  /// The number of samples in the first packets before the audio begins.
  package var priming: Int { max(0, Int(context.pointee.initial_padding)) }

  /// Returns what a muxer must know.
  package func parameters() throws(UprightError) -> CodecParameters {
    try CodecParameters(of: context)
  }

  /// Encodes a frame in the encoder's format whose `pts` is set. All frames but the last have `frameSize`
  /// samples.
  func encode(
    _ frame: borrowing AudioFrame, emit: AudioTrackEncoder.Emit
  ) throws(UprightError) {
    try send(frame.raw, emit)
  }

  /// Passes on the remaining packets. Nothing can be encoded after that.
  func finish(emit: AudioTrackEncoder.Emit) throws(UprightError) {
    try send(nil, emit)
  }

  private func send(
    _ frame: UnsafeMutablePointer<AVFrame>?, _ emit: AudioTrackEncoder.Emit
  ) throws(UprightError) {
    try check(avcodec_send_frame(context, frame)) {
      UprightError(.fault, "audio cannot be encoded: \(explain($0))")
    }
    while true {
      let packet = try Packet()
      guard avcodec_receive_packet(context, packet.raw) >= 0 else { return }
      packet.raw.pointee.time_base = context.pointee.time_base
      try emit(packet)
    }
  }
}
