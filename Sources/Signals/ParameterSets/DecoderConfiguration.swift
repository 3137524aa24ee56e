/// The decoder configuration of an H.264 or HEVC stream in a container: avcC, hvcC (ISO/IEC
/// 14496-15, 5.3.3.1 and 8.3.3.1), or parameter sets with start codes.
package struct DecoderConfiguration: Sendable, Hashable {
  /// The codec.
  package let codec: DisplayOrientationTracker.Codec
  /// The framing of NAL units in the packets of the stream.
  package let framing: NALFraming
  /// The parameter sets, in their order in the configuration.
  package let sets: [ParameterSet]
  /// The bytes before the sets; empty for sets with start codes.
  private let head: [UInt8]
  /// Arrays of hvcC with other units, unchanged.
  private let otherArrays: [[UInt8]]
  /// The units of avcC's `sequenceParameterSetExtNALUnit`.
  private let extensions: [[UInt8]]

  /// Parses `bytes`. Empty means that the packets have start codes and nothing else is known.
  ///
  /// - Throws: `MalformedSyntax` if lengths lead past the end or a set can't be read.
  package init(
    _ bytes: [UInt8], codec: DisplayOrientationTracker.Codec
  ) throws(MalformedSyntax) {
    self.codec = codec
    framing = NALFraming(configuration: bytes, codec: codec)
    var contents = Contents(codec)
    switch (framing, codec) {
    case (.startCodes, _): try contents.readStartCodes(bytes)
    case (.lengths, .h264): try contents.readAVC(bytes)
    case (.lengths, .hevc): try contents.readHEVC(bytes)
    }
    (sets, head) = (contents.sets, contents.head)
    (otherArrays, extensions) = (contents.otherArrays, contents.extensions)
  }

  /// Returns a configuration of the same form with `sets` instead. Its profile and level are
  /// sufficient to decode all of them.
  ///
  /// - Parameter isComplete: Whether the packets contain no sets of HEVC (`array_completeness`).
  /// - Throws: `MalformedSyntax` if a set can't be read.
  package func with(
    _ sets: [ParameterSet], isComplete: Bool = false
  ) throws(MalformedSyntax) -> [UInt8] {
    if head.isEmpty { return sets.flatMap { [0, 0, 0, 1] + $0.unit } }
    let sequences = sets.filter { $0.kind == .sequence }
    var parameters: [SequenceParameters] = []
    for sequence in sequences { parameters.append(try SequenceParameters(sequence)) }
    var bytes =
      switch codec {
      case .h264: avc(sets, parameters)
      case .hevc: hevc(sets, parameters, isComplete: isComplete)
      }
    // configurationVersion. With the 0 of drafts and a profile of 0, the record would begin like a start code.
    bytes[0] = 1
    return bytes
  }

  // MARK: - avcC

  private func avc(_ sets: [ParameterSet], _ parameters: [SequenceParameters]) -> [UInt8] {
    var bytes = head
    // "each bit may only be set if all sets set it"; profile and level are the greatest.
    for parameters in parameters {
      bytes[1] = Self.greater(bytes[1], UInt8(truncatingIfNeeded: parameters.profile))
      bytes[2] &= UInt8(truncatingIfNeeded: parameters.constraints)
      bytes[3] = max(bytes[3], UInt8(truncatingIfNeeded: parameters.level))
    }
    func append(_ units: [[UInt8]], reserved: UInt8) {
      bytes.append(reserved | UInt8(truncatingIfNeeded: units.count))
      for unit in units { bytes += Self.length(unit) + unit }
    }
    append(sets.filter { $0.kind == .sequence }.map(\.unit), reserved: 0xE0)
    append(sets.filter { $0.kind == .picture }.map(\.unit), reserved: 0)
    if let first = parameters.first, SequenceParameters.highProfiles.contains(Int(bytes[1])) {
      bytes.append(0xFC | UInt8(first.chroma))
      bytes.append(0xF8 | UInt8(first.lumaDepth - 8))
      bytes.append(0xF8 | UInt8(first.chromaDepth - 8))
      append(extensions, reserved: 0)
    }
    return bytes
  }

  /// Returns the profile whose decoders can also decode the other.
  private static func greater(_ one: UInt8, _ other: UInt8) -> UInt8 {
    let order: [UInt8] = [66, 77, 88, 100, 110, 122, 244]
    return (order.firstIndex(of: one) ?? 0) < (order.firstIndex(of: other) ?? 0) ? other : one
  }

  // MARK: - hvcC

  private func hevc(
    _ sets: [ParameterSet], _ parameters: [SequenceParameters], isComplete: Bool
  ) -> [UInt8] {
    var bytes = head
    // The profile fields have the same layout in a sequence parameter set, two bytes in.
    for set in sets where set.kind == .sequence {
      let profile = Array(set.payload.dropFirst().prefix(12))
      guard profile.count == 12 else { continue }
      bytes[1] = max(bytes[1], profile[0])
      for index in 1..<11 { bytes[1 + index] &= profile[index] }
      bytes[12] = max(bytes[12], profile[11])
    }
    // min_spatial_segmentation_idc and parallelismType: unknown, because the sets can differ.
    (bytes[13], bytes[14], bytes[15]) = (0xF0, 0, 0xFC)
    if let first = parameters.first {
      bytes[16] = 0xFC | UInt8(first.chroma)
      bytes[17] = 0xF8 | UInt8(first.lumaDepth - 8)
      bytes[18] = 0xF8 | UInt8(first.chromaDepth - 8)
    }
    var arrays: [[UInt8]] = []
    for kind in [ParameterSet.Kind.video, .sequence, .picture] {
      let units = sets.filter { $0.kind == kind }.map(\.unit)
      // array_completeness is 0 if sets are also in band, such as those of an encoder.
      let type = kind.unitType(codec) | (isComplete ? 0x80 : 0)
      let count = UInt16(truncatingIfNeeded: units.count)
      arrays.append(
        [type, UInt8(count >> 8), UInt8(count & 0xFF)]
          + units.flatMap { Self.length($0) + $0 })
    }
    arrays += otherArrays
    return bytes + [UInt8(truncatingIfNeeded: arrays.count)] + arrays.flatMap { $0 }
  }

  private static func length(_ unit: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)]
  }
}

