extension BinaryInteger {
  /// Returns the number, which isn't negative, with `count` digits or more, the first of them zeros.
  package func digits(_ count: Int, radix: Int = 10, uppercase: Bool = false) -> String {
    let digits = String(self, radix: radix, uppercase: uppercase)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}
