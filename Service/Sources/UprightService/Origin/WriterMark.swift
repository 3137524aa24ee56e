/// The comment in a playlist of an origin that says who has written it.
///
/// Players ignore comments (RFC 8216, 4.1).
struct WriterMark: Sendable, Hashable {
  /// The number of the owner of the session. A later owner has a higher one.
  let epoch: Int
  /// Tells the writers of one epoch apart, of which there should be one.
  let id: String

  private static let prefix = "#upright-writer:"

  init(epoch: Int, id: String) {
    self.epoch = epoch
    self.id = id
  }

  /// The mark of a playlist; `nil` if it has none.
  init?(in text: String) {
    for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix(Self.prefix) {
      let words = line.dropFirst(Self.prefix.count).split(separator: "-")
      guard words.count == 2, let epoch = Int(words[0]), epoch >= 0 else { return nil }
      self.init(epoch: epoch, id: String(words[1]))
      return
    }
    return nil
  }

  /// Returns the playlist with this mark.
  func added(to text: String) -> String {
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return "\(lines[0])\n\(Self.prefix)\(epoch)-\(id)\n\(lines.count > 1 ? lines[1] : "")"
  }
}
