package import UprightOrientation

/// The properties of a stream from its sequence parameter set.
package struct SequenceParameters: Sendable, Hashable {
  /// `profile_idc`, or HEVC's `general_profile_idc`.
  package var profile = 0
  /// H.264's constraint flags byte; 0 in HEVC.
  package var constraints = 0
  /// `level_idc`, or HEVC's `general_level_idc`.
  package var level = 0
  /// `chroma_format_idc`: 0 is monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  package var chroma = 1
  /// Whether the three colours are coded as three monochrome pictures.
  package var hasSeparatePlanes = false
  /// Bits per luma sample.
  package var lumaDepth = 8
  /// Bits per chroma sample.
  package var chromaDepth = 8
  /// The frame size after cropping, in luma samples.
  package var size = PixelSize(0, 0)
  /// H.264's sample aspect ratio. `nil` if the set doesn't contain it, and for HEVC.
  package var sampleAspectRatio: Rational?
  /// Whether pictures can be fields, or frames made of fields.
  package var mayHoldFields = false
  /// The number of pictures that can precede another in decoding order and follow it in output
  /// order; `nil` if the set doesn't contain it.
  package var reordering: Int?

  /// Parses the set's NAL unit.
  ///
  /// - Throws: `MalformedSyntax` if it is truncated or contains values that the standard doesn't
  ///   define.
  package init(_ set: ParameterSet) throws(MalformedSyntax) {
    guard set.kind == .sequence else { throw MalformedSyntax() }
    var bits = BitReader(set.payload)
    switch set.codec {
    case .h264: try self.init(h264: &bits)
    case .hevc: try self.init(hevc: &bits)
    }
  }

  private init() {}

  /// Sets the size that remains of `width` x `height` after cropping; reads the number of units to
  /// crop on each side.
  private mutating func crop(
    _ width: Int, _ height: Int, unit: (x: Int, y: Int), _ bits: inout BitReader
  ) throws(MalformedSyntax) {
    let limit = 1 << 16
    let (left, right) = (try bits.ue(upTo: limit), try bits.ue(upTo: limit))
    let (top, bottom) = (try bits.ue(upTo: limit), try bits.ue(upTo: limit))
    size = PixelSize(width - (left + right) * unit.x, height - (top + bottom) * unit.y)
    guard size.width > 0, size.height > 0 else { throw MalformedSyntax() }
  }

  // MARK: - H.264

  /// Profiles whose sets contain the chroma format and bit depth (ISO/IEC 14496-10 7.3.2.1.1).
  static let highProfiles: Set = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

  /// ISO/IEC 14496-10, 7.3.2.1.1.
  private init(h264 bits: inout BitReader) throws(MalformedSyntax) {
    profile = try bits.u(8)
    constraints = try bits.u(8)
    level = try bits.u(8)
    _ = try bits.ue(upTo: 31)
    if Self.highProfiles.contains(profile) { try readSampleFormat(&bits) }
    _ = try bits.ue(upTo: 12)
    let isInDecodingOrder = try Self.skipOrderCount(&bits)
    _ = try bits.ue(upTo: 16)
    _ = try bits.u(1)
    let width = (try bits.ue(upTo: 1 << 12) + 1) * 16
    let mapUnits = try bits.ue(upTo: 1 << 12) + 1
    let isFrameOnly = try bits.isSet()
    mayHoldFields = !isFrameOnly
    if mayHoldFields { _ = try bits.u(1) }
    _ = try bits.u(1)
    let height = mapUnits * 16 * (mayHoldFields ? 2 : 1)
    size = PixelSize(width, height)
    if try bits.isSet() {
      // 7.4.2.1.1: CropUnitX and CropUnitY.
      let planes = hasSeparatePlanes ? 0 : chroma
      try crop(
        width, height,
        unit: (planes == 1 || planes == 2 ? 2 : 1, (planes == 1 ? 2 : 1) * (mayHoldFields ? 2 : 1)),
        &bits)
    }
    if try bits.isSet() { try readVUI(&bits) }
    if isInDecodingOrder { reordering = 0 }
  }

  private mutating func readSampleFormat(_ bits: inout BitReader) throws(MalformedSyntax) {
    chroma = try bits.ue(upTo: 3)
    if chroma == 3 { hasSeparatePlanes = try bits.isSet() }
    lumaDepth = try bits.ue(upTo: 6) + 8
    chromaDepth = try bits.ue(upTo: 6) + 8
    _ = try bits.u(1)
    guard try bits.isSet() else { return }
    for index in 0..<(chroma == 3 ? 12 : 8) where try bits.isSet() {
      try Self.skipScalingList(&bits, count: index < 6 ? 16 : 64)
    }
  }

  /// scaling_list() (7.3.2.1.1.1).
  private static func skipScalingList(
    _ bits: inout BitReader, count: Int
  ) throws(MalformedSyntax) {
    var (last, next) = (8, 8)
    for _ in 0..<count {
      if next != 0 { next = (last + (try bits.se()) % 256 + 512) % 256 }
      if next != 0 { last = next }
    }
  }

  /// Skips the picture order count elements. Returns whether output order is decoding order
  /// (8.2.1.3).
  private static func skipOrderCount(_ bits: inout BitReader) throws(MalformedSyntax) -> Bool {
    let type = try bits.ue(upTo: 2)
    if type == 0 { _ = try bits.ue(upTo: 12) }
    if type == 1 {
      _ = try bits.u(1)
      _ = try bits.ue()
      _ = try bits.ue()
      for _ in 0..<(try bits.ue(upTo: 255)) { _ = try bits.ue() }
    }
    return type == 2
  }

  /// Reads the sample aspect ratio and `max_num_reorder_frames` (E.1.1), as far as the set contains them.
  private mutating func readVUI(_ bits: inout BitReader) throws(MalformedSyntax) {
    if try bits.isSet() {
      let index = try bits.u(8)
      if index == 255 {
        let ratio = Rational(try bits.u(16), try bits.u(16))
        if ratio.numerator > 0 { sampleAspectRatio = ratio }
      } else if Self.aspectRatios.indices.contains(index - 1) {
        let ratio = Self.aspectRatios[index - 1]
        sampleAspectRatio = Rational(ratio.0, ratio.1)
      }
    }
    if try bits.isSet() { _ = try bits.u(1) }
    if try bits.isSet() {
      _ = try bits.u(4)
      if try bits.isSet() { try bits.skip(bits: 24) }
    }
    if try bits.isSet() {
      _ = try bits.ue(upTo: 5)
      _ = try bits.ue(upTo: 5)
    }
    if try bits.isSet() { try bits.skip(bits: 65) }
    let hasNALTiming = try bits.isSet()
    if hasNALTiming { try Self.skipBufferTiming(&bits) }
    let hasVCLTiming = try bits.isSet()
    if hasVCLTiming { try Self.skipBufferTiming(&bits) }
    if hasNALTiming || hasVCLTiming { _ = try bits.u(1) }
    _ = try bits.u(1)
    guard try bits.isSet() else { return }
    _ = try bits.u(1)
    for _ in 0..<4 { _ = try bits.ue() }
    reordering = try bits.ue(upTo: 16)
  }

  /// Table E-1, from 1 on.
  private static let aspectRatios = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33),
    (18, 11), (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]

  /// Skips hrd_parameters() (E.1.2).
  private static func skipBufferTiming(_ bits: inout BitReader) throws(MalformedSyntax) {
    let count = try bits.ue(upTo: 31) + 1
    _ = try bits.u(8)
    for _ in 0..<count {
      _ = try bits.ue()
      _ = try bits.ue()
      _ = try bits.u(1)
    }
    _ = try bits.u(20)
  }

  // MARK: - HEVC

  /// ISO/IEC 23008-2, 7.3.2.2.1, up to the reordering values.
  private init(hevc bits: inout BitReader) throws(MalformedSyntax) {
    _ = try bits.u(4)
    let highest = try bits.u(3)
    _ = try bits.u(1)
    try readProfile(&bits, highest: highest)
    _ = try bits.ue(upTo: 15)
    chroma = try bits.ue(upTo: 3)
    if chroma == 3 { hasSeparatePlanes = try bits.isSet() }
    let (width, height) = (try bits.ue(upTo: 1 << 16), try bits.ue(upTo: 1 << 16))
    // 7.4.3.2.1: neither is equal to 0.
    guard width > 0, height > 0 else { throw MalformedSyntax() }
    size = PixelSize(width, height)
    if try bits.isSet() {
      let planes = hasSeparatePlanes ? 0 : chroma
      try crop(
        width, height, unit: (planes == 1 || planes == 2 ? 2 : 1, planes == 1 ? 2 : 1), &bits)
    }
    lumaDepth = try bits.ue(upTo: 8) + 8
    chromaDepth = try bits.ue(upTo: 8) + 8
    _ = try bits.ue(upTo: 12)
    // For each sub-layer, or for the highest only. The last value applies.
    for _ in (try bits.isSet() ? 0 : highest)...highest {
      _ = try bits.ue(upTo: 15)
      reordering = try bits.ue(upTo: 15)
      _ = try bits.ue()
    }
  }

  private mutating func readProfile(
    _ bits: inout BitReader, highest: Int
  ) throws(MalformedSyntax) {
    _ = try bits.u(3)
    profile = try bits.u(5)
    _ = try bits.u(32)
    // general_progressive_source_flag, general_interlaced_source_flag.
    mayHoldFields = try bits.u(2) & 1 == 1
    try bits.skip(bits: 46)
    level = try bits.u(8)
    try bits.skipSubLayerProfiles(highest: highest)
  }
}

extension BitReader {
  /// Skips the sub-layer part of profile_tier_level() (ISO/IEC 23008-2, 7.3.3).
  mutating func skipSubLayerProfiles(highest: Int) throws(MalformedSyntax) {
    guard highest > 0 else { return }
    let flags = try u(16)
    for layer in 0..<min(highest, 8) {
      if flags >> (15 - 2 * layer) & 1 == 1 { try skip(bits: 88) }
      if flags >> (14 - 2 * layer) & 1 == 1 { try skip(bits: 8) }
    }
  }
}
