internal import CFFmpeg
internal import CFFmpegShims
package import Orientation

/// Encodes audio. Used by one thread at a time.
package final class AudioEncoder {
  let context: UnsafeMutablePointer<AVCodecContext>

  /// An AAC encoder for stereo audio.
  ///
  /// - Parameters:
  ///   - rate: Samples per second; one of AAC's rates.
  ///   - bitrate: Bits per second.
  ///   - wantsGlobalHeader: Whether the packets have no headers; the extradata is then in the parameters.
  /// - Throws: `unavailable` if the encoder isn't linked.
  package convenience init(
    rate: Int, bitrate: Int, wantsGlobalHeader: Bool
  ) throws(UprightError) {
    try self.init(
      "aac", rate: CInt(clamping: rate), channels: 2, bitrate: bitrate,
      wantsGlobalHeader: wantsGlobalHeader)
  }

  /// An encoder for any of libavcodec's audio codecs.
  ///
  /// - Parameters:
  ///   - name: libavcodec's name of the encoder.
  ///   - rate: The requested samples per second. The encoder's actual rate is `rate`.
  ///   - bitrate: Bits per second. `nil` leaves it to the encoder.
  init(
    _ name: String, rate: CInt, channels: CInt, bitrate: Int?, wantsGlobalHeader: Bool
  ) throws(UprightError) {
    guard let codec = avcodec_find_encoder_by_name(name) else {
      throw UprightError(.unavailable, "the linked FFmpeg has no \(name) encoder")
    }
    var made = avcodec_alloc_context3(codec)
    guard let context = made else { throw outOfMemory("encoder") }
    context.pointee.sample_rate = Self.closestRate(codec, to: rate)
    av_channel_layout_default(&context.pointee.ch_layout, channels)
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
        at: "\(rate) Hz, \(channels) channels")
    }
    self.context = context
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

  /// Samples per second.
  package var rate: Int { Int(context.pointee.sample_rate) }

  /// Seconds per tick of the packets. One tick is one sample.
  package var timeBase: Rational { Rational(1, rate) }

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

  /// Encodes one frame of stereo audio whose first sample is at `time`. All frames but the last have
  /// `frameSize` samples.
  package func encode(
    _ samples: StereoSamples, at time: Int64, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    let count = min(samples.left.count, samples.right.count, frameSize)
    guard count > 0 else { return }
    var frame = try frame(of: CInt(count))
    for (plane, channel) in [samples.left, samples.right].enumerated() {
      guard let target = frame.plane(plane) else { continue }
      UnsafeMutableRawPointer(target.start).copyMemory(
        from: channel, byteCount: count * MemoryLayout<Float>.size)
    }
    frame.pts = time
    try encode(frame, emit)
  }

  /// Returns a frame in the encoder's sample format with memory for `samples` samples, to be filled.
  func frame(of samples: CInt) throws(UprightError) -> VideoFrame {
    let frame = try form()
    frame.raw.pointee.nb_samples = samples
    try check(av_frame_get_buffer(frame.raw, 0)) { _ in outOfMemory("sound") }
    return frame
  }

  /// Returns a frame in the encoder's sample format without memory for samples.
  func form() throws(UprightError) -> VideoFrame {
    let frame = try VideoFrame()
    frame.raw.pointee.format = context.pointee.sample_fmt.rawValue
    frame.raw.pointee.sample_rate = context.pointee.sample_rate
    av_channel_layout_copy(&frame.raw.pointee.ch_layout, &context.pointee.ch_layout)
    return frame
  }

  /// Encodes a frame in the encoder's sample format.
  func encode(
    _ frame: borrowing VideoFrame, _ emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    try send(frame.raw, emit)
  }

  /// Passes on the remaining packets. Nothing can be encoded after that.
  package func finish(
    emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    try send(nil, emit)
  }

  private func send(
    _ frame: UnsafeMutablePointer<AVFrame>?, _ emit: (consuming Packet) throws(UprightError) -> Void
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
