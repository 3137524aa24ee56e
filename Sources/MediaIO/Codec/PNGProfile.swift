internal import CUprightFFmpeg

/// Colour profiles in PNG (the iCCP chunk, ISO/IEC 15948, 11.3.2.3). libavcodec inflates a profile to any
/// size: four megabytes become gigabytes. Nothing here uses profiles.
enum PNGProfile {
  /// Returns a copy of `packet` in which a decoder finds no profile. Returns `nil` if there is no profile, or
  /// no memory.
  static func removed(
    from packet: UnsafeMutablePointer<AVPacket>
  ) -> UnsafeMutablePointer<AVPacket>? {
    let bytes = UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    guard let place = place(in: bytes) else { return nil }
    var copy = av_packet_clone(packet)
    guard let clone = copy, av_packet_make_writable(clone) >= 0 else {
      av_packet_free(&copy)
      return nil
    }
    // Changes the type to another ancillary one, which decoders skip.
    clone.pointee.data[place + 3] = UInt8(ascii: "Q")
    return clone
  }

  /// Returns the position of the type of the first profile chunk, which precedes the pixels.
  private static func place(in bytes: UnsafeRawBufferPointer) -> Int? {
    var place = 8
    while place + 12 <= bytes.count {
      let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let type = bytes[place + 4..<place + 8]
      if type.elementsEqual("iCCP".utf8) { return place + 4 }
      if type.elementsEqual("IDAT".utf8) { return nil }
      place += 12 + length
    }
    return nil
  }
}