/// The parsed content of a configuration.
private struct Contents {
  let codec: DisplayOrientationTracker.Codec
  var sets: [ParameterSet] = []
  var head: [UInt8] = []
  var otherArrays: [[UInt8]] = []
  var extensions: [[UInt8]] = []

  init(_ codec: DisplayOrientationTracker.Codec) { self.codec = codec }

  mutating func readStartCodes(_ bytes: [UInt8]) throws(MalformedSyntax) {
    guard bytes.isEmpty || bytes.first == 0 else { throw MalformedSyntax() }
    var units = NALUnits(.startCodes)
    while let range = units.next(in: bytes.span) {
      if let set = try ParameterSet(unit: Array(bytes[range]), codec: codec) { sets.append(set) }
    }
  }

  mutating func readAVC(_ bytes: [UInt8]) throws(MalformedSyntax) {
    var reader = ByteReader(bytes)
    head = Array(bytes[try Self.range(&reader, 5)])
    // numOfSequenceParameterSets, numOfPictureParameterSets.
    for mask in [0x1F, 0xFF] {
      for _ in 0..<(try Self.integer(&reader, 1) & mask) { try readSet(&reader, bytes) }
    }
    // Some writers omit the rest.
    guard SequenceParameters.highProfiles.contains(Int(head[1])), reader.count >= 4 else { return }
    reader.skip(3)
    for _ in 0..<(try Self.integer(&reader, 1)) { extensions.append(try unit(&reader, bytes)) }
  }

  mutating func readHEVC(_ bytes: [UInt8]) throws(MalformedSyntax) {
    var reader = ByteReader(bytes)
    head = Array(bytes[try Self.range(&reader, 22)])
    for _ in 0..<(try Self.integer(&reader, 1)) {
      let start = reader.position
      let type = UInt8(try Self.integer(&reader, 1) & 0x3F)
      let count = try Self.integer(&reader, 2)
      if ParameterSet.Kind.allCases.contains(where: { $0.unitType(codec) == type }) {
        for _ in 0..<count { try readSet(&reader, bytes) }
      } else {
        for _ in 0..<count { _ = try Self.unitRange(&reader) }
        otherArrays.append(Array(bytes[start..<reader.position]))
      }
    }
  }

  private mutating func readSet(
    _ reader: inout ByteReader, _ bytes: [UInt8]
  ) throws(MalformedSyntax) {
    guard let set = try ParameterSet(unit: try unit(&reader, bytes), codec: codec) else {
      throw MalformedSyntax()
    }
    sets.append(set)
  }

  private func unit(
    _ reader: inout ByteReader, _ bytes: [UInt8]
  ) throws(MalformedSyntax) -> [UInt8] {
    Array(bytes[try Self.unitRange(&reader)])
  }

  /// Returns the range of the next unit. To skip a unit, don't copy it: Swift 6.3's optimizer frees
  /// an unused copy before it has written it.
  private static func unitRange(_ reader: inout ByteReader) throws(MalformedSyntax) -> Range<Int> {
    try range(&reader, try integer(&reader, 2))
  }

  private static func integer(
    _ reader: inout ByteReader, _ size: Int
  ) throws(MalformedSyntax) -> Int {
    guard let value = reader.count(size) else { throw MalformedSyntax() }
    return value
  }

  private static func range(
    _ reader: inout ByteReader, _ count: Int
  ) throws(MalformedSyntax) -> Range<Int> {
    guard let range = reader.skip(count) else { throw MalformedSyntax() }
    return range
  }
}
