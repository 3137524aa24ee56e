internal import CUprightFFmpeg
internal import CUprightFFmpegShims

/// libavcodec's parser of a codec, for streams whose packets are whole frames.
final class PacketParser {
  private let parameters: CodecParameters
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private let parser: UnsafeMutablePointer<AVCodecParserContext>

  /// Returns `nil` if the linked FFmpeg has no parser of the codec.
  init?(_ parameters: CodecParameters) {
    guard let parser = upright_parser_init(parameters.raw.pointee.codec_id) else { return nil }
    self.parameters = parameters
    self.parser = parser
    context = QuietContext.codec(nil)
    guard let context, avcodec_parameters_to_context(context, parameters.raw) >= 0 else {
      return nil
    }
    parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
  }

  deinit {
    av_parser_close(parser)
    avcodec_free_context(&context)
  }

  /// Reads the headers of a frame.
  ///
  /// - Returns: What was found; `nil` if the packet is empty or takes too much memory to parse. It is valid up to the next
  ///   call.
  func read(_ packet: borrowing Packet) -> UnsafeMutablePointer<AVCodecParserContext>? {
    guard packet.size > 0, !NALUnitLimit.isExceeded(by: packet.raw, of: parameters.raw) else {
      return nil
    }
    var output: UnsafeMutablePointer<UInt8>?
    var size: CInt = 0
    av_parser_parse2(
      parser, context, &output, &size, packet.raw.pointee.data, CInt(clamping: packet.size),
      packet.raw.pointee.pts, packet.raw.pointee.dts, -1)
    return parser
  }
}
