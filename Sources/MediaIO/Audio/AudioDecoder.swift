internal import CUprightFFmpeg
package import UprightOrientation

/// Decodes one audio stream, and converts it to one format even if its own format changes. Used by one thread
/// at a time.
package final class AudioDecoder {
  package typealias Emit = (consuming AudioFrame) throws(UprightError) -> Void

  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frame: UnsafeMutablePointer<AVFrame>
  /// Configured by the first frame, and again by each frame in another format.
  private var resampler: OpaquePointer?
  private let timeBase: AVRational
  /// The position after the last converted sample, if known.
  private var end: Int64?

  /// The number of packets and frames that couldn't be decoded or converted so far.
  package private(set) var damagedPackets = 0

  /// The largest number of samples that one frame can become. A hostile sample rate of 1 Hz would turn a
  /// small packet into gigabytes.
  private static let largestFrame = Int64(1) << 22

  /// - Throws: `unavailable` if no decoder is linked, `badData` if the decoder rejects the stream.
  package init(stream: StreamInfo) throws(UprightError) {
    let parameters = stream.parameters.raw
    guard let codec = avcodec_find_decoder(parameters.pointee.codec_id) else {
      throw UprightError(
        .unavailable, "the linked FFmpeg cannot decode \(stream.codecLabel)",
        at: "stream \(stream.index)")
    }
    guard let context = QuietContext.codec(codec), let frame = av_frame_alloc(),
      let resampler = swr_alloc()
    else { throw outOfMemory("audio") }
    self.context = context
    self.frame = frame
    self.resampler = resampler
    timeBase = AVRational(stream.timeBase)
    var code = avcodec_parameters_to_context(context, parameters)
    context.pointee.pkt_timebase = timeBase
    context.pointee.thread_count = 1
    if code >= 0 { code = avcodec_open2(context, codec, nil) }
    try check(code) {
      UprightError(
        .badData, "\(stream.codecLabel) audio cannot be decoded: \(explain($0))",
        at: "stream \(stream.index)")
    }
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
    swr_free(&resampler)
  }

  /// The stream's samples per second as far as known before decoding, else 0.
  package var rate: Int { Int(context.pointee.sample_rate) }

  /// The stream's channels as far as known before decoding, else none.
  package var layout: ChannelLayout { ChannelLayout(context.pointee.ch_layout) }

  /// Decodes a packet and passes the samples on.
  ///
  /// - Parameters:
  ///   - format: The format of the samples that are passed on, the same in every call.
  ///   - take: Receives the samples. Their `pts` counts from the time 0 of the stream, and follows the samples
  ///     before if the stream gives no time; `nil` if it has given none yet.
  package func decode(
    _ packet: borrowing Packet, as format: AudioFormat, emit: Emit
  ) throws(UprightError) {
    if avcodec_send_packet(context, packet.raw) < 0 { damagedPackets += 1 }
    try receive(format, emit)
  }

  /// Passes on what the decoder still holds. No packet may follow.
  package func finish(as format: AudioFormat, emit: Emit) throws(UprightError) {
    avcodec_send_packet(context, nil)
    try receive(format, emit)
    try flushResampler(format, emit)
  }

  private func receive(_ format: AudioFormat, _ emit: Emit) throws(UprightError) {
    while avcodec_receive_frame(context, frame) >= 0 {
      if try !convert(format, emit) { damagedPackets += 1 }
    }
  }

  /// Passes on the samples of `frame`. Returns `false` if they can't be converted.
  private func convert(_ format: AudioFormat, _ emit: Emit) throws(UprightError) -> Bool {
    let (count, rate) = (Int64(frame.pointee.nb_samples), Int64(frame.pointee.sample_rate))
    guard count > 0, rate > 0, frame.pointee.ch_layout.nb_channels > 0,
      max(count, count * Int64(format.rate) / rate) <= Self.largestFrame
    else { return false }
    // PCM gives the number of channels but not the layout, which the resampler needs.
    if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
      av_channel_layout_default(&frame.pointee.ch_layout, frame.pointee.ch_layout.nb_channels)
    }
    var samples = try AudioFrame(format)
    // The samples that the resampler's filter still holds come before those of this frame.
    var delay =
      swr_is_initialized(resampler) != 0 ? swr_get_delay(resampler, Int64(format.rate)) : 0
    var code = swr_convert_frame(resampler, samples.raw, frame)
    if code == AVERROR_INPUT_CHANGED {
      try flushResampler(format, emit)
      swr_close(resampler)
      delay = 0
      code = swr_convert_frame(resampler, samples.raw, frame)
    }
    guard code >= 0 else { return false }
    let stamp = frame.pointee.best_effort_timestamp
    if stamp != noTimestamp {
      let tick = AVRational(num: 1, den: CInt(clamping: format.rate))
      samples.pts = rescale(stamp, from: timeBase, to: tick) - delay
    }
    try pass(samples, emit)
    return true
  }

  /// Passes on the samples that the resampler's filter still holds.
  private func flushResampler(_ format: AudioFormat, _ emit: Emit) throws(UprightError) {
    guard swr_is_initialized(resampler) != 0 else { return }
    let rest = try AudioFrame(format)
    guard swr_convert_frame(resampler, rest.raw, nil) >= 0 else { return }
    try pass(rest, emit)
  }

  private func pass(_ samples: consuming AudioFrame, _ emit: Emit) throws(UprightError) {
    guard samples.count > 0 else { return }
    // Of the frames that share a packet of a transport stream, the first may be the only one with a time.
    samples.pts = samples.pts ?? end
    end = samples.pts.map { $0 + Int64(samples.count) }
    try emit(samples)
  }
}
