extension StringProtocol {
  /// The text without white space at its start and end.
  package var trimmed: String {
    let start = drop { $0.isWhitespace && !$0.isNewline }
    let end = start.reversed().prefix { $0.isWhitespace && !$0.isNewline }.count
    return String(start.dropLast(end))
  }
}
