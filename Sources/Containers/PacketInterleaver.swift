internal import DequeModule
internal import Orientation
package import UprightMediaIO
package import UprightPipeline

/// Orders the packets of several tracks by time.
///
/// Audio is copied as soon as it is read, while frames leave the encoder dozens of frames later, and an audio
/// packet belongs to the segment that contains its PTS. So each track waits for the others, for at most
/// `patience` seconds.
package final class PacketInterleaver {
  /// One packet for the container.
  package struct Item: ~Copyable {
    var packet: Packet
    package let track: Int
    /// The format that begins with this packet.
    package let format: EncodedFormat?
    /// The time by which packets are ordered, in seconds.
    let time: Double

    package consuming func takePacket() -> Packet { packet }
  }

  /// Queues hold no noncopyable elements.
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
    /// The end time of the last packet. In a track without gaps, no later packet comes before it.
    var end = -Double.infinity
    /// Whether the other tracks wait for this one. Subtitles are too sparse for that.
    let isAwaited: Bool
    var isEnded = false
  }

  private var tracks: [Track]
  /// Empty boxes for reuse, since packets come for as long as the input lasts.
  private var spare: [Box] = []
  private let cutsAtKeys: Bool
  private let patience: Double
  private let isGapless: Bool

  /// - Parameter cutsAtKeys: Whether an IDR frame is ordered by its PTS, because a segment begins there, and
  ///   the rest of its track comes after it. Otherwise frames are ordered by decoding time: FLV's muxer
  ///   refuses packets that come before its first one.
  /// - Parameter patience: The time in seconds that a track waits for the others.
  /// - Parameter isGapless: Whether each audio packet begins where the one before it ends.
  package init(awaited: [Bool], cutsAtKeys: Bool, patience: Double = 10, isGapless: Bool = false) {
    tracks = awaited.map { Track(isAwaited: $0) }
    self.cutsAtKeys = cutsAtKeys
    self.patience = patience
    self.isGapless = isGapless
  }

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

  /// The lowest decoding time of the first queued packets of all tracks, in seconds.
  package var earliestDecodingTime: Double {
    tracks.lazy.compactMap { $0.waiting.first?.decodingTime }.min() ?? 0
  }

  /// Ends a track: no more packets of it will come.
  package func end(track: Int) { tracks[track].isEnded = true }

  /// Returns the next packet, if no other packet can come before it; otherwise `nil`.
  package func next() -> Item? {
    var first: Int?
    var latest = -Double.infinity
    // The earliest time at which a track without queued packets may continue.
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
