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
  private var parser: PacketParser?
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
    guard !isVP9 else { return }
    guard Self.codecs.contains(stream.codecName), let parser = PacketParser(parameters) else {
      return nil
    }
    self.parser = parser
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
      parser = (try? parameters.with(extradata: extradata)).flatMap { PacketParser($0) }
    }
    guard let parser = parser?.read(packet) else { return nil }
    if aspect != nil { packet.withBytes { aspect?.read($0) } }
    format = parser.pointee.format < 0 ? nil : PixelFormat(AVPixelFormat(parser.pointee.format))
    let found = PixelSize(Int(parser.pointee.width), Int(parser.pointee.height))
    return found.width > 0 && found.height > 0 ? found : nil
  }
}
