/// Whether decoding can begin with a packet, by what is in it.
public enum DecodingEntry: Sendable, Hashable {
  /// Nothing behind it in decoding order needs anything in front of it.
  case closed
  /// Pictures behind it may need earlier ones: HEVC's CRA, and BLA with leading pictures.
  case open
  /// None that the bit stream itself names.
  case none

  /// A packet of H.264 or HEVC, by its first slice (ISO/IEC 14496-10, table 7-1; ISO/IEC 23008-2,
  /// 7.4.2.2). O(the units in front of it).
  public init(
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
      guard slice.isFirst, slice.isRandomAccess else { return .none }
      guard codec == .hevc else { return .closed }
      // BLA_W_RADL, BLA_N_LP and the two kinds of IDR have no picture that needs earlier ones.
      return (17...20).contains(packet[range.lowerBound] >> 1) ? .closed : .open
    }
    return .none
  }

  /// A packet of VP9: a keyframe that is shown stands first in it, and resets all that is remembered
  /// (VP9 Bitstream Specification 6.2).
  public init(vp9 packet: some Collection<UInt8>) {
    self = VP9Keyframe.isShown(packet) ? .closed : .none
  }

  /// A packet of AV1: a keyframe that is shown, behind a sequence header (AV1 Bitstream Specification
  /// 5.9.2).
  public init(av1 packet: some Collection<UInt8>) {
    self = AV1Keyframe.isEntry(packet) ? .closed : .none
  }
}
