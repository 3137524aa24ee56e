package import UprightOrientation

/// Finds the frames of an H.264 or MPEG-2 stream at which the bitstream's sample aspect ratio changes, as a
/// broadcast does between programmes of 4:3 and 16:9.
package struct SampleAspectReader {
  private enum Codec { case h264(NALFraming), mpeg2 }

  private let codec: Codec
  private var first: Rational?
  /// The ratio of the present frames, if it differs from that of the first ones. 1:1 if it is unspecified.
  package private(set) var changed: Rational?

  /// - Parameters:
  ///   - codec: FFmpeg's name.
  ///   - configuration: The decoder configuration.
  /// - Returns: `nil` for other codecs.
  package init?(codec: String, configuration: [UInt8]) {
    switch codec {
    case "h264": self.codec = .h264(NALFraming(configuration: configuration, codec: .h264))
    case "mpeg2video": self.codec = .mpeg2
    default: return nil
    }
  }

  /// Reads a packet. Call this in decoding order.
  package mutating func read(_ packet: UnsafeRawBufferPointer) {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      read(unsafe bytes.span)
    }
  }

  private mutating func read(_ packet: Span<UInt8>) {
    let found =
      switch codec {
      case .h264(let framing): Self.ratio(h264: packet, framing)
      case .mpeg2: Self.ratio(mpeg2: packet)
      }
    guard let found else { return }
    if let first { changed = found == first ? nil : found } else { first = found }
  }

  /// Returns `nil` if the packet has no sequence parameter set.
  private static func ratio(h264 packet: Span<UInt8>, _ framing: NALFraming) -> Rational? {
    var units = NALUnits(framing.actual(in: packet))
    while let range = units.next(in: packet) {
      guard packet[range.lowerBound] & 0x9F == 7, range.count < 1 << 12 else { continue }
      let unit = range.map { packet[$0] }
      if let set = try? ParameterSet(unit: unit, codec: .h264),
        let parameters = try? SequenceParameters(set)
      {
        return parameters.sampleAspectRatio ?? .one
      }
    }
    return nil
  }

  /// Returns `nil` if the packet has no sequence header (ISO/IEC 13818-2, 6.2.2.1).
  private static func ratio(mpeg2 packet: Span<UInt8>) -> Rational? {
    // The header is before the picture: it is at the start, or there is none.
    var index = 0
    while index + 8 <= min(packet.count, 256) {
      guard packet[index] == 0, packet[index + 1] == 0, packet[index + 2] == 1,
        packet[index + 3] == 0xB3
      else {
        index += 1
        continue
      }
      let bytes = (4...7).map { Int(packet[index + $0]) }
      let (width, height) = (bytes[0] << 4 | bytes[1] >> 4, (bytes[1] & 0xF) << 8 | bytes[2])
      // Table 6-3: aspect ratios of the frame, except for the first.
      let shapes = [2: (4, 3), 3: (16, 9), 4: (221, 100)]
      guard let shape = shapes[bytes[3] >> 4], width > 0, height > 0 else { return .one }
      return Rational(shape.0 * height, shape.1 * width)
    }
    return nil
  }
}
