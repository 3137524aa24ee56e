internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

/// Decodes one video stream. Used by one thread at a time; the codec has internal threads.
package final class VideoDecoder {
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frames = DecoderFramePool()
  private let timeBase: Rational
  private let name: String
  private let parameters: CodecParameters
  private let shape: StreamShape
  /// The sample aspect ratio in the bitstream at the first frame. `nil` until it has one.
  private var firstRatio: Rational?
  /// The container's HDR metadata, for the codecs that leave it to the container.
  private let hdr: HDRMetadata

  /// The number of packets that the decoder has rejected so far.
  package private(set) var damagedPackets = 0

  /// Whether the next packets of H.264 aren't decoded if no other frame needs them (ISO/IEC 14496-10, 7.4.1, `nal_ref_idc`).
  /// A picture of HEVC that says so may be needed by those of higher layers.
  package var skipsUnreferenced: Bool {
    get { context.pointee.skip_frame == AVDISCARD_NONREF }
    set {
      guard context.pointee.codec_id == AV_CODEC_ID_H264 else { return }
      context.pointee.skip_frame = newValue ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
    }
  }

  /// The largest frame that is decoded, in samples. A small file can declare a huge one.
  package static let maximumPixels = 16384 * 16384

  /// - Parameter isForPixels: Whether frames are shown. If not, they have the wrong pixels sooner.
  /// - Throws: `unavailable` if the linked FFmpeg has no decoder for the stream, `badData` if the decoder
  ///   can't be opened for it.
  package init(
    stream: StreamInfo, threads: Int = 0, maximumPixels: Int = VideoDecoder.maximumPixels,
    isForPixels: Bool = true
  ) throws(UprightError) {
    timeBase = stream.timeBase
    name = stream.codecName
    hdr = stream.hdr
    shape = stream.shape
    firstRatio = stream.parameters.sampleAspectRatio
    parameters = stream.parameters
    context = try Self.open(
      stream, frames: frames, threads: threads, maximumPixels: maximumPixels)
    guard !isForPixels else { return }
    context.pointee.skip_idct = AVDISCARD_ALL
    context.pointee.skip_loop_filter = AVDISCARD_ALL
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&pointer)
  }

  private static func open(
    _ stream: StreamInfo, frames: DecoderFramePool, threads: Int, maximumPixels: Int
  ) throws(UprightError) -> UnsafeMutablePointer<AVCodecContext> {
    let identifier = stream.parameters.raw.pointee.codec_id
    guard let codec = find(identifier, stream.decoderName) else {
      throw stream.lacksDecoder(at: "stream \(stream.index)")
    }
    var context = QuietContext.codec(codec)
    guard let opened = context else { throw outOfMemory("decoder") }
    var code = avcodec_parameters_to_context(opened, stream.parameters.raw)
    opened.pointee.pkt_timebase = AVRational(stream.timeBase)
    opened.pointee.thread_count = CInt(clamping: threads)
    opened.pointee.max_pixels = Int64(maximumPixels)
    // A still has one frame. With frame threads, libavcodec aborts if its WebP decoder finds damage after the frame.
    if [AV_CODEC_ID_WEBP, AV_CODEC_ID_PNG].contains(identifier) {
      opened.pointee.thread_type = FF_THREAD_SLICE
    }
    // Otherwise columns that are cut off at the left are left in where rows would begin at odd addresses.
    opened.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
    frames.serve(opened)
    let (width, height) = (opened.pointee.width, opened.pointee.height)
    if code >= 0, width > 0, height > 0 {
      // libavcodec would print that such a size is invalid.
      code = av_image_check_size2(
        UInt32(width), UInt32(height), opened.pointee.max_pixels, AV_PIX_FMT_NONE,
        upright_log_quiet,
        nil)
    }
    if code >= 0 { code = avcodec_open2(opened, codec, nil) }
    guard code >= 0 else {
      avcodec_free_context(&context)
      throw UprightError(
        .badData, "\(stream.codecLabel) cannot be decoded: \(explain(code))",
        at: "stream \(stream.index)"
      ).reporting(code)
    }
    return opened
  }

  /// Returns the decoder named `name` if it is linked, else the codec's default decoder.
  static func find(_ identifier: AVCodecID, _ name: String?) -> UnsafePointer<AVCodec>? {
    name.flatMap { avcodec_find_decoder_by_name($0) } ?? avcodec_find_decoder(identifier)
  }

  /// Sends a packet. Returns `false` if frames must be received first and the same packet sent again. A
  /// packet that the decoder can't use is counted and skipped.
  package func send(_ packet: borrowing Packet) -> Bool {
    if NALUnitLimit.isExceeded(by: packet.raw, of: parameters.raw) {
      damagedPackets += 1
      return true
    }
    var plain: UnsafeMutablePointer<AVPacket>?
    if context.pointee.codec_id == AV_CODEC_ID_PNG { plain = PNGProfile.removed(from: packet.raw) }
    defer { av_packet_free(&plain) }
    switch avcodec_send_packet(context, plain ?? packet.raw) {
    case upright_averror_eagain(): return false
    case upright_averror_eof(), 0...: return true
    default:
      damagedPackets += 1
      return true
    }
  }

  /// Marks the end of the input. The remaining frames can then be received.
  package func finish() {
    avcodec_send_packet(context, nil)
  }

  /// Discards the decoder's state, for packets that don't follow on from the last ones.
  package func flush() { avcodec_flush_buffers(context) }

  /// Returns the next frame in presentation order. Returns `nil` if more packets are needed, or at the end.
  package func receive() throws(UprightError) -> VideoFrame? {
    // With frame threads an error for a damaged packet is returned late, between good frames. The frames
    // after it must still be requested, above all at the end. No codec fails this often in a row.
    for _ in 0..<1000 {
      var frame = try VideoFrame()
      let code = avcodec_receive_frame(context, frame.raw)
      switch code {
      case upright_averror_eagain(), upright_averror_eof(): return nil
      case 0...:
        frame.pts = frame.bestEffortTimestamp
        frame.timeBase = timeBase
        if !hdr.isEmpty { HDRMetadata(frame: frame.raw).filled(from: hdr).write(to: frame.raw) }
        // A bitstream can give any size. Later code relies on a positive one.
        guard frame.size.hasArea else {
          damagedPackets += 1
          continue
        }
        if frame.statesSampleAspectRatio { firstRatio = firstRatio ?? frame.sampleAspectRatio }
        frame.fit(shape, first: firstRatio)
        return frame
      default: damagedPackets += 1
      }
    }
    return nil
  }
}
