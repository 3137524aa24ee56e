internal import Upright

/// What a URL below `/vod` names:
///
///     /vod/PATH/index.m3u8                  the playlist
///     /vod/PATH/master.m3u8                 the playlist of all its renditions
///     /vod/PATH/sprites.vtt                 the list of small pictures
///     /vod/PATH/poster.jpg                  a frame
///     /vod/PATH/VERSION/17.m4s              a segment, or another `SegmentFile`
///
/// Before the name, or before the version, there may be a signature: `~EXPIRES.KEY.SIGNATURE`.
struct LibraryTarget: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    case playlist
    case master
    case sprites
    case poster
    case file(SegmentFile, LibraryVersion)
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
    case "master.m3u8": return .master
    case "sprites.vtt": return .sprites
    case "poster.jpg": return .poster
    default: break
    }
    guard let version = parts.popLast().flatMap(LibraryVersion.init) else { return nil }
    return SegmentFile(name).map { .file($0, version) }
  }

  private static func signature(_ parts: inout ArraySlice<Substring>) -> Substring? {
    guard let last = parts.last, last.hasPrefix("~") else { return nil }
    parts.removeLast()
    return last.dropFirst()
  }
}
