/// Assigns unused identifiers to an HEVC encoder's parameter sets, for encoders that always use 0.
///
/// In the sets the identifier is one of the first elements, and everything after it is shifted by
/// some bits. In a slice it follows one or two flags, and everything after it would have to be
/// shifted as well. But an identifier of 15...30 takes nine bits where 0 takes one (ISO/IEC
/// 23008-2, 9.2), so everything from the next byte on stays unchanged.
package struct ParameterSetNumbers: Sendable, Hashable {
  /// `vps_video_parameter_set_id`.
  package let video: Int
  /// `sps_seq_parameter_set_id`.
  package let sequence: Int
  /// `pps_pic_parameter_set_id`, 15...30.
  package let picture: Int

  /// Chooses identifiers that none of `sets` uses. Returns `nil` if there are none left.
  package init?(besides sets: [ParameterSet]) {
    func free(_ kind: ParameterSet.Kind, _ numbers: some Sequence<Int>) -> Int? {
      let taken = Set(sets.filter { $0.kind == kind }.map(\.number))
      return numbers.first { !taken.contains($0) }
    }
    // The low bits start the second byte. If one of them is set, no zero byte results and no
    // emulation prevention byte is needed.
    guard let video = free(.video, 1..<16), let sequence = free(.sequence, 1..<16),
      let picture = free(.picture, (15...30).filter { ($0 + 1) % 4 != 0 })
    else { return nil }
    (self.video, self.sequence, self.picture) = (video, sequence, picture)
  }

  /// Returns the unit with the new identifiers in place of 0, or unchanged if it contains none.
  ///
  /// - Throws: `MalformedSyntax` if an identifier is not 0 or the unit is truncated.
  package func applied(to unit: [UInt8]) throws(MalformedSyntax) -> [UInt8] {
    guard let type = DisplayOrientationTracker.Codec.hevc.unitType(unit) else {
      throw MalformedSyntax()
    }
    switch type {
    case 0...31: return try slice(unit, isRandomAccess: (16...23).contains(type))
    case 32: return try rewritten(unit) { _ throws(MalformedSyntax) in [.fixed(video, at: 0)] }
    case 33:
      return try rewritten(unit) { bits throws(MalformedSyntax) in
        try bits.skipToSequenceNumber()
        return [.fixed(video, at: 0), .golomb(sequence, at: bits.position)]
      }
    case 34:
      return try rewritten(unit) { _ throws(MalformedSyntax) in
        [.golomb(picture, at: 0), .golomb(sequence, at: 1)]
      }
    default: return unit
    }
  }

  /// An identifier that replaces 0 at a position in bits.
  private enum Number {
    /// u(4).
    case fixed(Int, at: Int)
    /// ue(v), where 0 is one bit.
    case golomb(Int, at: Int)
  }

  private func rewritten(
    _ unit: [UInt8], _ numbers: (inout BitReader) throws(MalformedSyntax) -> [Number]
  ) throws(MalformedSyntax) -> [UInt8] {
    let payload = EmulationPrevention.unescaped(unit.span, 2..<unit.count)
    // rbsp_stop_one_bit.
    guard let last = payload.lastIndex(where: { $0 != 0 }) else { throw MalformedSyntax() }
    let end = last * 8 + 7 - payload[last].trailingZeroBitCount
    var bits = BitReader(payload)
    var result = BitWriter()
    var search = bits
    for number in try numbers(&search) {
      switch number {
      case .fixed(let value, let place):
        try copy(&bits, upTo: place, &result)
        guard try bits.u(4) == 0 else { throw MalformedSyntax() }
        result.append(UInt32(value), count: 4)
      case .golomb(let value, let place):
        try copy(&bits, upTo: place, &result)
        guard try bits.ue() == 0 else { throw MalformedSyntax() }
        result.appendExponentialGolomb(UInt16(value))
      }
    }
    try copy(&bits, upTo: end, &result)
    return Array(unit[..<2]) + EmulationPrevention.escaped(result.trailed())
  }

  private func copy(
    _ bits: inout BitReader, upTo end: Int, _ result: inout BitWriter
  ) throws(MalformedSyntax) {
    guard end >= bits.position else { throw MalformedSyntax() }
    while bits.position < end { result.append(UInt32(try bits.u(1)), count: 1) }
  }

  /// `slice_pic_parameter_set_id` follows first_slice_segment_in_pic_flag and, in pictures at which
  /// decoding can start, no_output_of_prior_pics_flag (7.3.6.1).
  private func slice(_ unit: [UInt8], isRandomAccess: Bool) throws(MalformedSyntax) -> [UInt8] {
    let flags = isRandomAccess ? 2 : 1
    guard unit.count > 3, unit[2] >> (7 - flags) & 1 == 1 else { throw MalformedSyntax() }
    let rest = 7 - flags
    let head = Int(unit[2]) >> (8 - flags)
    let tail = Int(unit[2]) & (1 << rest - 1)
    let both = (head << 9 | picture + 1) << rest | tail
    var result = unit
    result.replaceSubrange(2..<3, with: [UInt8(both >> 8), UInt8(both & 0xFF)])
    return result
  }
}
