internal import CFFmpeg
internal import CFFmpegShims
package import Orientation

/// Decodes and re-encodes one audio stream, for containers that can't carry the source's codec. Used by one
/// thread at a time.
package final class AudioTranscoder {
  private let decoder: UnsafeMutablePointer<AVCodecContext>
  private let encoder: AudioEncoder
  private var resampler: OpaquePointer?
  private var resamplerInput: (format: CInt, rate: CInt, channels: CInt) = (-1, 0, 0)
  private let fifo: OpaquePointer
  private let sourceTimeBase: AVRational
  /// The position of the first sample in `fifo`, in samples. `nil` before the first sample.
  private var head: Int64?

  /// The number of packets that couldn't be decoded so far.
  package private(set) var damagedPackets = 0

  /// Opens the decoder and the encoder. The sample rate and the channels are the source's.
  ///
  /// - Throws: `unavailable` if a decoder or encoder isn't linked, `badData` if the stream can't be decoded.
  package init(stream: StreamInfo, encoderName: String, wantsGlobalHeader: Bool)
    throws(UprightError)
  {
    sourceTimeBase = AVRational(stream.timeBase)
    decoder = try Self.openDecoder(stream)
    do {
      encoder = try AudioEncoder(
        encoderName, rate: decoder.pointee.sample_rate,
        channels: decoder.pointee.ch_layout.nb_channels, bitrate: nil,
        wantsGlobalHeader: wantsGlobalHeader)
      fifo = try Self.makeFIFO(encoder.context)
    } catch {
      var pointer: UnsafeMutablePointer<AVCodecContext>? = decoder
      avcodec_free_context(&pointer)
      throw error
    }
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = decoder
    avcodec_free_context(&pointer)
    swr_free(&resampler)
    av_audio_fifo_free(fifo)
  }

  /// Seconds per tick of the encoded packets. One tick is one sample.
  package var timeBase: Rational { encoder.timeBase }

  /// Returns what a muxer must know.
  package func parameters() throws(UprightError) -> CodecParameters {
    try encoder.parameters()
  }

  private static func openDecoder(
    _ stream: StreamInfo
  ) throws(UprightError) -> UnsafeMutablePointer<AVCodecContext> {
    guard let codec = avcodec_find_decoder(stream.parameters.raw.pointee.codec_id) else {
      throw UprightError(
        .unavailable, "the linked FFmpeg cannot decode \(stream.codecName)",
        at: "stream \(stream.index)")
    }
    var made = avcodec_alloc_context3(codec)
    guard let context = made else { throw outOfMemory("decoder") }
    avcodec_parameters_to_context(context, stream.parameters.raw)
    context.pointee.pkt_timebase = AVRational(stream.timeBase)
    let code = avcodec_open2(context, codec, nil)
    guard code >= 0, context.pointee.sample_rate > 0, context.pointee.ch_layout.nb_channels > 0
    else {
      avcodec_free_context(&made)
      throw UprightError(
        .badData, "\(stream.codecName) audio cannot be decoded: \(explain(code))",
        at: "stream \(stream.index)")
    }
    return context
  }

  private static func makeFIFO(
    _ context: UnsafeMutablePointer<AVCodecContext>
  ) throws(UprightError) -> OpaquePointer {
    guard
      let fifo = av_audio_fifo_alloc(
        context.pointee.sample_fmt, context.pointee.ch_layout.nb_channels, 4096)
    else { throw outOfMemory("sound") }
    return fifo
  }

  /// Sends one packet, or `nil` at the end, and passes every resulting packet to `emit`.
  package func transcode(
    _ packet: consuming Packet?, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    let isLast: Bool
    if let packet {
      isLast = false
      if avcodec_send_packet(decoder, packet.raw) < 0 { damagedPackets += 1 }
    } else {
      isLast = true
      avcodec_send_packet(decoder, nil)
    }
    let frame = try VideoFrame()
    while avcodec_receive_frame(decoder, frame.raw) >= 0 {
      try collect(frame, emit)
      try encodeWholeFrames(emit)
    }
    if isLast {
      try collectRest()
      try encodeWholeFrames(emit)
      try encode(samples: av_audio_fifo_size(fifo), emit)
      try encoder.finish(emit: emit)
    }
  }

  /// Appends decoded samples to the buffered ones. Fills a gap in the source with silence, drops samples that
  /// the source repeats, and restarts the timestamps after a gap that is too long to fill.
  private func collect(
    _ frame: borrowing VideoFrame, _ emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    // PCM gives the number of channels but not the layout, which the resampler needs.
    if frame.raw.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
      av_channel_layout_default(
        &frame.raw.pointee.ch_layout, frame.raw.pointee.ch_layout.nb_channels)
    }
    try prepareResampler(frame)
    let converted = try encoder.form()
    let code = swr_convert_frame(resampler, converted.raw, frame.raw)
    guard code >= 0 else {
      damagedPackets += 1
      return
    }
    var repeated = 0
    if frame.raw.pointee.best_effort_timestamp != noTimestamp {
      let position = rescale(
        frame.raw.pointee.best_effort_timestamp, from: sourceTimeBase,
        to: encoder.context.pointee.time_base)
      if let head {
        let gap = position - head - Int64(av_audio_fifo_size(fifo))
        let second = Int64(encoder.context.pointee.sample_rate)
        // Less than a frame is jitter of the container's clock. More than ten seconds is a jump.
        if gap > second * 10 {
          try encodePadded(emit)
          self.head = position
        } else if gap > 2048 {
          try appendSilence(CInt(gap))
        } else if gap < -2048, gap > -second * 10 {
          repeated = Int(min(-gap, Int64(converted.raw.pointee.nb_samples)))
        }
      } else {
        head = position
      }
    }
    if head == nil { head = 0 }
    try append(converted, from: repeated)
  }

  /// Appends the samples that the resampler's filter still holds.
  private func collectRest() throws(UprightError) {
    guard resampler != nil, resamplerInput.rate != encoder.context.pointee.sample_rate else {
      return
    }
    let rest = try encoder.form()
    if swr_convert_frame(resampler, rest.raw, nil) >= 0, rest.raw.pointee.nb_samples > 0 {
      try append(rest, from: 0)
    }
  }

  /// Encodes the buffered samples, padded with silence to a full frame. Only the last frame may be shorter.
  private func encodePadded(
    _ emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    let size = CInt(encoder.frameSize)
    let waiting = av_audio_fifo_size(fifo)
    guard waiting > 0 else { return }
    if waiting % size != 0 { try appendSilence(size - waiting % size) }
    try encodeWholeFrames(emit)
  }

  /// Appends a frame's samples except the first `skipped`.
  private func append(_ frame: borrowing VideoFrame, from skipped: Int) throws(UprightError) {
    let count = Int(frame.raw.pointee.nb_samples) - skipped
    guard count > 0, let data = frame.raw.pointee.extended_data else { return }
    let format = encoder.context.pointee.sample_fmt
    let channels = Int(encoder.context.pointee.ch_layout.nb_channels)
    let isPlanar = av_sample_fmt_is_planar(format) != 0
    let step = Int(av_get_bytes_per_sample(format)) * (isPlanar ? 1 : channels)
    var planes = (0..<(isPlanar ? channels : 1)).map { index in
      data[index].map { UnsafeMutableRawPointer($0 + skipped * step) }
    }
    try check(av_audio_fifo_write(fifo, &planes, CInt(count))) { _ in outOfMemory("sound") }
  }

  private func appendSilence(_ samples: CInt) throws(UprightError) {
    let silence = try encoder.frame(of: samples)
    av_samples_set_silence(
      silence.raw.pointee.extended_data, 0, samples, encoder.context.pointee.ch_layout.nb_channels,
      encoder.context.pointee.sample_fmt)
    try append(silence, from: 0)
  }

  private func prepareResampler(_ frame: borrowing VideoFrame) throws(UprightError) {
    let input = (
      format: frame.raw.pointee.format, rate: frame.raw.pointee.sample_rate,
      channels: frame.raw.pointee.ch_layout.nb_channels
    )
    if resampler != nil, input == resamplerInput { return }
    swr_free(&resampler)
    var code = swr_alloc_set_opts2(
      &resampler, &encoder.context.pointee.ch_layout, encoder.context.pointee.sample_fmt,
      encoder.context.pointee.sample_rate, &frame.raw.pointee.ch_layout,
      AVSampleFormat(input.format),
      input.rate, 0, nil)
    if code >= 0 { code = swr_init(resampler) }
    try check(code) { UprightError(.badData, "audio cannot be converted: \(explain($0))") }
    resamplerInput = input
  }

  private func encodeWholeFrames(
    _ emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    let size = CInt(encoder.frameSize)
    while av_audio_fifo_size(fifo) >= size { try encode(samples: size, emit) }
  }

  private func encode(
    samples: CInt, _ emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard samples > 0 else { return }
    var frame = try encoder.frame(of: samples)
    guard let planes = UnsafeMutableRawPointer(frame.raw.pointee.extended_data) else { return }
    av_audio_fifo_read(
      fifo, planes.assumingMemoryBound(to: UnsafeMutableRawPointer?.self), samples)
    frame.pts = head
    head = (head ?? 0) + Int64(samples)
    try encoder.encode(frame, emit)
  }
}
