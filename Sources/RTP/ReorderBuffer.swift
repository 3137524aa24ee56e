/// Brings packets into the order of their sequence numbers, in bounded memory.
///
/// A packet that is missing is waited for until `capacity` later ones are there. A stream that starts
/// anew (another source, or sequence numbers that have nothing to do with the last ones) is told from
/// a stray packet by a second one of its kind (RFC 3550, A.1).
struct ReorderBuffer: Sendable {
  /// A packet and when it arrived.
  struct Received: Sendable {
    let packet: RTPPacket
    /// Milliseconds since the first; nil where that is not known.
    let arrival: Int64?
  }

  /// What comes out, in order.
  struct Released: Sendable {
    let received: Received
    /// How many packets in front of it never came.
    let lost: Int
    /// The first of a stream that started anew.
    let isRestart: Bool
  }

  private(set) var statistics = RTPStatistics()
  private let capacity: Int
  private let startingDepth: Int
  /// In ascending order.
  private var held: [(sequence: Int64, received: Received)] = []
  /// The sequence number to be released next; nil at a start, whose first packets may be out of order.
  private var next: Int64?
  private var highest: Int64?
  private var ssrc: UInt32?
  private var isRestart = false
  private var strays: [Received] = []
  /// Sequence numbers that were given up, the latest last.
  private var givenUp: [Range<Int64>] = []

  /// RFC 3550's MAX_DROPOUT: how far sequence numbers may jump.
  private static let farthest: Int64 = 3000

  /// - Parameters:
  ///   - capacity: how many packets wait for a missing one.
  ///   - startingDepth: how many of the first packets are put in order before any is released.
  init(capacity: Int, startingDepth: Int) {
    self.capacity = max(1, capacity)
    self.startingDepth = max(1, min(startingDepth, capacity))
  }

  /// Takes the next packet as it came; what can go on is appended to `out`.
  mutating func add(_ received: Received, to out: inout [Released]) {
    statistics.received += 1
    guard let sequence = extended(received.packet) else {
      addStray(received, to: &out)
      return
    }
    statistics.strays += strays.count
    strays = []
    insert(sequence, received)
    release(to: &out)
  }

  /// At the end: everything that waits.
  mutating func finish(_ out: inout [Released]) {
    statistics.strays += strays.count
    strays = []
    drain(to: &out)
  }

  /// The packet's place in the stream; nil where it seems to be of another.
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
    release(to: &out)
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

  private mutating func release(to out: inout [Released]) {
    if next == nil, held.count < startingDepth { return }
    var count = 0
    while count < held.count {
      let isNext = next == nil || held[count].sequence == next
      guard isNext || held.count - count >= capacity else { break }
      emit(held[count], to: &out)
      count += 1
    }
    held.removeFirst(count)
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

/// What became of a stream's packets.
public struct RTPStatistics: Sendable, Hashable {
  /// Whole RTP packets that came in.
  public internal(set) var received = 0
  /// Packets that are no RTP, or whose payload is not of the codec.
  public internal(set) var malformed = 0
  /// Sequence numbers that never came, or too late.
  public internal(set) var lost = 0
  /// Packets that came after they had been given up.
  public internal(set) var late = 0
  /// Packets that came twice.
  public internal(set) var duplicates = 0
  /// Packets that belong to no stream.
  public internal(set) var strays = 0
  /// How often the source started anew.
  public internal(set) var restarts = 0
  /// Frames of which something is missing.
  public internal(set) var incompleteFrames = 0
  /// Frames of which nothing is left that could be decoded.
  public internal(set) var unusableFrames = 0
  /// Whole frames that may refer to what was lost, up to the next keyframe.
  public internal(set) var dependentFrames = 0
}
