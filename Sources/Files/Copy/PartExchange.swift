internal import DequeModule
internal import Foundation
internal import UprightEncoding
internal import UprightMediaIO
internal import UprightPipeline

/// Brings packets that are made on several threads into the order of the clip: those of the pictures
/// part by part, and beside them those of the other tracks as they were read.
///
/// Every queue in here is bounded, and nothing can come to a standstill. Call the part whose packets are
/// taken now the head. The taker waits for the head's packets and for those beside the pictures, and
/// takes either at once; so the thread that makes the head's packets is never held up for long. What
/// fills up is the queues of later parts, and those hold up their own makers only. The reader is such a
/// maker, and it is also who feeds the head; but it puts into a later part, or waits for room in one,
/// only when it has read past the head, which then has all that it needs to come to its end. As long as
/// it feeds the head it waits for nobody but the head.
final class PartExchange: @unchecked Sendable {
  // Unchecked: everything below is only touched under `condition`.
  private struct Lane {
    var packets = Deque<EncodedPacket>()
    var isEnded = false
  }

  /// What is taken.
  enum Item {
    /// A packet beside the pictures.
    case side(EncodedPacket)
    /// A packet of the pictures of a part.
    case picture(EncodedPacket, part: Int)
  }

  private static let sideLimit = 64

  private let condition = NSCondition()
  private var side = Deque<EncodedPacket>()
  private var lanes: [Int: Lane] = [:]
  private var head = 0
  /// How many parts there are; nil as long as more may come.
  private var count: Int?
  private var isClosed = false
  private var error: MediaError?

  /// Waits for room and hands over a packet beside the pictures; false (and it is gone) once closed.
  func put(_ packet: consuming Packet) -> Bool {
    let boxed = EncodedPacket(packet, format: nil)
    return locked {
      while side.count >= Self.sideLimit && !isClosed { condition.wait() }
      if isClosed { return false }
      side.append(boxed)
      return true
    }
  }

  /// The same for a packet of the pictures.
  ///
  /// - Parameter limit: packets of the part that may wait.
  func put(
    _ packet: consuming Packet, format: EncodedFormat? = nil, part: Int, limit: Int
  ) -> Bool {
    let boxed = EncodedPacket(packet, format: format)
    return locked {
      while (lanes[part]?.packets.count ?? 0) >= limit && !isClosed { condition.wait() }
      if isClosed { return false }
      lanes[part, default: Lane()].packets.append(boxed)
      return true
    }
  }

  /// Says that a part has no more packets.
  func end(part: Int) { locked { lanes[part, default: Lane()].isEnded = true } }

  /// Says that no packet beside the pictures follows, nor a part after the first `count`.
  func endReading(parts count: Int) { locked { self.count = count } }

  /// Ends all with an error, which the taker will meet.
  func fail(_ error: MediaError) {
    locked {
      if self.error == nil { self.error = error }
      isClosed = true
    }
  }

  /// Lets everyone go, whatever they wait for.
  func close() { locked { isClosed = true } }

  /// Waits for the next packet; nil at the end.
  func take() throws(MediaError) -> Item? {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let error { throw error }
      if let packet = side.popFirst() {
        condition.broadcast()
        return .side(packet)
      }
      if let packet = lanes[head]?.packets.popFirst() {
        condition.broadcast()
        return .picture(packet, part: head)
      }
      if lanes[head]?.isEnded == true {
        lanes[head] = nil
        head += 1
      } else if isClosed || count.map({ head >= $0 }) == true {
        return nil
      } else {
        condition.wait()
      }
    }
  }

  private func locked<R>(_ body: () -> R) -> R {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return body()
  }
}
