internal import DequeModule
internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// The queue of packets for one output, limited in time and in bytes.
///
/// Adding a packet never blocks. If an output falls behind, packets up to an IDR are dropped: the last queued
/// IDR that leaves half of the capacity free, or the next one to arrive. A format that started among dropped
/// packets starts at that IDR.
final class OutputQueue: @unchecked Sendable {
  // Unchecked: all properties below are only accessed while `condition` is locked.

  /// A queued packet.
  struct Item {
    let packet: PacketBox
    let track: Int
    /// The format that starts with this packet, or that started earlier with a dropped packet.
    var format: EncodedFormat?
    let time: MediaTime
    let bytes: Int
    /// Whether video decoding can start here.
    let isKeyframe: Bool
    /// Whether packets before it were dropped.
    var followsHole = false
    /// Whether it is of a repeated frame, or silence, while the input is lost.
    let isFrozen: Bool
  }

  /// How much may wait.
  private struct Limits {
    let duration: MediaTime
    let bytes: Int

    init(seconds: Double, bytes: Int) {
      duration = MediaTime(seconds: max(0, seconds))
      self.bytes = max(0, bytes)
    }
  }

  private let condition = WaitCondition()
  private let limits: Limits
  /// What may be left after packets were dropped.
  private let halfLimits: Limits
  private var items = Deque<Item>()
  private var bytes = 0
  /// Whether all packets up to the next IDR are dropped.
  private var isSkipping = false
  /// The last format that started among dropped packets.
  private var missedFormat: EncodedFormat?
  /// Whether packets were dropped since the last one that was kept.
  private var hasHole = false
  private var dropped = 0
  private var isEnded = false

  /// - Parameters:
  ///   - seconds: The duration of the stream that may wait.
  ///   - bytes: The number of bytes that may wait.
  init(seconds: Double, bytes: Int) {
    limits = Limits(seconds: seconds, bytes: bytes)
    halfLimits = Limits(seconds: seconds / 2, bytes: bytes / 2)
  }

  /// Adds a packet; track 0 is the video. O(1) unless packets are dropped.
  func put(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?, isFrozen: Bool = false
  ) {
    let isKeyframe = track == 0 && packet.isKey
    let time = packet.time ?? .zero
    let size = packet.size
    let box = PacketBox(packet, format: nil)
    condition.lock()
    defer { condition.unlock() }
    if isEnded {
      if track == 0 { dropped += 1 }
      return
    }
    var item = Item(
      packet: box, track: track, format: format, time: time, bytes: size,
      isKeyframe: isKeyframe, isFrozen: isFrozen)
    if isSkipping && !isKeyframe { return drop(item) }
    if isKeyframe {
      isSkipping = false
      item.format = format ?? missedFormat
      item.followsHole = hasHole
      (missedFormat, hasHole) = (nil, false)
    }
    items.append(item)
    bytes += size
    if exceeds(limits, from: 0, bytes) { makeRoom() }
    condition.broadcast()
  }

  /// Returns whether the packets from `index` on, of `bytes` together, exceed `limits`.
  private func exceeds(_ limits: Limits, from index: Int, _ bytes: Int) -> Bool {
    guard index < items.count, let last = items.last else { return false }
    // A single packet is always accepted, however large; otherwise nothing would ever pass.
    guard items.count - index > 1 else { return false }
    return bytes > limits.bytes || last.time - items[index].time > limits.duration
  }

  private func makeRoom() {
    var rest = bytes
    var entry: Int?
    for index in items.indices {
      if index > 0, items[index].isKeyframe, !exceeds(halfLimits, from: index, rest) {
        entry = index
        break
      }
      rest -= items[index].bytes
    }
    for _ in 0..<(entry ?? items.count) { drop(items.removeFirst()) }
    bytes = items.reduce(0) { $0 + $1.bytes }
    guard entry != nil else {
      isSkipping = true
      return
    }
    items[0].format = items[0].format ?? missedFormat
    items[0].followsHole = true
    (missedFormat, hasHole) = (nil, false)
  }

  private func drop(_ item: Item) {
    missedFormat = item.format ?? missedFormat
    hasHole = true
    if item.track == 0 { dropped += 1 }
  }

  /// Waits for the next packet. Returns `nil` when the queue has ended and is empty.
  func take() -> Item? {
    condition.lock()
    defer { condition.unlock() }
    condition.wait(while: items.isEmpty && !isEnded)
    guard let item = items.popFirst() else { return nil }
    bytes -= item.bytes
    return item
  }

  /// Ends the queue: no packet follows. Queued packets can still be taken.
  func end() {
    condition.withLock {
      isEnded = true
      condition.broadcast()
    }
  }

  /// The number of frames that were dropped so far.
  var droppedFrames: Int { condition.withLock { dropped } }

  /// The number of queued packets.
  var depth: Int { condition.withLock { items.count } }
}
