/// Parses the start of an AV1 temporal unit (AV1 Bitstream Specification 5.3 to 5.9).
enum AV1Keyframe {
  /// Returns whether decoding can start at this unit: it contains a sequence header, and its first
  /// frame is a shown keyframe.
  static func isEntry(_ unit: some Collection<UInt8>) -> Bool {
    // Sequence headers are small, and only the first byte of a frame is needed.
    let bytes = Array(unit.prefix(4096))
    var reader = ByteReader(bytes)
    var isReduced: Bool?
    while let header = reader.count(1) {
      let type = header >> 3 & 15
      if header & 4 != 0 { reader.skip(1) }
      let size = header & 2 != 0 ? leb128(&reader) : reader.count
      guard let size else { return false }
      let body = reader.position
      switch type {
      // seq_profile, still_picture, reduced_still_picture_header.
      case 1 where body < bytes.count: isReduced = bytes[body] & 8 != 0
      case 3, 6:
        guard let isReduced, body < bytes.count else { return false }
        // show_existing_frame 0, frame_type KEY_FRAME, show_frame 1.
        return isReduced || bytes[body] >> 4 == 1
      default: break
      }
      guard reader.skip(size) != nil else { return false }
    }
    return false
  }

  /// Returns the payload of the first sequence header OBU; `nil` if there is none.
  static func sequenceHeader(_ bytes: [UInt8]) -> [UInt8]? {
    var reader = ByteReader(bytes)
    while let header = reader.count(1) {
      if header & 4 != 0 { reader.skip(1) }
      let size = header & 2 != 0 ? leb128(&reader) : reader.count
      guard let size, let body = reader.skip(size) else { return nil }
      if header >> 3 & 15 == 1 { return Array(bytes[body]) }
    }
    return nil
  }

  /// leb128() (4.10.5).
  private static func leb128(_ reader: inout ByteReader) -> Int? {
    var value = 0
    for index in 0..<8 {
      guard let byte = reader.count(1) else { return nil }
      value |= (byte & 0x7F) << (7 * index)
      if byte & 0x80 == 0 { return value <= Int(UInt32.max) ? value : nil }
    }
    return nil
  }
}
