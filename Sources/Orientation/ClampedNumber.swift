extension FixedWidthInteger {
  /// Creates the integer nearest to `value`, clamped to the type's range; 0 for NaN. A plain
  /// conversion traps on out-of-range numbers, which files and streams can contain.
  package init(clamping value: Double) {
    let rounded = value.rounded()
    if rounded.isNaN {
      self = 0
    } else if rounded >= Double(Self.max) {
      self = .max
    } else if rounded <= Double(Self.min) {
      self = .min
    } else {
      self = Self(rounded)
    }
  }
}
