/// One stream of RTP, from packets as they come in to frames as a decoder takes them.
///
/// What is damaged is handed out all the same, and flagged: a decoder patches it, and the counts say so.
/// Memory is bounded by the buffer's capacity and one frame.
public struct RTPStream: Sendable {
  private let codec: RTPCodec
  private let redundancy: UInt8?
  private var buffer: ReorderBuffer
  private var clock: MediaClock
  private var assembler: FrameAssembler
  private var counted = RTPStatistics()

  /// - Parameters:
  ///   - orientation: which header extensions carry CVO.
  ///   - redundancy: the payload type of RED (RFC 2198) around the codec's own; nil: none.
  ///   - capacity: how many packets wait for a missing one.
  ///   - startingDepth: how many of the first are put in order before any goes on.
  public init(
    codec: RTPCodec, orientation: OrientationExtension = OrientationExtension([:]),
    redundancy: UInt8? = nil, capacity: Int = 512, startingDepth: Int = 16
  ) {
    self.codec = codec
    self.redundancy = redundancy
    buffer = ReorderBuffer(capacity: capacity, startingDepth: startingDepth)
    clock = MediaClock(rate: codec.clockRate)
    assembler = FrameAssembler(codec: codec, orientation: orientation)
  }

  /// What became of the packets so far.
  public var statistics: RTPStatistics {
    var sum = buffer.statistics
    sum.malformed = counted.malformed
    sum.incompleteFrames = counted.incompleteFrames
    sum.unusableFrames = counted.unusableFrames
    sum.dependentFrames = counted.dependentFrames
    return sum
  }

  /// Takes a packet as it came, and returns the frames that it finished.
  ///
  /// - Parameter arrival: when it came, in milliseconds since the first; nil where that is not known.
  public mutating func take(_ bytes: [UInt8], arrival: Int64? = nil) -> [AccessUnit] {
    if RTPPacket.isControl(bytes) { return [] }
    guard let packet = RTPPacket(bytes) else {
      counted.malformed += 1
      return []
    }
    var released: [ReorderBuffer.Released] = []
    buffer.add(ReorderBuffer.Received(packet: packet, arrival: arrival), to: &released)
    return units(released)
  }

  /// At the end: what is left.
  public mutating func finish() -> [AccessUnit] {
    var released: [ReorderBuffer.Released] = []
    buffer.finish(&released)
    var out = units(released)
    if codec.isVideo { assembler.finish(&counted, &out) }
    return out
  }

  private mutating func units(_ released: [ReorderBuffer.Released]) -> [AccessUnit] {
    var out: [AccessUnit] = []
    for item in released {
      let packet = item.received.packet
      let ticks = clock.ticks(
        of: packet.timestamp, arrival: item.received.arrival, isRestart: item.isRestart)
      if codec.isVideo {
        assembler.add(item, ticks: ticks, statistics: &counted, to: &out)
      } else if let bytes = sound(packet) {
        out.append(AccessUnit(bytes: bytes, ticks: ticks, isKey: true))
      }
    }
    return out
  }

  /// The codec's own bytes in a packet of sound; nil where there are none.
  private mutating func sound(_ packet: RTPPacket) -> [UInt8]? {
    // Comfort noise (RFC 3389) comes among G.711 under a payload type of its own.
    if codec != .opus, packet.payloadType == 13 { return nil }
    guard packet.payloadType == redundancy else {
      return packet.payload.isEmpty ? nil : Array(packet.payload)
    }
    guard let primary = RedundantPayload.primary(packet.payload) else {
      counted.malformed += 1
      return nil
    }
    return primary.isEmpty ? nil : Array(primary)
  }
}
