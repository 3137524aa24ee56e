internal import UprightOrientation

/// The names of video streams in `CODECS` (RFC 6381, 3.3), from the stream's own parameters.
package enum CodecName {
  /// Returns the name of an H.264 or HEVC stream, such as `avc1.640028` or `hvc1.1.6.L93.90`, by the first
  /// sequence parameter set of its configuration; `nil` if it has none that can be read.
  package static func name(
    _ configuration: [UInt8], codec: DisplayOrientationTracker.Codec
  ) -> String? {
    let sets = (try? DecoderConfiguration(configuration, codec: codec))?.sets
    guard let set = sets?.first(where: { $0.kind == .sequence }) else { return nil }
    switch codec {
    case .h264: return avc(set.payload)
    case .hevc: return hevc(Array(set.payload.dropFirst().prefix(12)))
    }
  }

  /// `profile_idc`, the constraint flags and `level_idc` in hexadecimal.
  private static func avc(_ set: [UInt8]) -> String? {
    guard set.count >= 3 else { return nil }
    return "avc1." + set.prefix(3).map { $0.digits(2, radix: 16) }.joined()
  }

  /// ISO/IEC 14496-15, Annex E. `profile` is `profile_tier_level()` up to the level.
  private static func hevc(_ profile: [UInt8]) -> String? {
    guard profile.count == 12 else { return nil }
    let space = ["", "A", "B", "C"][Int(profile[0] >> 6)]
    // The flags are in reverse order: the first one is the lowest bit.
    let flags = profile[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    var reversed: UInt32 = 0
    for bit in 0..<32 where flags >> bit & 1 == 1 { reversed |= 1 << (31 - bit) }
    let tier = profile[0] >> 5 & 1 == 1 ? "H" : "L"
    var constraints = profile[5..<11]
    while constraints.last == 0 { constraints.removeLast() }
    let words =
      [
        "hvc1", "\(space)\(profile[0] & 0x1F)", String(reversed, radix: 16),
        "\(tier)\(profile[11])",
      ]
      + constraints.map { String($0, radix: 16) }
    return words.joined(separator: ".")
  }

  /// Returns the name of an AV1 stream, such as `av01.0.05M.08` (AV1 in ISOBMFF, 5), by its configuration or
  /// its sequence header; `nil` if it has neither.
  ///
  /// - Parameter depth: The bits of a sample.
  package static func av1(_ configuration: [UInt8], depth: Int) -> String? {
    // av1C begins with a marker bit and version 1.
    if configuration.count >= 4, configuration[0] == 0x81 {
      return av1(
        profile: Int(configuration[1] >> 5), level: Int(configuration[1] & 0x1F),
        isHigh: configuration[2] & 0x80 != 0, depth: depth)
    }
    guard let header = AV1Keyframe.sequenceHeader(configuration) else { return nil }
    var bits = BitReader(header)
    guard let parsed = try? sequence(&bits) else { return nil }
    return av1(profile: parsed.profile, level: parsed.level, isHigh: parsed.isHigh, depth: depth)
  }

  private static func av1(profile: Int, level: Int, isHigh: Bool, depth: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "av01.\(profile).\(two(level))\(isHigh ? "H" : "M").\(two(depth))"
  }

  /// Reads sequence_header_obu() up to the tier of the first operating point (5.5.1).
  private static func sequence(
    _ bits: inout BitReader
  ) throws(MalformedSyntax) -> (profile: Int, level: Int, isHigh: Bool) {
    let profile = try bits.u(3)
    _ = try bits.u(1)
    if try bits.isSet() { return (profile, try bits.u(5), false) }
    if try bits.isSet() {
      // timing_info() and decoder_model_info().
      try bits.skip(bits: 64)
      if try bits.isSet() { _ = try bits.ue() }
      if try bits.isSet() { try bits.skip(bits: 47) }
    }
    // initial_display_delay_present_flag, operating_points_cnt_minus_1, operating_point_idc.
    try bits.skip(bits: 18)
    let level = try bits.u(5)
    return (profile, level, level > 7 ? try bits.isSet() : false)
  }

  /// Returns the name of an AAC stream, such as `mp4a.40.2`, by its AudioSpecificConfig (ISO/IEC 14496-3,
  /// 1.6.2.1). Without one it is AAC-LC.
  package static func aac(_ configuration: [UInt8]) -> String {
    guard configuration.count >= 2 else { return "mp4a.40.2" }
    let type = Int(configuration[0] >> 3)
    guard type == 31 else { return "mp4a.40.\(type)" }
    return "mp4a.40.\(32 + Int(configuration[0] & 7) << 3 + Int(configuration[1] >> 5))"
  }
}
