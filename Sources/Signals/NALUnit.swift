/// The role of a NAL unit for the orientation of frames.
enum NALUnit {
  /// An SEI that applies to the base layer's pictures.
  case sei
  /// A slice of a base layer picture.
  case slice(Slice)
  /// An end of sequence: the next picture starts a coded video sequence.
  case endOfSequence
  /// Parameter sets, other layers, filler, damaged units: ignored.
  case other

  /// The properties of a slice's picture.
  struct Slice {
    /// The first slice of its picture: `first_mb_in_slice` is 0, `first_slice_segment_in_pic_flag` is 1.
    var isFirst: Bool
    /// IDR, or HEVC's BLA: always starts a coded video sequence.
    var startsSequence: Bool
    /// HEVC's IRAP.
    var isRandomAccess: Bool
    /// HEVC's RASL: not output if its IRAP starts the coded video sequence.
    var isSkippable: Bool
    /// HEVC's RADL or RASL: output before the picture that it follows in decoding order.
    var isLeading = false
  }

  /// Classifies the unit in `range` of `bytes`, header included. A unit that is too short is
  /// `other`.
  init(_ bytes: Span<UInt8>, _ range: Range<Int>, codec: DisplayOrientationTracker.Codec) {
    // forbidden_zero_bit: decoders discard such units.
    guard range.count >= codec.headerLength, let start = range.first, bytes[start] < 0x80 else {
      self = .other
      return
    }
    let body = start + codec.headerLength
    // A slice truncated after its header counts as a first slice.
    let isFirst = body < range.upperBound ? bytes[body] >= 0x80 : true
    switch codec {
    case .h264: self.init(h264: bytes[start] & 0x1F, isFirst: isFirst)
    case .hevc:
      let type = bytes[start] >> 1
      let layer = (bytes[start] & 1) << 5 | bytes[start + 1] >> 3
      let temporalID = bytes[start + 1] & 7
      // Only the base layer is decoded. A nuh_temporal_id_plus1 of 0 is forbidden.
      guard layer == 0, temporalID > 0 else {
        self = .other
        return
      }
      self.init(hevc: type, isFirst: isFirst)
    }
  }

  /// ISO/IEC 14496-10, table 7-1. A leading ue(v) of 0 is a one bit.
  private init(h264 type: UInt8, isFirst: Bool) {
    switch type {
    case 1, 2, 5:
      self = .slice(
        Slice(
          isFirst: isFirst, startsSequence: type == 5, isRandomAccess: type == 5, isSkippable: false
        ))
    case 6: self = .sei
    case 10, 11: self = .endOfSequence
    default: self = .other
    }
  }

  /// ISO/IEC 23008-2, table 7-1. Display orientation is in prefix SEI only.
  private init(hevc type: UInt8, isFirst: Bool) {
    switch type {
    case 0...9, 16...21:
      self = .slice(
        Slice(
          isFirst: isFirst, startsSequence: (16...20).contains(type),
          isRandomAccess: type >= 16, isSkippable: type == 8 || type == 9,
          isLeading: (6...9).contains(type)))
    case 36, 37: self = .endOfSequence
    case 39: self = .sei
    default: self = .other
    }
  }
}

extension DisplayOrientationTracker.Codec {
  /// The length of a NAL unit's header in bytes.
  var headerLength: Int {
    switch self {
    case .h264: 1
    case .hevc: 2
    }
  }

  /// The header of an SEI NAL unit (HEVC: prefix SEI, layer 0, temporal id 0).
  var seiHeader: [UInt8] {
    switch self {
    case .h264: [6]
    case .hevc: [39 << 1, 1]
    }
  }
}
