internal import CFFmpeg
internal import CFFmpegShims
internal import Orientation

/// Decodes one video stream. Used by one thread at a time; the codec's own threads are inside.
package final class VideoDecoder {
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let frames = DecoderFrames()
  private let timeBase: Rational
  private let name: String
  /// What the container says, for the codecs that leave it to it.
  private let hdr: HDRMetadata

  /// Packets that the decoder refused so far.
  package private(set) var damagedPackets = 0

  /// The largest picture that is decoded, in samples: a small file can name a huge one.
  package static let maximumPixels = 16384 * 16384

  /// - Throws: `unavailable` where the linked FFmpeg has no decoder for the stream.
  package init(
    stream: StreamInfo, threads: Int = 0, maximumPixels: Int = VideoDecoder.maximumPixels
  ) throws(MediaError) {
    timeBase = stream.timeBase
    name = stream.codecName
    hdr = stream.hdr
    context = try Self.open(
      stream, frames: frames, threads: threads, maximumPixels: maximumPixels)
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&pointer)
  }

  private static func open(
    _ stream: StreamInfo, frames: DecoderFrames, threads: Int, maximumPixels: Int
  ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
    let identifier = stream.parameters.raw.pointee.codec_id
    guard let codec = find(identifier, stream.decoderName) else {
      throw MediaError(
        .unavailable, "the linked FFmpeg cannot decode \(stream.codecName)",
        at: "stream \(stream.index)", remedy: "link an FFmpeg with that decoder")
    }
    var context = avcodec_alloc_context3(codec)
    guard let opened = context else { throw outOfMemory("decoder") }
    var code = avcodec_parameters_to_context(opened, stream.parameters.raw)
    opened.pointee.pkt_timebase = AVRational(stream.timeBase)
    opened.pointee.thread_count = CInt(clamping: threads)
    opened.pointee.max_pixels = Int64(maximumPixels)
    frames.serve(opened)
    if code >= 0 { code = avcodec_open2(opened, codec, nil) }
    guard code >= 0 else {
      avcodec_free_context(&context)
      throw MediaError(
        .badData, "\(stream.codecName) cannot be decoded: \(explain(code))",
        at: "stream \(stream.index)")
    }
    return opened
  }

  /// The decoder of that name where it is linked, else the usual one of the codec.
  static func find(_ identifier: AVCodecID, _ name: String?) -> UnsafePointer<AVCodec>? {
    name.flatMap { avcodec_find_decoder_by_name($0) } ?? avcodec_find_decoder(identifier)
  }

  /// Whether frames that no other frame refers to are left out. Read at the next packet.
  package var skipsUnreferenced = false {
    didSet { context.pointee.skip_frame = skipsUnreferenced ? AVDISCARD_NONREF : AVDISCARD_DEFAULT }
  }

  /// Hands over a packet. False where pictures must be received first and the same packet sent anew;
  /// one that the decoder cannot use is counted and left out.
  package func send(_ packet: borrowing Packet) -> Bool {
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

  /// Says that no packet follows: what is inside comes out.
  package func finish() {
    avcodec_send_packet(context, nil)
  }

  /// Forgets what is inside, for packets that do not follow on.
  package func flush() { avcodec_flush_buffers(context) }

  /// The next picture in presentation order; nil where more packets are wanted, or at the end.
  package func receive() throws(MediaError) -> VideoFrame? {
    // Frame threads tell of a damaged packet late, between good pictures: what follows must be asked
    // for, at the end above all. No codec fails this often in a row.
    for _ in 0..<1000 {
      var frame = try VideoFrame()
      let code = avcodec_receive_frame(context, frame.raw)
      switch code {
      case upright_averror_eagain(), upright_averror_eof(): return nil
      case 0...:
        frame.pts = frame.bestEffortTimestamp
        frame.timeBase = timeBase
        if !hdr.isEmpty { HDRMetadata(frame: frame.raw).filled(from: hdr).write(to: frame.raw) }
        // The size may be anything a bitstream can say; what follows counts on a real one.
        if frame.size.width > 0 && frame.size.height > 0 { return frame }
        damagedPackets += 1
      default: damagedPackets += 1
      }
    }
    return nil
  }
}
