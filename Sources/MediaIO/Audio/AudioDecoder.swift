internal import CFFmpeg
internal import CFFmpegShims
package import Orientation

/// Audio samples of two channels.
package struct StereoSamples: Sendable {
  package var left: [Float]
  package var right: [Float]

  package init(left: [Float] = [], right: [Float] = []) {
    self.left = left
    self.right = right
  }

  /// The number of samples in each channel.
  package var count: Int { left.count }

  /// Returns `count` samples of silence.
  package static func silence(_ count: Int) -> StereoSamples {
    let nothing = [Float](repeating: 0, count: max(0, count))
    return StereoSamples(left: nothing, right: nothing)
  }

  package mutating func append(_ other: StereoSamples) {
    left += other.left
    right += other.right
  }

  package mutating func removeFirst(_ count: Int) {
    left.removeFirst(min(count, left.count))
    right.removeFirst(min(count, right.count))
  }
}

/// Decodes one audio stream of any format to stereo at one sample rate, even if the format changes. Used by
/// one thread at a time.
package final class AudioDecoder {
  private let decoder: UnsafeMutablePointer<AVCodecContext>
  private var resampler: OpaquePointer?
  private var input: (format: CInt, rate: CInt, channels: CInt) = (-1, 0, 0)
  private let timeBase: AVRational
  private let rate: CInt
  private var stereo = AVChannelLayout()
  private let frame: UnsafeMutablePointer<AVFrame>

  /// The number of packets and frames that couldn't be used so far.
  package private(set) var damagedPackets = 0

  /// - Parameter rate: The output sample rate, in samples per second.
  /// - Throws: `unavailable` if no decoder is linked, `badData` if the decoder rejects the stream.
  package init(stream: StreamInfo, rate: Int) throws(UprightError) {
    guard let codec = avcodec_find_decoder(stream.parameters.raw.pointee.codec_id) else {
      throw UprightError(
        .unavailable, "the linked FFmpeg cannot decode \(stream.codecName)",
        at: "stream \(stream.index)")
    }
    guard let frame = av_frame_alloc() else { throw outOfMemory("sound") }
    var made = avcodec_alloc_context3(codec)
    guard let context = made else { throw outOfMemory("decoder") }
    var code = avcodec_parameters_to_context(context, stream.parameters.raw)
    context.pointee.pkt_timebase = AVRational(stream.timeBase)
    context.pointee.thread_count = 1
    if code >= 0 { code = avcodec_open2(context, codec, nil) }
    guard code >= 0 else {
      avcodec_free_context(&made)
      var pointer: UnsafeMutablePointer<AVFrame>? = frame
      av_frame_free(&pointer)
      throw UprightError(
        .badData, "\(stream.codecName) audio cannot be decoded: \(explain(code))",
        at: "stream \(stream.index)")
    }
    decoder = context
    self.frame = frame
    timeBase = AVRational(stream.timeBase)
    self.rate = CInt(clamping: rate)
    av_channel_layout_default(&stereo, 2)
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = decoder
    avcodec_free_context(&context)
    var pointer: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&pointer)
    swr_free(&resampler)
  }

  /// Decodes a packet and passes the samples to `take`, with the time of the first sample in ticks of 1/rate,
  /// or `nil` if there is no timestamp.
  package func decode(
    _ packet: borrowing Packet, take: (StereoSamples, Int64?) throws(UprightError) -> Void
  ) throws(UprightError) {
    if avcodec_send_packet(decoder, packet.raw) < 0 { damagedPackets += 1 }
    while avcodec_receive_frame(decoder, frame) >= 0 {
      guard let samples = try converted() else { continue }
      try take(samples.0, samples.at)
    }
  }

  private func converted() throws(UprightError) -> (StereoSamples, at: Int64?)? {
    let count = frame.pointee.nb_samples
    guard count > 0, count <= 1 << 20, frame.pointee.sample_rate > 0,
      frame.pointee.ch_layout.nb_channels > 0
    else {
      damagedPackets += 1
      return nil
    }
    if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
      av_channel_layout_default(&frame.pointee.ch_layout, frame.pointee.ch_layout.nb_channels)
    }
    guard try prepare() else {
      damagedPackets += 1
      return nil
    }
    // The samples that the resampler's filter still holds come before this frame.
    let delay = swr_get_delay(resampler, Int64(rate))
    let room = Int(swr_get_out_samples(resampler, count))
    guard room > 0 else { return nil }
    var samples = StereoSamples.silence(room)
    let got = samples.left.withUnsafeMutableBytes { left in
      samples.right.withUnsafeMutableBytes { right in
        var planes: [UnsafeMutablePointer<UInt8>?] = [
          left.baseAddress?.assumingMemoryBound(to: UInt8.self),
          right.baseAddress?.assumingMemoryBound(to: UInt8.self),
        ]
        let source = UnsafeMutableRawPointer(frame.pointee.extended_data)?
          .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        return swr_convert(resampler, &planes, CInt(room), source, count)
      }
    }
    guard got > 0 else { return nil }
    samples.left.removeLast(room - Int(got))
    samples.right.removeLast(room - Int(got))
    let stamp = frame.pointee.best_effort_timestamp
    guard stamp != noTimestamp, abs(stamp / 2) < Int64(1) << 50 else { return (samples, nil) }
    return (samples, av_rescale_q(stamp, timeBase, AVRational(num: 1, den: rate)) - delay)
  }

  private func prepare() throws(UprightError) -> Bool {
    let wanted = (
      format: frame.pointee.format, rate: frame.pointee.sample_rate,
      channels: frame.pointee.ch_layout.nb_channels
    )
    if resampler != nil, wanted == input { return true }
    swr_free(&resampler)
    var code = swr_alloc_set_opts2(
      &resampler, &stereo, AV_SAMPLE_FMT_FLTP, rate, &frame.pointee.ch_layout,
      AVSampleFormat(wanted.format), wanted.rate, 0, nil)
    if code >= 0 { code = swr_init(resampler) }
    input = code >= 0 ? wanted : (-1, 0, 0)
    return code >= 0
  }
}
