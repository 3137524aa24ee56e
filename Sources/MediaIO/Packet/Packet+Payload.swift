internal import CUprightFFmpeg
package import UprightOrientation

extension Packet {
  /// Returns a packet with the same timestamps, flags and side data, and another payload.
  package consuming func with(payload bytes: [UInt8]) throws(UprightError) -> Packet {
    let copy = try Packet()
    try check(av_new_packet(copy.raw, CInt(clamping: bytes.count))) { _ in outOfMemory("packet") }
    copy.raw.pointee.data.update(from: bytes, count: bytes.count)
    try check(av_packet_copy_props(copy.raw, raw)) { _ in outOfMemory("packet") }
    copy.raw.pointee.time_base = raw.pointee.time_base
    return copy
  }
}
