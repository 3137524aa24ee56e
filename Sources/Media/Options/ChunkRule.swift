public import UprightOrientation
internal import UprightMediaIO

/// How many chunks of the input are encoded in parallel (`--chunks`).
public enum ChunkRule: Sendable, Hashable {
  /// As many as are useful on this machine.
  case auto
  /// A fixed number; 1 encodes the input in one piece.
  case count(Int)

  /// Parses `auto` or a number of chunks.
  ///
  /// - Throws: `usage` for anything but `auto` and 1 to 64.
  public init(parsing text: String) throws(UprightError) {
    if text == "auto" {
      self = .auto
    } else if let count = Int(text), (1...64).contains(count) {
      self = .count(count)
    } else {
      throw UprightError(
        .usage, "\(text) is not a number of chunks", at: "--chunks", remedy: "use auto, or 1 to 64")
    }
  }
}
