internal import DequeModule
internal import Foundation
internal import UprightEncoding
internal import UprightMediaIO
internal import UprightPipeline

/// Packets on their way to one output, bounded in time and in bytes.
///
/// Whoever puts packets in never waits. An output that falls behind loses what waits up to an IDR: the
/// last one that leaves half of the room free, or the next one to come. A format that began among what
/// was lost begins at that IDR.
final class OutputQueue: @unchecked Sendable {
  // Unchecked: everything below is only touched under `condition`.

  /// A packet that waits.
  struct Item {
    let packet: EncodedPacket
    let track: Int
    /// The format that begins with it, or that began before it with what was lost.
    var format: EncodedFormat?
    let seconds: Double
    let bytes: Int
    /// Whether decoding of the pictures can begin here.
    let isEntry: Bool
  }

  private let condition = NSCondition()
  private let longest: Double
  private let largest: Int
  private var items = Deque<Item>()
  private var bytes = 0
  /// Everything up to the next IDR is lost.
  private var isSkipping = false
  /// The last format that began among what was lost.
  private var missedFormat: EncodedFormat?
  private var lost = 0
  private var isEnded = false

  /// - Parameters:
  ///   - seconds: how long a stretch of the stream may wait.
  ///   - bytes: how many bytes may wait.
  init(seconds: Double, bytes: Int) {
    longest = max(0, seconds)
    largest = max(0, bytes)
  }

  /// Adds a packet; track 0 is the pictures. O(1) but where packets are lost.
  func put(_ packet: consuming Packet, track: Int, format: EncodedFormat?) {
    let isEntry = track == 0 && packet.isKey
    let (seconds, size) = (packet.seconds ?? 0, packet.size)
    let box = EncodedPacket(packet, format: nil)
    condition.lock()
    defer { condition.unlock() }
    if isEnded {
      if track == 0 { lost += 1 }
      return
    }
    var item = Item(
      packet: box, track: track, format: format, seconds: seconds, bytes: size, isEntry: isEntry)
    if isSkipping && !isEntry { return lose(item) }
    if isEntry {
      isSkipping = false
      item.format = format ?? missedFormat
      missedFormat = nil
    }
    items.append(item)
    bytes += size
    if isFull(from: 0, bytes, share: 1) { makeRoom() }
    condition.broadcast()
  }

  /// Whether the packets from `index` on are more than that share of what may wait.
  private func isFull(from index: Int, _ bytes: Int, share: Double) -> Bool {
    guard index < items.count, let last = items.last else { return false }
    // A single packet is let through, however large: else nothing would ever pass.
    guard items.count - index > 1 else { return false }
    return Double(bytes) > Double(largest) * share
      || last.seconds - items[index].seconds > longest * share
  }

  private func makeRoom() {
    var rest = bytes
    var entry: Int?
    for index in items.indices {
      if index > 0, items[index].isEntry, !isFull(from: index, rest, share: 0.5) {
        entry = index
        break
      }
      rest -= items[index].bytes
    }
    for _ in 0..<(entry ?? items.count) { lose(items.removeFirst()) }
    bytes = items.reduce(0) { $0 + $1.bytes }
    guard entry != nil else {
      isSkipping = true
      return
    }
    items[0].format = items[0].format ?? missedFormat
    missedFormat = nil
  }

  private func lose(_ item: Item) {
    missedFormat = item.format ?? missedFormat
    if item.track == 0 { lost += 1 }
  }

  /// Waits for the next packet; nil once ended and empty.
  func take() -> Item? {
    condition.lock()
    defer { condition.unlock() }
    while items.isEmpty && !isEnded { condition.wait() }
    guard let item = items.popFirst() else { return nil }
    bytes -= item.bytes
    return item
  }

  /// Says that nothing follows. What waits can still be taken.
  func end() {
    condition.lock()
    isEnded = true
    condition.broadcast()
    condition.unlock()
  }

  /// Pictures that were lost so far.
  var lostFrames: Int {
    condition.lock()
    defer { condition.unlock() }
    return lost
  }

  /// Packets that wait.
  var depth: Int {
    condition.lock()
    defer { condition.unlock() }
    return items.count
  }
}
