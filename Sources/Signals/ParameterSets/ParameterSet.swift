/// A parameter set of an H.264 or HEVC stream: the NAL unit and its identifier.
package struct ParameterSet: Sendable, Hashable {
  /// The kind of a parameter set.
  package enum Kind: Sendable, Hashable, CaseIterable {
    /// HEVC's VPS.
    case video
    /// SPS.
    case sequence
    /// PPS.
    case picture

    /// `nal_unit_type`.
    func unitType(_ codec: DisplayOrientationTracker.Codec) -> UInt8 {
      switch (self, codec) {
      case (.video, _): 32
      case (.sequence, .h264): 7
      case (.sequence, .hevc): 33
      case (.picture, .h264): 8
      case (.picture, .hevc): 34
      }
    }

    /// Returns whether a NAL unit has the type of a parameter set.
    static func has(_ unit: [UInt8], _ codec: DisplayOrientationTracker.Codec) -> Bool {
      let type = codec.unitType(unit)
      return allCases.contains { $0.unitType(codec) == type && ($0 != .video || codec == .hevc) }
    }

    /// The valid identifiers.
    package func numbers(_ codec: DisplayOrientationTracker.Codec) -> Range<Int> {
      switch (self, codec) {
      case (.sequence, .h264): 0..<32
      case (.picture, .h264): 0..<256
      case (.picture, .hevc): 0..<64
      default: 0..<16
      }
    }
  }

  /// The codec.
  package let codec: DisplayOrientationTracker.Codec
  /// The kind of the set.
  package let kind: Kind
  /// The identifier: `seq_parameter_set_id` and the like.
  package let number: Int
  /// The unit with its header and emulation prevention bytes, without start code or length.
  package let unit: [UInt8]

  /// Parses a NAL unit. Returns `nil` if it is not a parameter set.
  ///
  /// - Throws: `MalformedSyntax` if its identifier is truncated or out of range.
  package init?(
    unit: [UInt8], codec: DisplayOrientationTracker.Codec
  ) throws(MalformedSyntax) {
    let type = codec.unitType(unit)
    guard let kind = Kind.allCases.first(where: { $0.unitType(codec) == type }),
      kind != .video || codec == .hevc
    else { return nil }
    self.codec = codec
    self.kind = kind
    self.unit = unit
    var bits = BitReader(Self.payload(unit, codec))
    number = try Self.number(&bits, kind, codec)
  }

  private static func number(
    _ bits: inout BitReader, _ kind: Kind, _ codec: DisplayOrientationTracker.Codec
  ) throws(MalformedSyntax) -> Int {
    switch (kind, codec) {
    case (.video, _): return try bits.u(4)
    case (.sequence, .h264): try bits.skip(bits: 24)
    case (.sequence, .hevc): try bits.skipToSequenceNumber()
    case (.picture, _): break
    }
    return try bits.ue(upTo: kind.numbers(codec).upperBound - 1)
  }

  /// The bytes after the header, without emulation prevention bytes.
  var payload: [UInt8] { Self.payload(unit, codec) }

  private static func payload(
    _ unit: [UInt8], _ codec: DisplayOrientationTracker.Codec
  ) -> [UInt8] {
    guard unit.count > codec.headerLength else { return [] }
    return EmulationPrevention.unescaped(unit.span, codec.headerLength..<unit.count)
  }
}

extension BitReader {
  /// Skips the elements before the identifier of an HEVC sequence parameter set (ISO/IEC 23008-2,
  /// 7.3.2.2.1).
  mutating func skipToSequenceNumber() throws(MalformedSyntax) {
    _ = try u(4)
    let highest = try u(3)
    _ = try u(1)
    try skip(bits: 96)
    try skipSubLayerProfiles(highest: highest)
  }
}

extension DisplayOrientationTracker.Codec {
  /// The `nal_unit_type` of an access unit delimiter.
  var delimiterType: UInt8 { self == .h264 ? 9 : 35 }

  /// Returns the `nal_unit_type` of a unit, or `nil` if it is too short or damaged.
  func unitType(_ unit: [UInt8]) -> UInt8? {
    guard unit.count >= headerLength, let first = unit.first, first < 0x80 else { return nil }
    return self == .h264 ? first & 0x1F : first >> 1
  }
}
