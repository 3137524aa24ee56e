internal import CFFmpeg
internal import CFFmpegShims
package import Orientation

/// Encodes stereo sound to AAC. Used by one thread at a time.
package final class SoundEncoder {
  private let context: UnsafeMutablePointer<AVCodecContext>
  /// Samples a second.
  package let rate: Int

  /// - Parameters:
  ///   - rate: samples a second, one of AAC's.
  ///   - bitrate: bits a second.
  ///   - wantsGlobalHeader: whether the packets come without headers of their own.
  /// - Throws: `unavailable` where the encoder is not linked.
  package init(rate: Int, bitrate: Int, wantsGlobalHeader: Bool) throws(MediaError) {
    guard let codec = avcodec_find_encoder_by_name("aac") else {
      throw MediaError(.unavailable, "the linked FFmpeg has no aac encoder")
    }
    var made = avcodec_alloc_context3(codec)
    guard let context = made else { throw outOfMemory("encoder") }
    context.pointee.sample_rate = CInt(clamping: rate)
    context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
    context.pointee.bit_rate = Int64(bitrate)
    context.pointee.time_base = AVRational(num: 1, den: CInt(clamping: rate))
    av_channel_layout_default(&context.pointee.ch_layout, 2)
    if wantsGlobalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
    // FFmpeg's manual (aac, aac_coder): better and much faster than the default above 64 kbit/s. The
    // default's search costs more than the pictures of a small stream do.
    if bitrate > 64_000 { av_opt_set(context.pointee.priv_data, "aac_coder", "fast", 0) }
    let code = avcodec_open2(context, codec, nil)
    guard code >= 0 else {
      avcodec_free_context(&made)
      throw MediaError(
        .unavailable, "the aac encoder refuses \(rate) Hz: \(explain(code))", at: "sound")
    }
    self.context = context
    self.rate = rate
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&pointer)
  }

  /// Seconds per tick of the packets: one sample.
  package var timeBase: Rational { Rational(1, rate) }

  /// Samples of a whole frame.
  package var frameSize: Int { max(1, Int(context.pointee.frame_size)) }

  /// Samples that the first packets hold before the sound begins.
  package var priming: Int { max(0, Int(context.pointee.initial_padding)) }

  /// What a muxer must know.
  package func parameters() throws(MediaError) -> CodecParameters {
    try CodecParameters(of: context)
  }

  /// Encodes one frame whose first sample is at `time`; all but the last are `frameSize` long.
  package func encode(
    _ samples: StereoSamples, at time: Int64, emit: (consuming Packet) throws(MediaError) -> Void
  ) throws(MediaError) {
    let count = min(samples.left.count, samples.right.count, frameSize)
    guard count > 0 else { return }
    var frame = try VideoFrame()
    frame.raw.pointee.nb_samples = CInt(count)
    frame.raw.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
    frame.raw.pointee.sample_rate = context.pointee.sample_rate
    av_channel_layout_copy(&frame.raw.pointee.ch_layout, &context.pointee.ch_layout)
    try check(av_frame_get_buffer(frame.raw, 0)) { _ in outOfMemory("sound") }
    for (plane, channel) in [samples.left, samples.right].enumerated() {
      guard let target = frame.plane(plane) else { continue }
      UnsafeMutableRawPointer(target.start).copyMemory(
        from: channel, byteCount: count * MemoryLayout<Float>.size)
    }
    frame.pts = time
    try check(avcodec_send_frame(context, frame.raw)) {
      MediaError(.fault, "sound cannot be encoded: \(explain($0))")
    }
    try drain(emit)
  }

  /// Passes on what is still inside; nothing follows.
  package func finish(
    emit: (consuming Packet) throws(MediaError) -> Void
  ) throws(MediaError) {
    try check(avcodec_send_frame(context, nil)) {
      MediaError(.fault, "sound cannot be encoded: \(explain($0))")
    }
    try drain(emit)
  }

  private func drain(
    _ emit: (consuming Packet) throws(MediaError) -> Void
  ) throws(MediaError) {
    while true {
      let packet = try Packet()
      guard avcodec_receive_packet(context, packet.raw) >= 0 else { return }
      packet.raw.pointee.time_base = context.pointee.time_base
      try emit(packet)
    }
  }
}
