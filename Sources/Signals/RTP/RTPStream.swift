/// An RTP stream. Turns received packets into frames for a decoder.
///
/// Damaged frames are output too, and are flagged. The decoder conceals the damage, and the statistics count
/// it. Memory is bounded by the buffer's capacity and one frame.
package struct RTPStream: Sendable {
  private let codec: RTPCodec
  private let redundancy: UInt8?
  private var buffer: ReorderBuffer
  private var clock: MediaClock
  private var assembler: FrameAssembler
  private var counted = RTPStatistics()

  /// - Parameters:
  ///   - orientation: The header extensions that carry CVO.
  ///   - redundancy: The payload type of RED (RFC 2198) around the codec's payload; `nil` for none.
  ///   - capacity: The number of packets that are held while one is missing.
  ///   - startingDepth: The number of packets that are sorted before the first one is released.
  ///   - longestWait: How long later packets are held, in milliseconds by their arrival; `nil` for no limit.
  package init(
    codec: RTPCodec, orientation: OrientationExtension = OrientationExtension([:]),
    redundancy: UInt8? = nil, capacity: Int = 512, startingDepth: Int = 16,
    longestWait: Int64? = nil
  ) {
    self.codec = codec
    self.redundancy = redundancy
    buffer = ReorderBuffer(
      capacity: capacity, startingDepth: startingDepth, longestWait: longestWait)
    clock = MediaClock(rate: codec.clockRate)
    assembler = FrameAssembler(codec: codec, orientation: orientation)
  }

  /// The packet statistics so far.
  package var statistics: RTPStatistics {
    var sum = buffer.statistics
    sum.malformed = counted.malformed
    sum.incompleteFrames = counted.incompleteFrames
    sum.unusableFrames = counted.unusableFrames
    sum.dependentFrames = counted.dependentFrames
    return sum
  }

  /// Adds a received packet, and returns the frames that it completes.
  ///
  /// - Parameter arrival: The arrival time since the first packet, in milliseconds; `nil` if unknown.
  package mutating func receive(_ bytes: [UInt8], arrival: Int64? = nil) -> [AccessUnit] {
    if RTPPacket.isControl(bytes) { return [] }
    guard let packet = RTPPacket(bytes) else {
      counted.malformed += 1
      return []
    }
    var released: [ReorderBuffer.Released] = []
    buffer.add(ReorderBuffer.Received(packet: packet, arrival: arrival), to: &released)
    return units(released)
  }

  /// The source of the stream; `nil` before the first packet.
  package var ssrc: UInt32? { buffer.ssrc }

  /// Gives up the missing packets for which others have been held for the longest wait, and returns the frames that
  /// can be completed. Without calls of this, the wait ends when a later packet arrives.
  ///
  /// - Parameter now: The time since the first packet, in milliseconds.
  package mutating func expire(at now: Int64) -> [AccessUnit] {
    var released: [ReorderBuffer.Released] = []
    buffer.expire(at: now, to: &released)
    return released.isEmpty ? [] : units(released)
  }

  /// The time at which `expire` has something to give up; `nil` if no packet is waited for.
  package var nextExpiry: Int64? { buffer.nextExpiry }

  /// Returns the ticks since the stream's first packet for an RTP timestamp near the last one, or `nil` before the
  /// first packet.
  package func ticks(near timestamp: UInt32) -> Int64? { clock.ticks(near: timestamp) }

  /// Returns the remaining frames at the end of the stream.
  package mutating func finish() -> [AccessUnit] {
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
      } else if let bytes = audioPayload(packet) {
        out.append(AccessUnit(bytes: bytes, ticks: ticks, isKey: true))
      }
    }
    return out
  }

  /// Returns the codec's payload of an audio packet, or `nil` if there is none.
  private mutating func audioPayload(_ packet: RTPPacket) -> [UInt8]? {
    // G.711 streams may contain comfort noise (RFC 3389) with a separate payload type.
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
