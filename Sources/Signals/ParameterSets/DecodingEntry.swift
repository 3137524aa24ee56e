/// Whether decoding can start at a packet, according to its content.
package enum DecodingEntry: Sendable, Hashable {
  /// Decoding can start here: no later picture in decoding order refers to an earlier one.
  case closed
  /// Decoding can start here, but pictures after it may refer to earlier ones: HEVC's CRA, and BLA
  /// with leading pictures. In H.264 an I picture that isn't an IDR, if the container marks it as a keyframe.
  case open
  /// The bitstream doesn't mark the packet as an entry point.
  case none

  /// Classifies an H.264 or HEVC packet by its first slice (ISO/IEC 14496-10, table 7-1; ISO/IEC
  /// 23008-2, 7.4.2.2). O(size of the units before it).
  package init(
    _ packet: UnsafeRawBufferPointer, codec: DisplayOrientationTracker.Codec, framing: NALFraming
  ) {
    self = unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      Self.ofUnits(unsafe bytes.span, codec, framing)
    }
  }

  private static func ofUnits(
    _ packet: Span<UInt8>, _ codec: DisplayOrientationTracker.Codec, _ framing: NALFraming
  ) -> DecodingEntry {
    var units = NALUnits(framing.actual(in: packet))
    while let range = units.next(in: packet) {
      guard case .slice(let slice) = NALUnit(packet, range, codec: codec) else { continue }
      guard slice.isFirst else { return .none }
      guard slice.isRandomAccess else {
        return codec == .h264 && range.count > 1 && isIntra(packet[range.lowerBound + 1])
          ? .open : .none
      }
      guard codec == .hevc else { return .closed }
      // BLA_W_RADL, BLA_N_LP and both kinds of IDR have no picture that refers to earlier ones.
      return (17...20).contains(packet[range.lowerBound] >> 1) ? .closed : .open
    }
    return .none
  }

  /// Whether the header of the first slice of an H.264 picture has a slice_type of an I slice, 2 or 7 (7.3.3): the bits
  /// after first_mb_in_slice, which is one.
  private static func isIntra(_ byte: UInt8) -> Bool {
    byte >> 4 & 0b111 == 0b011 || byte & 0b111_1111 == 0b000_1000
  }

  /// Classifies a VP9 packet: it is an entry if it starts with a shown keyframe, which resets all
  /// decoder state (VP9 Bitstream Specification 6.2).
  package init(vp9 packet: some Collection<UInt8>) {
    self = VP9Keyframe.isShown(packet) ? .closed : .none
  }

  /// Classifies an AV1 packet: it is an entry if it has a sequence header followed by a shown
  /// keyframe (AV1 Bitstream Specification 5.9.2).
  package init(av1 packet: some Collection<UInt8>) {
    self = AV1Keyframe.isEntry(packet) ? .closed : .none
  }
}
