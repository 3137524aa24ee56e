internal import CFFmpeg
package import Orientation

/// Reads the picture's size out of undecoded packets: a stream may change it without a word from the
/// container.
package final class PacketSizes {
  private let context: UnsafeMutablePointer<AVCodecContext>
  private let parser: UnsafeMutablePointer<AVCodecParserContext>

  /// Nil for codecs whose sizes libavcodec reads in the decoder alone (VP9 among them).
  package init?(_ stream: StreamInfo) {
    let id = stream.parameters.raw.pointee.codec_id
    guard [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_VP8, AV_CODEC_ID_AV1].contains(id),
      let parser = av_parser_init(CInt(bitPattern: id.rawValue)),
      let context = avcodec_alloc_context3(nil),
      avcodec_parameters_to_context(context, stream.parameters.raw) >= 0
    else { return nil }
    parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
    self.parser = parser
    self.context = context
  }

  deinit {
    av_parser_close(parser)
    var pointer: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&pointer)
  }

  /// The size that stands at this packet; nil where none was read yet.
  package func size(at packet: borrowing Packet) -> PixelSize? {
    var data: UnsafeMutablePointer<UInt8>?
    var count: CInt = 0
    let raw = packet.raw.pointee
    av_parser_parse2(
      parser, context, &data, &count, raw.data, raw.size, raw.pts, raw.dts, raw.pos)
    guard parser.pointee.width > 0, parser.pointee.height > 0 else { return nil }
    return PixelSize(Int(parser.pointee.width), Int(parser.pointee.height))
  }
}

extension CodecParameters {
  /// The pictures' format; nil where the container does not know it.
  package var pixelFormat: PixelFormat? {
    raw.pointee.format < 0 ? nil : PixelFormat(AVPixelFormat(raw.pointee.format))
  }
}
