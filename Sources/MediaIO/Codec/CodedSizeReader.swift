internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation
internal import UprightSignals

/// Reads the size and the format of frames from their packets without decoding them, with cropping applied as a decoder
/// would.
package final class CodedSizeReader {
  private let parameters: CodecParameters
  private let isVP9: Bool
  private var aspect: SampleAspectReader?
  private var context: UnsafeMutablePointer<AVCodecContext>?
  private var parser: UnsafeMutablePointer<AVCodecParserContext>?
  /// The format of the frame whose size was read last. `nil` if its packet doesn't contain it.
  package private(set) var format: PixelFormat?

  /// The codecs whose libavcodec parser reports sizes.
  private static let codecs: Set<String> = [
    "h264", "hevc", "vp8", "av1", "mpeg1video", "mpeg2video", "mpeg4",
  ]

  /// Returns `nil` for a codec whose packets can't be parsed.
  package init?(_ stream: StreamInfo) {
    parameters = stream.parameters
    // libavcodec's parser of VP9 reports no sizes.
    isVP9 = stream.codecName == "vp9"
    aspect = SampleAspectReader(
      codec: stream.codecName, configuration: stream.parameters.extradata)
    guard isVP9 || Self.codecs.contains(stream.codecName) && open(parameters) else { return nil }
  }

  deinit { close() }

  private func close() {
    if let parser { av_parser_close(parser) }
    avcodec_free_context(&context)
    parser = nil
  }

  private func open(_ parameters: CodecParameters) -> Bool {
    close()
    context = QuietContext.codec(nil)
    parser = upright_parser_init(parameters.raw.pointee.codec_id)
    guard let context, let parser,
      avcodec_parameters_to_context(context, parameters.raw) >= 0
    else { return false }
    parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
    return true
  }

  /// The sample aspect ratio in the bitstream, if it isn't that of the start any more.
  package var changedRatio: Rational? { aspect?.changed }

  /// Returns the size of the frame in `packet`. Returns `nil` if the packet doesn't contain it; the last size
  /// then still applies.
  package func size(of packet: borrowing Packet) -> PixelSize? {
    if isVP9 {
      return packet.isKey ? packet.withBytes { VP9Keyframe.size($0.prefix(16)) } : nil
    }
    if let extradata = packet.newExtradata {
      guard let changed = try? parameters.with(extradata: extradata), open(changed) else {
        return nil
      }
    }
    guard let context, let parser, packet.size > 0,
      !NALUnitLimit.isExceeded(by: packet.raw, of: parameters.raw)
    else { return nil }
    if aspect != nil { packet.withBytes { aspect?.read($0) } }
    var output: UnsafeMutablePointer<UInt8>?
    var size: CInt = 0
    av_parser_parse2(
      parser, context, &output, &size, packet.raw.pointee.data, CInt(clamping: packet.size),
      packet.raw.pointee.pts, packet.raw.pointee.dts, -1)
    format = parser.pointee.format < 0 ? nil : PixelFormat(AVPixelFormat(parser.pointee.format))
    let found = PixelSize(Int(parser.pointee.width), Int(parser.pointee.height))
    return found.width > 0 && found.height > 0 ? found : nil
  }
}
