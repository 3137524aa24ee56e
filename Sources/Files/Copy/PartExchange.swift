internal import DequeModule
internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Brings packets from several threads into order: the video packets part by part, and the packets of the
/// other tracks as they were read.
///
/// All queues are bounded, and there is no deadlock. Call the part whose packets are written now the head.
/// The writer waits for both the head's packets and those of the other tracks, and accepts either at once, so
/// the encoder of the head is never blocked for long. Only the queues of later parts fill up, and they block
/// only their own encoders. The reader also fills those queues, and it feeds the head. But it adds to a later
/// part, or waits for space in one, only after it has read past the head, which then has all the packets it
/// needs to finish. While it feeds the head, it waits for the head only.
final class PartExchange: @unchecked Sendable {
  // Unchecked: everything below is accessed only while `condition` is locked.
  private struct Lane {
    var packets = Deque<PacketBox>()
    var isEnded = false
  }

  /// A packet to be written.
  enum Item {
    /// A packet of another track.
    case side(PacketBox)
    /// A video packet of a part.
    case frame(PacketBox, part: Int)
  }

  private static let sideLimit = 64
  /// How long nobody is asked whether a packet is still wanted.
  private static let patience = Duration.milliseconds(50)

  private let condition = WaitCondition()
  private var side = Deque<PacketBox>()
  private var lanes: [Int: Lane] = [:]
  private var head: Int
  /// The number of parts; `nil` until reading has ended.
  private var count: Int?
  private var isClosed = false
  private var error: UprightError?
  /// How often anything has changed.
  private var changes = 0

  /// - Parameter first: The index of the first part.
  init(first: Int = 0) { head = first }

  /// Waits for space and adds a packet of another track. Returns `false`, and discards the packet, if the
  /// exchange is closed.
  func put(_ packet: consuming Packet) -> Bool {
    let boxed = PacketBox(packet, format: nil)
    return locked {
      condition.wait(while: side.count >= Self.sideLimit && !isClosed)
      if isClosed { return false }
      side.append(boxed)
      return true
    }
  }

  /// Waits for space and adds a video packet. Returns `false`, and discards the packet, if the exchange is
  /// closed.
  ///
  /// - Parameter limit: The number of packets of the part that may wait.
  func put(
    _ packet: consuming Packet, format: EncodedFormat? = nil, part: Int, limit: Int
  ) -> Bool {
    let boxed = PacketBox(packet, format: format)
    return locked {
      condition.wait(while: (lanes[part]?.packets.count ?? 0) >= limit && !isClosed)
      if isClosed { return false }
      lanes[part, default: Lane()].packets.append(boxed)
      return true
    }
  }

  /// Ends a part: it has no more packets.
  func end(part: Int) { locked { lanes[part, default: Lane()].isEnded = true } }

  /// Ends reading: no packet of another track follows, and no part after the first `count`.
  func endReading(parts count: Int) { locked { self.count = count } }

  /// Closes the exchange with an error, which `take` throws.
  func fail(_ error: UprightError) {
    locked {
      if self.error == nil { self.error = error }
      isClosed = true
    }
  }

  /// Closes the exchange and wakes all waiting threads.
  func close() { locked { isClosed = true } }

  /// Waits for the next packet and returns it; `nil` at the end, and if it isn't wanted any more.
  ///
  /// - Parameter isWanted: Asked at once, and now and then while nothing comes.
  func take(while isWanted: () -> Bool = { true }) throws(UprightError) -> Item? {
    condition.lock()
    defer { condition.unlock() }
    while isWanted() {
      if let error { throw error }
      if let packet = side.popFirst() {
        condition.broadcast()
        return .side(packet)
      }
      if let packet = lanes[head]?.packets.popFirst() {
        condition.broadcast()
        return .frame(packet, part: head)
      }
      if lanes[head]?.isEnded == true {
        lanes[head] = nil
        head += 1
      } else if isClosed || count.map({ head >= $0 }) == true {
        return nil
      } else {
        let seen = changes
        condition.wait(while: changes == seen, until: .now + Self.patience)
      }
    }
    return nil
  }

  private func locked<R>(_ body: () -> R) -> R {
    condition.lock()
    defer {
      changes += 1
      condition.broadcast()
      condition.unlock()
    }
    return body()
  }
}
