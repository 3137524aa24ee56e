extension Int {
  /// Returns the number with a noun, such as `1 frame` or `2 frames`.
  package func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
