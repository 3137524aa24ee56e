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

  /// Returns the packet without its parameter sets, in the same framing; `nil` if it has none, or nothing else.
  package func withoutParameterSets(
    _ packet: UnsafeRawBufferPointer, codec: DisplayOrientationTracker.Codec
  ) -> [UInt8]? {
    let actual = unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      self.actual(in: unsafe bytes.span)
    }
    let units = unsafe actual.units(in: packet)
    let kept = units.filter { unit in
      ParameterSet.Kind.allCases.allSatisfy { $0.unitType(codec) != codec.unitType(unit) }
    }
    guard kept.count < units.count, !kept.isEmpty else { return nil }
    return kept.flatMap { unit in
      switch actual {
      case .startCodes: [0, 0, 0, 1] + unit
      case .lengths(let size): [UInt8].big(unit.count, bytes: size) + unit
      }
    }
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
