extension NALFraming {
  /// Returns the packet with its units in this framing, each transformed by `change`. `source` is
  /// the framing of `packet`. O(size).
  ///
  /// - Throws: `MalformedSyntax` if a unit is too long for its length field.
  package func framed(
    _ packet: UnsafeRawBufferPointer, from source: NALFraming,
    _ change: ([UInt8]) throws(MalformedSyntax) -> [UInt8]
  ) throws(MalformedSyntax) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(packet.count + 64)
    for unit in unsafe source.units(in: packet) {
      let unit = try change(unit)
      switch self {
      case .startCodes: result += [0, 0, 0, 1]
      case .lengths(let size):
        guard unit.count >> (8 * size) == 0 else { throw MalformedSyntax() }
        for index in (0..<size).reversed() {
          result.append(UInt8(truncatingIfNeeded: unit.count >> (8 * index)))
        }
      }
      result += unit
    }
    return result
  }

  /// Returns the packet with parameter sets before its first unit, after an access unit delimiter; `nil` if it has
  /// parameter sets, or if units have no length.
  ///
  /// - Parameter sets: NAL units that are not too long for the length field.
  package func adding(
    _ sets: [[UInt8]], to packet: UnsafeRawBufferPointer, codec: DisplayOrientationTracker.Codec
  ) -> [UInt8]? {
    let actual = unsafe actual(of: packet)
    let units = unsafe actual.units(in: packet)
    guard case .lengths(let size) = actual, let first = units.first,
      let type = codec.unitType(first),
      !units.contains(where: { ParameterSet.Kind.has($0, codec) })
    else { return nil }
    let start = type == codec.delimiterType ? size + first.count : 0
    var result = unsafe Array(packet.prefix(start))
    for set in sets { result += [UInt8].big(set.count, bytes: size) + set }
    unsafe result.append(contentsOf: packet.dropFirst(start))
    return result
  }

  /// Returns the packet without its parameter sets, in the same framing; `nil` if it has none, or nothing else.
  package func withoutParameterSets(
    _ packet: UnsafeRawBufferPointer, codec: DisplayOrientationTracker.Codec
  ) -> [UInt8]? {
    let actual = unsafe actual(of: packet)
    let units = unsafe actual.units(in: packet)
    let kept = units.filter { !ParameterSet.Kind.has($0, codec) }
    guard kept.count < units.count, !kept.isEmpty else { return nil }
    return kept.flatMap { unit in
      switch actual {
      case .startCodes: [0, 0, 0, 1] + unit
      case .lengths(let size): [UInt8].big(unit.count, bytes: size) + unit
      }
    }
  }

  private func actual(of packet: UnsafeRawBufferPointer) -> NALFraming {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in actual(in: unsafe bytes.span) }
  }

  /// Returns the units in `packet`.
  private func units(in packet: UnsafeRawBufferPointer) -> [[UInt8]] {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      let span = unsafe bytes.span
      var ranges = NALUnits(self)
      var units: [[UInt8]] = []
      while let range = ranges.next(in: span) {
        unsafe units.append(Array(UnsafeBufferPointer(rebasing: bytes[range])))
      }
      return units
    }
  }
}
