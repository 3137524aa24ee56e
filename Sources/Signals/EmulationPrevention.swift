/// The 03 bytes that prevent start codes in a NAL unit's payload (ISO/IEC 14496-10, 7.4.1.1).
enum EmulationPrevention {
  /// Returns the payload in `range` without its emulation prevention bytes. O(n).
  static func unescaped(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var zeros = 0
    for index in range {
      let byte = bytes[index]
      if zeros >= 2, byte == 3 {
        zeros = 0
      } else {
        result.append(byte)
        zeros = byte == 0 ? zeros + 1 : 0
      }
    }
    return result
  }

  /// Returns `raw` with an 03 inserted wherever two zeros are followed by 00...03. O(n).
  static func escaped(_ raw: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(raw.count)
    var zeros = 0
    for byte in raw {
      if zeros >= 2, byte <= 3 {
        result.append(3)
        zeros = 0
      }
      result.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return result
  }
}
