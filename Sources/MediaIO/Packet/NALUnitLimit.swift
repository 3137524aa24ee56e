internal import CUprightFFmpeg
internal import Glibc

/// The limits on the NAL units of a packet, and of an access unit that libavformat collects, of H.264 or HEVC.
///
/// libavcodec allocates four KiB for each unit before it looks at it, so that a megabyte of empty units would take more
/// than a gigabyte. No level allows more than 600 slices in a picture.
enum NALUnitLimit {
  static let units = 6144
  /// The largest access unit of a byte stream. Uncompressed frames of 8K have 50 MB.
  static let bytes = 64 << 20

  /// Returns whether a packet of a stream has more units.
  static func isExceeded(
    by packet: UnsafePointer<AVPacket>, of parameters: UnsafePointer<AVCodecParameters>
  ) -> Bool {
    let size = Int(packet.pointee.size)
    guard size > units, let data = packet.pointee.data,
      [AV_CODEC_ID_H264, AV_CODEC_ID_HEVC].contains(parameters.pointee.codec_id)
    else { return false }
    var (count, position) = (0, 0)
    if let lengthSize = lengthSize(parameters) {
      while count <= units, position + lengthSize < size {
        let length = (0..<lengthSize).reduce(0) { $0 << 8 | Int(data[position + $1]) }
        position += lengthSize + length
        count += 1
      }
    } else {
      // Start codes: 00 00 01 (ISO/IEC 14496-10, B.1).
      while count <= units, let found = memchr(data + position, 1, size - position) {
        let one = data.distance(to: found.assumingMemoryBound(to: UInt8.self))
        if one >= 2, data[one - 1] == 0, data[one - 2] == 0 { count += 1 }
        position = one + 1
      }
    }
    return count > units
  }

  /// Returns the size of the lengths before NAL units, by the decoder's configuration (ISO/IEC 14496-15, 5.3.3.1 and
  /// 8.3.3.1); `nil` for a byte stream.
  private static func lengthSize(_ parameters: UnsafePointer<AVCodecParameters>) -> Int? {
    let index = parameters.pointee.codec_id == AV_CODEC_ID_HEVC ? 21 : 4
    guard let extradata = parameters.pointee.extradata, parameters.pointee.extradata_size > index,
      extradata[0] == 1
    else { return nil }
    return Int(extradata[index] & 3) + 1
  }
}
