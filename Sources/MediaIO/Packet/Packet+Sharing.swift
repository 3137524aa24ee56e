internal import CFFmpeg

extension Packet {
  /// Another owner of the same payload, with times and marks of its own: the memory is shared, and is
  /// only read from then on.
  package func shared() throws(MediaError) -> Packet {
    var packet = try Packet()
    try check(av_packet_ref(packet.raw, raw)) { _ in outOfMemory("packet") }
    packet.timeBase = timeBase
    packet.cvo = cvo
    return packet
  }
}
