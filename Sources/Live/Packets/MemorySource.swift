internal import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

/// Packets that a program hands over, as the source of a session.
final class MemorySource: PacketSource {
  let url = "memory"
  let container: Demuxer.Container
  private let streams: [StreamInfo]
  private let packets: TaskQueue<EncodedPacket>

  init(
    _ video: VideoDescription, audio: AudioDescription?, timeBase: Rational,
    packets: TaskQueue<EncodedPacket>
  ) {
    self.packets = packets
    var videoStream = StreamInfo(
      index: 0, kind: .video, parameters: video.parameters, timeBase: timeBase)
    videoStream.carriesCVO = true
    // See `RTPCodec.decoderName`.
    videoStream.decoderName = video.codec == .vp9 ? "libvpx-vp9" : nil
    let audioStream = audio.map {
      StreamInfo(index: 1, kind: .audio, parameters: $0.parameters, timeBase: $0.timeBase)
    }
    streams = [videoStream, audioStream].compactMap(\.self)
    container = Demuxer.Container(format: "memory", streams: streams, isSeekable: false)
  }

  convenience init(_ feed: PacketFeed) {
    self.init(feed.video, audio: feed.audio, timeBase: feed.timeBase, packets: feed.packets)
  }

  var losses: [String] { [] }

  func bestStream(_ kind: StreamKind) -> StreamInfo? { streams.first { $0.kind == kind } }

  func select(_ indices: Set<Int>) {}

  func read() throws(UprightError) -> Packet? {
    while let next = packets.take() {
      guard let stream = bestStream(next.track == .video ? .video : .audio) else { continue }
      var packet = try Packet(
        next.bytes, stream: stream, pts: next.pts, isKey: next.isKey, duration: next.duration)
      packet.dts = next.dts
      packet.timeBase = next.timeBase
      packet.rescale(to: stream.timeBase)
      packet.cvo = next.cvo
      return packet
    }
    return nil
  }
}
