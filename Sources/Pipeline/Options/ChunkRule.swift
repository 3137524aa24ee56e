public import UprightMediaIO

/// How many chunks of a clip are encoded at a time (`--chunks`).
public enum ChunkRule: Sendable, Hashable {
  /// As many as are worth it on this machine.
  case auto
  /// So many; 1: the clip is encoded in one piece.
  case count(Int)

  /// The rule that `text` names.
  ///
  /// - Throws: `usage` for anything but `auto` and 1 to 64.
  public init(parsing text: String) throws(MediaError) {
    if text == "auto" {
      self = .auto
    } else if let count = Int(text), (1...64).contains(count) {
      self = .count(count)
    } else {
      throw MediaError(
        .usage, "\(text) is no number of chunks", at: "--chunks", remedy: "use auto, or 1 to 64")
    }
  }
}
