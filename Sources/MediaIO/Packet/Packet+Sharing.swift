internal import CUprightFFmpeg
package import UprightOrientation

extension Packet {
  /// Returns a second owner of the same payload, with separate timestamps and flags. The memory is shared,
  /// and is read-only from then on.
  package func shared() throws(UprightError) -> Packet {
    var packet = try Packet()
    try check(av_packet_ref(packet.raw, raw)) { _ in outOfMemory("packet") }
    packet.timeBase = timeBase
    packet.cvo = cvo
    packet.startsAnew = startsAnew
    return packet
  }

  /// Returns a packet with the same timestamps and flags, and no payload.
  package func withoutPayload() throws(UprightError) -> Packet {
    var packet = try Packet()
    try check(av_packet_copy_props(packet.raw, raw)) { _ in outOfMemory("packet") }
    packet.timeBase = timeBase
    return packet
  }
}
