/// Sorts packets by sequence number, in bounded memory.
///
/// The buffer waits for a missing packet until it holds `capacity` later ones, or until the first of these has
/// been held for `longestWait`. A second packet of the same kind distinguishes a restarted stream (another source,
/// or unrelated sequence numbers) from a stray packet
/// (RFC 3550, A.1).
struct ReorderBuffer: Sendable {
  /// A packet and its arrival time.
  struct Received: Sendable {
    let packet: RTPPacket
    /// Milliseconds since the first packet; `nil` if unknown.
    let arrival: Int64?
  }

  /// A packet in sequence order.
  struct Released: Sendable {
    let received: Received
    /// The number of packets before this one that never arrived.
    let lost: Int
    /// Whether this is the first packet after a restart.
    let isRestart: Bool
  }

  private(set) var statistics = RTPStatistics()
  private let capacity: Int
  private let startingDepth: Int
  private let longestWait: Int64?
  /// In ascending order.
  private var held: [(sequence: Int64, received: Received)] = []
  /// The sequence number to release next; `nil` at a start, where packets may be out of order.
  private var next: Int64?
  private var highest: Int64?
  /// The source of the stream; `nil` before the first packet.
  private(set) var ssrc: UInt32?
  private var isRestart = false
  private var strays: [Received] = []
  /// Sequence numbers that were given up, the latest last.
  private var givenUp: [Range<Int64>] = []

  /// RFC 3550's MAX_DROPOUT: the largest jump of sequence numbers.
  private static let farthest: Int64 = 3000

  /// - Parameters:
  ///   - capacity: The number of packets that are held while one is missing.
  ///   - startingDepth: The number of packets that are sorted before the first one is released.
  ///   - longestWait: How long a packet is held, in milliseconds by the arrival of later ones; `nil` for no limit.
  init(capacity: Int, startingDepth: Int, longestWait: Int64? = nil) {
    self.longestWait = longestWait
    self.capacity = max(1, capacity)
    self.startingDepth = max(1, min(startingDepth, capacity))
  }

  /// Adds a received packet, and appends the packets that can be released to `out`.
  mutating func add(_ received: Received, to out: inout [Released]) {
    statistics.received += 1
    guard let sequence = extended(received.packet) else {
      addStray(received, to: &out)
      return
    }
    statistics.strays += strays.count
    strays = []
    insert(sequence, received)
    release(at: received.arrival, to: &out)
  }

  /// Gives up the missing packets for which others have been held for `longestWait`, although none arrives.
  ///
  /// - Parameter now: The time, as packets' arrival.
  mutating func expire(at now: Int64, to out: inout [Released]) { release(at: now, to: &out) }

  /// The time at which `expire` has something to give up; `nil` if nothing is held.
  var nextExpiry: Int64? {
    guard let longestWait, let arrival = held.first?.received.arrival else { return nil }
    return arrival.addingReportingOverflow(longestWait).partialValue
  }

  /// Releases all held packets at the end of the stream.
  mutating func finish(_ out: inout [Released]) {
    statistics.strays += strays.count
    strays = []
    drain(to: &out)
  }

  /// Returns the packet's position in the stream, or `nil` if it seems to belong to another one.
  private func extended(_ packet: RTPPacket) -> Int64? {
    guard let highest, let ssrc else { return Int64(packet.sequence) }
    let step = packet.sequence &- UInt16(truncatingIfNeeded: highest)
    let delta = Int64(Int16(bitPattern: step))
    guard packet.ssrc == ssrc, abs(delta) < Self.farthest else { return nil }
    return highest + delta
  }

  private mutating func addStray(_ received: Received, to out: inout [Released]) {
    if let last = strays.last?.packet {
      let step = Int16(bitPattern: received.packet.sequence &- last.sequence)
      if received.packet.ssrc != last.ssrc || !(-16...16).contains(step) {
        statistics.strays += strays.count
        strays = []
      }
    }
    strays.append(received)
    guard strays.count > 1 else { return }
    drain(to: &out)
    statistics.restarts += 1
    (next, highest, isRestart, givenUp) = (nil, nil, true, [])
    for received in strays {
      if let sequence = extended(received.packet) { insert(sequence, received) }
    }
    strays = []
    release(at: received.arrival, to: &out)
  }

  private mutating func insert(_ sequence: Int64, _ received: Received) {
    ssrc = received.packet.ssrc
    highest = max(highest ?? sequence, sequence)
    if let next, sequence < next {
      if givenUp.contains(where: { $0.contains(sequence) }) {
        statistics.late += 1
      } else {
        statistics.duplicates += 1
      }
      return
    }
    var place = held.count
    while place > 0, held[place - 1].sequence >= sequence { place -= 1 }
    if place < held.count, held[place].sequence == sequence {
      statistics.duplicates += 1
      return
    }
    held.insert((sequence, received), at: place)
  }

  /// - Parameter arrival: The arrival time of the last packet, or a later time.
  private mutating func release(at arrival: Int64?, to out: inout [Released]) {
    var count = 0
    while count < held.count {
      let isNext = next.map { held[count].sequence == $0 } ?? (held.count >= startingDepth)
      guard isNext || held.count - count >= capacity || isOverdue(held[count].received, at: arrival)
      else { break }
      emit(held[count], to: &out)
      count += 1
    }
    held.removeFirst(count)
  }

  private func isOverdue(_ received: Received, at arrival: Int64?) -> Bool {
    guard let longestWait, let arrival, let before = received.arrival else { return false }
    return arrival.subtractingReportingOverflow(before).partialValue >= longestWait
  }

  private mutating func drain(to out: inout [Released]) {
    for entry in held { emit(entry, to: &out) }
    held = []
  }

  private mutating func emit(
    _ entry: (sequence: Int64, received: Received), to out: inout [Released]
  ) {
    let expected = next ?? entry.sequence
    let lost = Int(entry.sequence - expected)
    if lost > 0 {
      statistics.lost += lost
      givenUp.append(expected..<entry.sequence)
      if givenUp.count > 64 { givenUp.removeFirst() }
    }
    next = entry.sequence + 1
    out.append(Released(received: entry.received, lost: lost, isRestart: isRestart))
    isRestart = false
  }
}

/// Packet and frame counts of a stream.
package struct RTPStatistics: Sendable, Hashable {
  /// Valid RTP packets that were received.
  package internal(set) var received = 0
  /// Packets that are not RTP, or whose payload is not valid for the codec.
  package internal(set) var malformed = 0
  /// Sequence numbers that never arrived, or arrived too late.
  package internal(set) var lost = 0
  /// Packets that arrived after they had been given up.
  package internal(set) var late = 0
  /// Packets that arrived twice.
  package internal(set) var duplicates = 0
  /// Packets that belong to no stream.
  package internal(set) var strays = 0
  /// How often the source restarted.
  package internal(set) var restarts = 0
  /// Frames with missing parts.
  package internal(set) var incompleteFrames = 0
  /// Frames without any data that could be decoded.
  package internal(set) var unusableFrames = 0
  /// Complete frames that may refer to lost data, up to the next keyframe.
  package internal(set) var dependentFrames = 0
}
