internal import UprightOrientation
internal import UprightMediaIO
internal import UprightSignals

/// Makes the projections of a finished Matroska or WebM file rectangular, in place.
///
/// The rotation of plain video is stored as a *rectangular* projection with a roll (RFC 9559, Projection).
/// libavformat 5.1 writes the roll for spherical projections only, so the file is written with a spherical
/// projection, and the type is patched afterwards. No element changes its size.
enum MatroskaProjection {
  /// Rewrites the file at `path`, which was written with `write_crc32=0`.
  ///
  /// - Throws: `inputOutput` if the file can't be read or written, `fault` if it contains no projection.
  static func makeRectangular(_ path: String) throws(UprightError) {
    let file = try FilePatcher(path: path, location: path)
    guard let place = try tracks(of: file) else { throw missing(path) }
    let tracks = try file.bytes(in: place)
    guard tracks.count == place.count, let patched = rectangular(tracks) else {
      throw missing(path)
    }
    try file.write(patched[...], at: place.lowerBound)
  }

  private static func missing(_ path: String) -> UprightError {
    UprightError(.fault, "the muxer wrote no projection", at: path)
  }

  /// Returns the place of the content of the Tracks element, which comes before the first cluster.
  private static func tracks(of file: FilePatcher) throws(UprightError) -> Range<Int>? {
    var position = 0
    for _ in 0..<64 {
      let head = try file.bytes(in: position..<position + EBMLElement.headerLimit)
      guard let element = EBMLElement(head, at: 0) else { return nil }
      let content = position + element.content
      switch element.id {
      case MatroskaID.segment: position = content
      case MatroskaID.tracks:
        guard let size = element.size, size <= 1 << 28 else { return nil }
        return content..<content + size
      case MatroskaID.cluster: return nil
      default:
        guard let size = element.size, size <= 1 << 60 - content else { return nil }
        position = content + size
      }
    }
    return nil
  }

  /// Returns the content of Tracks with every projection made rectangular; `nil` if there is none.
  static func rectangular(_ tracks: [UInt8]) -> [UInt8]? {
    var result = tracks
    var count = 0
    func walk(_ range: Range<Int>, _ parents: ArraySlice<UInt32>) {
      var position = range.lowerBound
      while position < range.upperBound, let element = EBMLElement(tracks, at: position),
        let size = element.size, size <= range.upperBound - element.content
      {
        let content = element.content..<element.content + size
        if element.id == parents.first {
          walk(content, parents.dropFirst())
        } else if parents.isEmpty, element.id == MatroskaID.projectionType {
          for index in content { result[index] = 0 }
          count += 1
        } else if parents.isEmpty, element.id == MatroskaID.projectionPrivate {
          // A rectangular projection has no private data. A Void element of the same size replaces it.
          void(position..<content.upperBound, in: &result)
        }
        position = content.upperBound
      }
    }
    walk(tracks.indices, [MatroskaID.entry, MatroskaID.video, MatroskaID.projection])
    return count > 0 ? result : nil
  }

  private static func void(_ range: Range<Int>, in bytes: inout [UInt8]) {
    // A one-byte ID, and a size that takes the rest of the header, because the ID that is replaced has two
    // bytes.
    let size = range.count - 3
    guard size >= 0, size < 1 << 14 - 1 else { return }
    bytes[range.lowerBound] = 0xEC
    bytes[range.lowerBound + 1] = 0x40 | UInt8(truncatingIfNeeded: size >> 8)
    bytes[range.lowerBound + 2] = UInt8(truncatingIfNeeded: size)
    for index in range.dropFirst(3) { bytes[index] = 0 }
  }
}
