internal import Orientation
internal import UprightMediaIO
internal import UprightPipeline

/// Packets that a program hands over, as the source of a session.
final class MemorySource: PacketSource {
  let url = "memory"
  let container: Demuxer.Container
  private let stream: StreamInfo
  private let packets: TaskQueue<EncodedPacket>

  init(_ description: VideoDescription, timeBase: Rational, packets: TaskQueue<EncodedPacket>) {
    self.packets = packets
    stream = StreamInfo(
      index: 0, kind: .video, parameters: description.parameters, timeBase: timeBase,
      carriesCVO: true,
      // See `RTPCodec.decoderName`.
      decoderName: description.codec == .vp9 ? "libvpx-vp9" : nil)
    container = Demuxer.Container(format: "memory", streams: [stream], isSeekable: false)
  }

  var losses: [String] { [] }

  func bestStream(_ kind: StreamKind) -> StreamInfo? { kind == .video ? stream : nil }

  func select(_ indices: Set<Int>) {}

  func read() throws(UprightError) -> Packet? {
    guard let next = packets.take() else { return nil }
    var packet = try Packet(
      next.bytes, stream: stream, pts: next.pts, isKey: next.isKey, duration: next.duration)
    packet.dts = next.dts
    packet.timeBase = next.timeBase
    packet.rescale(to: stream.timeBase)
    packet.cvo = next.cvo
    return packet
  }
}
