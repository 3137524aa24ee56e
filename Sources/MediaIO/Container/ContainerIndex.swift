internal import UprightOrientation
internal import UprightSignals

/// What the header of a container says of its video streams, where libavformat leaves it out or merges it with
/// what the bitstream says: cropping, and the aspect ratio of the pixels.
struct ContainerIndex {
  private let read: (_ position: Int, _ count: Int) -> [UInt8]
  private let isMovie: Bool
  /// By `track_ID`.
  private var movie: [Int: StreamShape] = [:]
  /// By the order of the video tracks.
  private var matroska: [StreamShape] = []

  /// Reads the header of the file at `url`. Of any other input, only what is in `opening` is read, so that no
  /// second connection is made.
  ///
  /// - Parameters:
  ///   - format: libavformat's name of the format.
  ///   - opening: The first bytes of the input.
  init(_ url: String, format: String, opening: [UInt8]) {
    isMovie = format.hasPrefix("mov,")
    let isMatroska = format.contains("matroska")
    if isMovie || isMatroska, let file = ByteSource(regularFile: url) {
      read = { file.read(at: $0, count: $1) }
    } else {
      read = { position, count in
        guard position >= 0, position < opening.count else { return [] }
        return Array(opening[position..<position + min(count, opening.count - position)])
      }
    }
    if isMovie { movie = movieShapes() }
    if isMatroska { matroska = MatroskaVideo.shapes(read) }
  }

  /// Returns what the container says of the shape of a video stream, without the scale of a matrix. `nil` if
  /// it can't be read.
  ///
  /// - Parameters:
  ///   - track: libavformat's number of the stream, which is the `track_ID` of a movie.
  ///   - order: The number of video streams before it.
  func shape(track: Int, order: Int) -> StreamShape? {
    isMovie ? movie[track] : order < matroska.count ? matroska[order] : nil
  }

  // MARK: - MP4 and MOV

  /// The largest content of a box that is read, in bytes.
  private static let limit = 1 << 20

  private func movieShapes() -> [Int: StreamShape] {
    guard let movie = boxes(in: 0..<1 << 62).first(where: { $0.type == "moov" }) else { return [:] }
    var shapes: [Int: StreamShape] = [:]
    for track in boxes(in: movie.payload) where track.type == "trak" {
      let parts = boxes(in: track.payload)
      guard let media = parts.first(where: { $0.type == "mdia" }),
        let information = boxes(in: media.payload).first(where: { $0.type == "minf" }),
        let table = boxes(in: information.payload).first(where: { $0.type == "stbl" }),
        let found = MovieTrackShape(
          header: content("tkhd", of: parts), apertures: content("tapt", of: parts),
          descriptions: content("stsd", of: boxes(in: table.payload)))
      else { continue }
      shapes[found.identifier] = found.shape
    }
    return shapes
  }

  /// Returns the boxes in a range of the file, at most 10 000, up to the first invalid one and to `moov`.
  private func boxes(in range: Range<Int>) -> [MP4Box] {
    var found: [MP4Box] = []
    var position = range.lowerBound
    while found.count < 10_000, position < range.upperBound,
      let box = MP4Box(header: read(position, 16), at: position)
    {
      found.append(box)
      guard box.isComplete, box.type != "moov" else { break }
      position = box.whole.upperBound
    }
    return found
  }

  /// Returns the content of the first box of a type. Empty if there is none.
  private func content(_ type: MP4BoxType, of boxes: [MP4Box]) -> [UInt8] {
    guard let box = boxes.first(where: { $0.type == type }) else { return [] }
    return read(box.payload.lowerBound, min(box.payload.count, Self.limit))
  }
}
