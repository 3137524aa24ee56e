/// The names of the playlists of an HLS output with several renditions.
///
/// `out.m3u8` lists the media playlists, such as `out-720p.m3u8` and `out-audio.m3u8`. With two canvases,
/// `out-portrait.m3u8` and `out-landscape.m3u8` list those of each. Then there is `out.m3u8` only on demand, and lists
/// all: most players would take the canvases for qualities. In the folder of a live session, `index.m3u8` stands for
/// `out.m3u8`, and the names of the others have no prefix. Since it is the address of the session, it is always there,
/// and lists those of the portrait canvas if not all.
package struct RenditionPlaylists: Sendable {
  /// One media playlist.
  package struct Media: Sendable {
    /// The file name.
    package let file: String
    /// The rendition; `nil` for the audio.
    package let rendition: Rendition?
  }

  /// One multivariant playlist.
  package struct Multivariant: Sendable {
    package let path: String
    /// The index of the canvas whose renditions it lists; `nil` for all.
    package let canvas: Int?
  }

  package let folder: String
  /// The media playlists, that of the audio last.
  package let media: [Media]
  package let multivariants: [Multivariant]

  /// - Parameters:
  ///   - path: The name of the output.
  ///   - hasPrefix: Whether the other names begin with its name, as those of files do.
  ///   - isCommon: Whether `path` lists both canvases.
  package init(
    path: String, hasPrefix: Bool, renditions: [Rendition], isCommon: Bool, hasAudio: Bool
  ) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    self.folder = folder
    let stem = HLSSink.segmentName(FilePath(path).stem)
    let prefix = hasPrefix ? "\(stem)-" : ""
    let isDual = renditions.contains { $0.canvas > 0 }
    media =
      renditions.map { rendition in
        // Without a ladder, the canvas alone is the name of the multivariant playlist.
        let name =
          isDual && !rendition.name.contains("-") ? "\(rendition.name)-video" : rendition.name
        return Media(file: "\(prefix)\(name).m3u8", rendition: rendition)
      } + (hasAudio ? [Media(file: "\(prefix)audio.m3u8", rendition: nil)] : [])
    let canvases =
      isDual
      ? ["portrait", "landscape"].enumerated().map { index, name in
        Multivariant(path: "\(folder)\(prefix)\(name).m3u8", canvas: index)
      } : []
    let listsAll = !isDual || isCommon
    multivariants =
      (listsAll || !hasPrefix ? [Multivariant(path: path, canvas: listsAll ? nil : 0)] : [])
      + canvases
  }

  /// The playlists that a player is given: one for all, or else one for each canvas.
  package var outputs: [String] {
    (multivariants.first { $0.canvas == nil }.map { [$0] } ?? multivariants).map(\.path)
  }

  /// Returns the path of a media playlist.
  package func path(of media: Media) -> String { folder + media.file }

  /// All playlists.
  package var paths: [String] { multivariants.map(\.path) + media.map(path) }
}
