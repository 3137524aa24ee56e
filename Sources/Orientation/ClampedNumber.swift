extension FixedWidthInteger {
  /// The whole number nearest to `value`, clamped to what the type can hold; 0 if it is NaN. A plain
  /// conversion traps on numbers that files and streams may bring.
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
