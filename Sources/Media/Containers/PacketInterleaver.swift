internal import DequeModule
package import UprightOrientation
package import UprightMediaIO

/// Orders the packets of several tracks by time.
///
/// Audio is copied as soon as it is read, while frames leave the encoder dozens of frames later, and an audio
/// packet belongs to the segment that contains its PTS. So each track waits for the others, for at most
/// `timeout`.
package final class PacketInterleaver {
  /// One packet for the container.
  package struct Item: ~Copyable {
    var packet: Packet
    package let track: Int
    /// The format that begins with this packet.
    package let format: EncodedFormat?
    /// The time by which packets are ordered.
    let time: MediaTime

    package consuming func takePacket() -> Packet { packet }
  }

  /// Queues hold no noncopyable elements.
  private final class Box {
    private var item: Item?
    private(set) var time = MediaTime.zero
    private(set) var decodingTime = MediaTime.zero

    func fill(_ item: consuming Item) {
      time = item.time
      decodingTime = item.packet.decodingTime ?? time
      self.item = consume item
    }

    func take() -> Item? { item.take() }

    /// Returns another box with the same packet.
    func copy() throws(UprightError) -> Box {
      let copy = Box()
      guard let item = take() else { return copy }
      copy.fill(
        Item(
          packet: try item.packet.shared(), track: item.track, format: item.format, time: item.time)
      )
      self.item = consume item
      return copy
    }
  }

  private struct Track {
    var waiting = Deque<Box>()
    /// The time of the last packet; `nil` if none has come.
    var lastTime: MediaTime?
    /// The end of the last packet in a track without gaps, where no later packet comes before it; `nil` if
    /// later packets may come at any time.
    var end: MediaTime?
    /// Whether the other tracks wait for this one. Subtitles are too sparse for that.
    let isAwaited: Bool
    var isEnded = false

    /// Whether a packet that comes before `time` may still be added, for which the other tracks wait.
    func mayPrecede(_ time: MediaTime) -> Bool {
      waiting.isEmpty && isAwaited && !isEnded && end.map { $0 <= time } ?? true
    }
  }

  private var tracks: [Track]
  /// Empty boxes for reuse, since packets come for as long as the input lasts.
  private var spare: [Box] = []
  private let cutsAtKeys: Bool
  private let timeout: MediaTime
  private let isGapless: Bool

  /// - Parameter cutsAtKeys: Whether an IDR frame is ordered by its PTS, because a segment begins there, and
  ///   the rest of its track comes after it. Otherwise frames are ordered by decoding time: FLV's muxer
  ///   refuses packets that come before its first one.
  /// - Parameter timeout: The time that a track waits for the others.
  /// - Parameter isGapless: Whether each audio packet begins where the one before it ends.
  package init(
    awaited: [Bool], cutsAtKeys: Bool, timeout: MediaTime = MediaTime(10, .one),
    isGapless: Bool = false
  ) {
    tracks = awaited.map { Track(isAwaited: $0) }
    self.cutsAtKeys = cutsAtKeys
    self.timeout = timeout
    self.isGapless = isGapless
  }

  /// Returns another one, in which the same packets wait.
  package func copy() throws(UprightError) -> PacketInterleaver {
    let copy = PacketInterleaver(
      awaited: tracks.map(\.isAwaited), cutsAtKeys: cutsAtKeys, timeout: timeout,
      isGapless: isGapless)
    for index in tracks.indices {
      copy.tracks[index] = tracks[index]
      copy.tracks[index].waiting.removeAll()
      for box in tracks[index].waiting { copy.tracks[index].waiting.append(try box.copy()) }
    }
    return copy
  }

  package func add(_ packet: consuming Packet, track: Int, format: EncodedFormat?, isVideo: Bool) {
    let isByDTS = isVideo && !(packet.isKey && cutsAtKeys)
    var time = (isByDTS ? packet.decodingTime : packet.time) ?? .zero
    if let last = tracks[track].lastTime { time = max(time, last) }
    tracks[track].lastTime = time
    if isGapless && !isVideo { tracks[track].end = time + packet.length }
    let box = spare.popLast() ?? Box()
    box.fill(Item(packet: packet, track: track, format: format, time: time))
    tracks[track].waiting.append(box)
  }

  /// The lowest decoding time of the first queued packets of all tracks.
  package var earliestDecodingTime: MediaTime {
    tracks.lazy.compactMap { $0.waiting.first?.decodingTime }.min() ?? .zero
  }

  /// The decoding time of the first queued packet of the video.
  package var earliestFrame: MediaTime { tracks[0].waiting.first?.decodingTime ?? .zero }

  /// Ends a track: no more packets of it will come.
  package func end(track: Int) { tracks[track].isEnded = true }

  /// Returns the next packet, if no other packet can come before it; otherwise `nil`.
  package func next() -> Item? {
    var first: Int?
    var latest: MediaTime?
    for index in tracks.indices {
      guard let box = tracks[index].waiting.first else { continue }
      if let last = tracks[index].lastTime { latest = max(latest ?? last, last) }
      if first.map({ box.time < tracks[$0].waiting[0].time }) ?? true { first = index }
    }
    guard let first, let box = tracks[first].waiting.first else { return nil }
    if let latest, latest - box.time < timeout,
      tracks.contains(where: { $0.mayPrecede(box.time) })
    {
      return nil
    }
    tracks[first].waiting.removeFirst()
    defer { spare.append(box) }
    return box.take()
  }
}
