internal import CUprightFFmpeg
internal import UprightOrientation

extension Packet {
  /// The number of samples at the start of an audio packet that its decoder drops.
  package var skippedSamples: Int { skipped(at: 0) }

  /// The number of samples at the end of an audio packet that its decoder drops.
  var skippedAtEnd: Int { skipped(at: 4) }

  /// Reads one of the two little-endian numbers of `AV_PKT_DATA_SKIP_SAMPLES`.
  private func skipped(at offset: Int) -> Int {
    var size = 0
    guard let bytes = av_packet_get_side_data(raw, AV_PKT_DATA_SKIP_SAMPLES, &size),
      size >= offset + 4
    else { return 0 }
    let number = UnsafeRawPointer(bytes).loadUnaligned(fromByteOffset: offset, as: Int32.self)
    return Int(max(0, Int32(littleEndian: number)))
  }

  /// Tells the decoder of an audio packet to drop samples at its start and its end.
  mutating func skipSamples(first: Int64, last: Int64) throws(UprightError) {
    guard let bytes = av_packet_new_side_data(raw, AV_PKT_DATA_SKIP_SAMPLES, 10) else {
      throw outOfMemory("side data")
    }
    // Two little-endian numbers and two reasons.
    for (place, count) in [first, last].enumerated() {
      let number = UInt32(clamping: count)
      for index in 0..<4 {
        bytes[place * 4 + index] = UInt8(truncatingIfNeeded: number >> (8 * UInt32(index)))
      }
    }
    bytes[8] = 0
    bytes[9] = 0
  }

  /// Removes bytes at both ends of the payload, at most all.
  mutating func cut(first: Int, last: Int) {
    let first = min(max(0, first), size)
    let last = min(max(0, last), size - first)
    raw.pointee.data = raw.pointee.data.map { $0 + first }
    raw.pointee.size -= CInt(clamping: first + last)
  }
}
