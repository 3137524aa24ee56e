/// What a URL below `/vod` names:
///
///     /vod/PATH/index.m3u8                  the playlist
///     /vod/PATH/poster.jpg                  a frame
///     /vod/PATH/VERSION/17.m4s              a segment
///     /vod/PATH/VERSION/init-0.mp4          the init segment of a format
///
/// Before the name, or before the version, there may be a signature: `~EXPIRES.KEY.SIGNATURE`.
struct LibraryTarget: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    case playlist
    case poster
    case segment(Int, LibraryVersion)
    case initial(format: Int, LibraryVersion)
  }

  let path: LibraryPath
  let content: Content
  /// `EXPIRES.KEY.SIGNATURE`; `nil` without one.
  let signature: Substring?

  /// - Parameter url: The path of the URL, as it was sent.
  /// - Returns: `nil` if no file of the library can have it.
  init?(_ url: String) {
    var parts = url.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2)
    guard let name = parts.popLast(), let content = Self.content(name, &parts) else { return nil }
    self.content = content
    signature = Self.signature(&parts)
    guard let path = LibraryPath(encoded: parts) else { return nil }
    self.path = path
  }

  private static func content(_ name: Substring, _ parts: inout ArraySlice<Substring>) -> Content? {
    switch name {
    case "index.m3u8": return .playlist
    case "poster.jpg": return .poster
    default: break
    }
    guard let version = parts.popLast().flatMap(LibraryVersion.init) else { return nil }
    if name.hasPrefix("init-"), name.hasSuffix(".mp4") {
      return number(name.dropFirst(5).dropLast(4)).map { .initial(format: $0, version) }
    }
    return name.hasSuffix(".m4s") ? number(name.dropLast(4)).map { .segment($0, version) } : nil
  }

  /// Returns a number in its only spelling.
  private static func number(_ text: Substring) -> Int? {
    guard let number = Int(text), number >= 0, String(number) == text else { return nil }
    return number
  }

  private static func signature(_ parts: inout ArraySlice<Substring>) -> Substring? {
    guard let last = parts.last, last.hasPrefix("~") else { return nil }
    parts.removeLast()
    return last.dropFirst()
  }
}
