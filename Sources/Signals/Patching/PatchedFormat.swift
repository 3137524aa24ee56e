package import UprightOrientation

/// A format whose orientation is changed in its bytes. Everything else of the file stays as it is.
package enum PatchedFormat: String, Sendable, CaseIterable {
  /// MP4, MOV, M4V and 3GP, fragmented or not.
  case movie
  case jpeg, png, webp
  /// HEIC and AVIF.
  case heif
  case matroska, webm

  /// Recognises a file by its first bytes.
  package init?(_ file: some ByteFile) throws(UprightError) {
    let head = try file.bytes(in: 0..<64)
    if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: PNGTag.signature) {
      self = .png
    } else if head.starts(with: Array("RIFF".utf8)),
      head.dropFirst(8).starts(with: Array("WEBP".utf8))
    {
      self = .webp
    } else if head.starts(with: MatroskaElement.identifier(MatroskaID.header)) {
      self = head.firstRange(of: Array("webm".utf8)) != nil ? .webm : .matroska
    } else if let box = MP4Box(header: head), Self.movieStarts.contains(box.type) {
      let brand = String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self)
      self = box.type == "ftyp" && Self.imageBrands.contains(brand) ? .heif : .movie
    } else {
      return nil
    }
  }

  /// The boxes with which a movie begins.
  private static let movieStarts: Set<MP4BoxType> = [
    "ftyp", "styp", "mdat", "moov", "free", "skip", "wide", "pnot",
  ]
  /// The major brands of images, and of sequences that have a still image too (ISO/IEC 23008-12, 10.2).
  private static let imageBrands: Set<String> = [
    "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "mif2", "msf1", "avif", "avis",
  ]

  /// The extensions of the names that such a file may have.
  package var fileExtensions: [String] {
    switch self {
    case .movie: ["mp4", "mov", "m4v", "qt", "3gp", "3g2", "3gpp"]
    case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
    case .png: ["png", "apng"]
    case .webp: ["webp"]
    case .heif: ["heic", "heif", "hif", "heics", "avif", "avifs"]
    case .matroska: ["mkv", "mk3d"]
    case .webm: ["webm"]
    }
  }

  /// Whether files with this extension are still images.
  package static func isStill(fileExtension: String) -> Bool {
    [jpeg, png, webp, heif].contains { $0.fileExtensions.contains(fileExtension) }
  }

  /// Returns the edits that give `file` an orientation.
  ///
  /// - Parameter isForced: Whether the description of a stereoscopic or spherical video may become wrong.
  /// - Throws: `badData` if the file is damaged where the orientation is stored, or if the orientation can't be
  ///   stored in it.
  package func patch(
    _ file: any ByteFile, _ orientation: ImageOrientation, isForced: Bool = false
  ) throws(UprightError) -> OrientationPatch {
    switch self {
    case .movie: try MovieTag.patch(file, orientation, isForced: isForced)
    case .jpeg: try JPEGTag.patch(file, orientation, isForced: isForced)
    case .png: try PNGTag(file).patch(orientation)
    case .webp: try WebPTag(file).patch(orientation)
    case .heif: try HEIFTag.patch(file, orientation, isForced: isForced)
    case .matroska, .webm: try MatroskaTag.patch(file, orientation, isForced: isForced)
    }
  }
}
