internal import CUprightFFmpeg
internal import UprightOrientation

/// Gives the frames of a video track their presentation times where the container stores none: those in AVI, and those in an
/// MPEG program stream that don't begin a packet of it (ISO/IEC 13818-1, 2.4.3.7). A decoder that delays frames returns, for
/// each packet but the first few, the next frame in presentation order: it is shown at the time of that packet.
final class PresentationOrder {
  /// A packet that waits for its presentation time or for those before it.
  private final class Waiting {
    var packet: Packet?
    let place: (sequence: Int, picture: Int)
    var isPlaced = false

    init(_ packet: consuming Packet, at place: (Int, Int)) {
      self.packet = consume packet
      self.place = place
    }

    func show(at time: Int64?) {
      if packet?.pts == nil { packet?.pts = time }
      isPlaced = true
    }
  }

  private let parser: PacketParser
  /// How many frames the decoder delays.
  private let depth: Int
  /// Whether the codec numbers the pictures of a coded video sequence (ISO/IEC 14496-10, 8.2.1). In all others, two
  /// references are shown in decoding order, and the frames between them before the latter.
  private let hasNumbers: Bool
  /// Takes a P and a B frame in one packet apart, as DivX and Xvid store them.
  private let divider: BitstreamFilter?
  /// In decoding order.
  private var packets: [Waiting] = []
  /// Those that have no presentation time yet.
  private var unplaced: [Waiting] = []
  private var sequence = 1
  /// The decoding time and the duration of the last packet.
  private var latest: Int64?
  private var step: Int64 = 1

  /// No decoder delays so many frames, nor does an encoder put so many B frames in succession.
  private static let most = 64

  /// Returns `nil` if the frames are in presentation order, or can't be parsed.
  init?(_ stream: StreamInfo) {
    depth = stream.parameters.reordering
    guard depth > 0, let parser = PacketParser(stream.parameters) else { return nil }
    self.parser = parser
    hasNumbers = ["h264", "hevc"].contains(stream.codecName)
    divider =
      stream.codecName == "mpeg4" ? try? BitstreamFilter("mpeg4_unpack_bframes", for: stream) : nil
  }

  /// Returns those of a container, by the index of the stream.
  static func tracks(of container: Demuxer.Container) -> [Int: PresentationOrder] {
    guard ["avi", "mpeg"].contains(container.format) else { return [:] }
    let videos = container.streams.filter { $0.kind == .video }
    let orders = videos.compactMap { video in PresentationOrder(video).map { (video.index, $0) } }
    return Dictionary(uniqueKeysWithValues: orders)
  }

  /// Adds the next packet in decoding order.
  func add(_ added: consuming Packet) throws(UprightError) {
    guard let packet = try divided(added) else { return }
    latest = packet.dts ?? latest
    step = max(1, packet.duration)
    let place = place(of: packet)
    let waiting = Waiting(packet, at: place)
    packets.append(waiting)
    unplaced.append(waiting)
    if unplaced.count > depth { placeNext(at: latest) }
    if packets.count > Self.most, let first = packets.first, !first.isPlaced {
      unplaced.removeAll { $0 === first }
      first.show(at: nil)
    }
  }

  /// Returns the next packet in decoding order whose presentation time is known.
  func next() -> Packet? {
    guard let first = packets.first, first.isPlaced else { return nil }
    packets.removeFirst()
    return first.packet.take()
  }

  /// Places the last frames: no packets follow.
  func finish() {
    while !unplaced.isEmpty {
      latest = latest.map { $0 + step }
      placeNext(at: latest)
    }
  }

  /// Starts anew: the next packet is one after a seek.
  func clear() {
    divider?.clear()
    packets = []
    unplaced = []
  }

  private func divided(_ packet: consuming Packet) throws(UprightError) -> Packet? {
    guard let divider else { return packet }
    return try divider.filter(packet)
  }

  private func placeNext(at time: Int64?) {
    let next = unplaced.indices.min { unplaced[$0].place < unplaced[$1].place }
    if let next { unplaced.remove(at: next).show(at: time) }
  }

  /// Returns where a frame is in presentation order.
  private func place(of packet: borrowing Packet) -> (Int, Int) {
    guard let picture = parser.read(packet)?.pointee else { return (sequence, .max) }
    if hasNumbers {
      let number = Int(picture.output_picture_number)
      if packet.isKey, number == 0 { sequence += 1 }
      return (sequence, number)
    }
    if picture.pict_type == AV_PICTURE_TYPE_B.rawValue { return (0, 0) }
    sequence += 1
    return (sequence, 0)
  }
}
