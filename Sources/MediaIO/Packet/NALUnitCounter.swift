internal import CUprightFFmpeg
internal import Glibc

/// Counts the NAL units and the bytes since a byte stream's last picture began, as H.264 and as HEVC.
///
/// libavformat's parsers collect everything up to the next picture into one access unit.
struct NALUnitCounter {
  struct Count {
    var units = 0
    var bytes = 0

    var isExceeded: Bool { units > NALUnitLimit.units || bytes > NALUnitLimit.bytes }
  }

  private(set) var h264 = Count()
  private(set) var hevc = Count()
  /// The number of zeros before the next byte, at most two.
  private var zeros = 0
  /// The first three bytes of a unit, and how many of them are there.
  private var (header, headerSize) = (0, 3)

  /// Returns whether the access unit exceeds a limit, for a stream of `codec`.
  func isExceeded(as codec: AVCodecID) -> Bool {
    codec == AV_CODEC_ID_H264 && h264.isExceeded || codec == AV_CODEC_ID_HEVC && hevc.isExceeded
  }

  mutating func read(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    h264.bytes += bytes.count
    hevc.bytes += bytes.count
    var position = 0
    while position < bytes.count {
      if headerSize < 3 {
        read(bytes[position])
        position += 1
        continue
      }
      // Only a one can end a start code.
      let found = memchr(start + position, 1, bytes.count - position)
      let end = found.map { start.distance(to: UnsafeRawPointer($0)) } ?? bytes.count
      for index in max(position, end - 2)..<end { read(bytes[index]) }
      if end < bytes.count { read(1) }
      position = end + 1
    }
  }

  private mutating func read(_ byte: UInt8) {
    if zeros == 2, byte == 1 {
      h264.units += 1
      hevc.units += 1
      (header, headerSize, zeros) = (0, 0, 0)
      return
    }
    zeros = byte == 0 ? min(2, zeros + 1) : 0
    guard headerSize < 3 else { return }
    header = header << 8 | Int(byte)
    headerSize += 1
    if headerSize == 2, startsH264Picture { h264 = Count(units: 1) }
    if headerSize == 3, startsHEVCPicture { hevc = Count(units: 1) }
  }

  /// Whether the unit is a slice whose first macroblock is the picture's (ISO/IEC 14496-10, 7.3.3).
  private var startsH264Picture: Bool {
    [1, 2, 5].contains(header >> 8 & 0x1F) && header & 0x80 != 0
  }

  /// Whether the unit is the first slice segment of a picture of the base layer (ISO/IEC 23008-2, 7.3.6.1).
  private var startsHEVCPicture: Bool {
    let type = header >> 17 & 0x3F
    let isSlice = type <= 9 || (16...21).contains(type)
    return isSlice && header >> 11 & 0x3F == 0 && header & 0x80 != 0
  }
}
