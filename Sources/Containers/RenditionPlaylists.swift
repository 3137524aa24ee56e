package import UprightPipeline

/// The names of the playlists of an HLS output with several renditions.
///
/// `out.m3u8` lists the media playlists, such as `out-720p.m3u8` and `out-audio.m3u8`. With two canvases,
/// `out-portrait.m3u8` and `out-landscape.m3u8` list those of each, and `out.m3u8` lists all. In the folder of a
/// live session, `index.m3u8` stands for `out.m3u8`, and the names of the others have no prefix.
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
  ///   - path: The playlist that lists all renditions.
  ///   - hasPrefix: Whether the other names begin with its name.
  package init(
    path: String, hasPrefix: Bool, renditions: [Rendition], hasAudio: Bool
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
    multivariants =
      [Multivariant(path: path, canvas: nil)]
      + (isDual
        ? ["portrait", "landscape"].enumerated().map { index, name in
          Multivariant(path: "\(folder)\(prefix)\(name).m3u8", canvas: index)
        } : [])
  }

  /// Returns the path of a media playlist.
  package func path(of media: Media) -> String { folder + media.file }

  /// All playlists.
  package var paths: [String] { multivariants.map(\.path) + media.map(path) }
}
