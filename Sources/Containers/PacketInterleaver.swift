internal import DequeModule
internal import Orientation
package import UprightMediaIO
package import UprightPipeline

/// Brings the packets of several tracks into one order by time.
///
/// Sound is copied as soon as it is read, while pictures leave the encoder dozens of frames later; and
/// a sound frame belongs to the segment that holds its PTS. So each track waits for the others, for at
/// most `patience` seconds.
package final class PacketInterleaver {
  /// One packet on its way to the container.
  package struct Item: ~Copyable {
    var packet: Packet
    package let track: Int
    /// The format that begins with this packet.
    package let format: EncodedFormat?
    /// Seconds by which it is ordered.
    let time: Double

    package consuming func takePacket() -> Packet { packet }
  }

  /// Queues take nothing noncopyable.
  private final class Box {
    private var item: Item?
    private(set) var time = 0.0
    private(set) var decodingTime = 0.0

    func fill(_ item: consuming Item) {
      time = item.time
      let tick = item.packet.timeBase.doubleValue
      decodingTime = (item.packet.dts ?? item.packet.pts).map { Double($0) * tick } ?? time
      self.item = consume item
    }

    func take() -> Item? { item.take() }
  }

  private struct Track {
    var waiting = Deque<Box>()
    var lastTime = -Double.infinity
    /// Where the last packet ends: of a track without gaps, nothing that is to come lies before it.
    var end = -Double.infinity
    /// Whether the others wait for it: subtitles come too rarely.
    let isAwaited: Bool
    var isEnded = false
  }

  private var tracks: [Track]
  /// Boxes that are empty, to be used again: packets come as long as the clip lasts.
  private var spare: [Box] = []
  private let cutsAtKeys: Bool
  private let patience: Double
  private let isGapless: Bool

  /// - Parameter cutsAtKeys: whether an IDR is ordered by its PTS, because a segment begins there,
  ///   and whatever follows on its track comes after it. Elsewhere decoding times order the pictures:
  ///   FLV's muxer refuses what lies before its first packet.
  /// - Parameter isGapless: whether each packet of sound begins where the one before it ends.
  package init(awaited: [Bool], cutsAtKeys: Bool, patience: Double = 10, isGapless: Bool = false) {
    tracks = awaited.map { Track(isAwaited: $0) }
    self.cutsAtKeys = cutsAtKeys
    self.patience = patience
    self.isGapless = isGapless
  }

  /// Adds a packet.
  package func add(_ packet: consuming Packet, track: Int, format: EncodedFormat?, isVideo: Bool) {
    let tick = packet.timeBase.doubleValue
    let isByDTS = isVideo && !(packet.isKey && cutsAtKeys)
    let order = isByDTS ? packet.dts ?? packet.pts : packet.pts ?? packet.dts
    let time = max(order.map { Double($0) * tick } ?? 0, tracks[track].lastTime)
    tracks[track].lastTime = time
    if isGapless && !isVideo { tracks[track].end = time + Double(packet.duration) * tick }
    let box = spare.popLast() ?? Box()
    box.fill(Item(packet: packet, track: track, format: format, time: time))
    tracks[track].waiting.append(box)
  }

  /// The lowest decoding time among the packets that wait at the heads, in seconds.
  package var earliestDecodingTime: Double {
    tracks.lazy.compactMap { $0.waiting.first?.decodingTime }.min() ?? 0
  }

  /// Says that no more packets of a track will come.
  package func end(track: Int) { tracks[track].isEnded = true }

  /// The next packet that no other can precede; nil where one must wait.
  package func next() -> Item? {
    var first: Int?
    var latest = -Double.infinity
    // Where the tracks that have nothing waiting may go on.
    var nearest = Double.infinity
    for index in tracks.indices {
      guard let box = tracks[index].waiting.first else {
        if tracks[index].isAwaited && !tracks[index].isEnded {
          nearest = min(nearest, tracks[index].end)
        }
        continue
      }
      latest = max(latest, tracks[index].lastTime)
      if first.map({ box.time < tracks[$0].waiting[0].time }) ?? true { first = index }
    }
    guard let first, let box = tracks[first].waiting.first else { return nil }
    if nearest <= box.time && latest - box.time < patience { return nil }
    tracks[first].waiting.removeFirst()
    defer { spare.append(box) }
    return box.take()
  }
}
