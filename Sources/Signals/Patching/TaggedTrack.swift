internal import UprightOrientation

/// A track of a movie: its header, and where its tables are (ISO/IEC 14496-12, 8.3).
struct TaggedTrack {
  /// The range of the track's boxes in the movie.
  let content: Range<Int>
  let identifier: Int
  /// `track_enabled`: whether the track is shown.
  let isEnabled: Bool
  /// Tracks of one group, other than 0, are alternatives.
  let alternateGroup: Int
  /// Where the matrix is.
  let matrixPlace: Range<Int>
  let matrix: DisplayMatrix
  /// The size before the matrix, in 16.16.
  let size: (width: UInt32, height: UInt32)
  /// The type of the handler: `vide`, `soun`, `meta`.
  let handler: String
  /// The sample entries.
  let entries: [MP4Box]
  /// The content of the sample table.
  let table: Range<Int>
  /// The ticks of a second, and the number of them that the media lasts.
  let (timescale, ticks): (Int, Int)

  /// Returns `nil` if the track's header or its media are incomplete.
  init?(_ movie: [UInt8], _ content: Range<Int>) {
    guard let header = MP4Boxes.payload(at: "tkhd", of: movie, in: content),
      let media = MP4Boxes.payload(at: "mdia", of: movie, in: content),
      let handler = MP4Boxes.payload(at: "hdlr", of: movie, in: media)
    else { return nil }
    self.content = content
    var reader = ByteReader(movie, header)
    // Version 1 has times of 64 bits.
    guard let version = reader.count(1), version <= 1, let flags = reader.count(3),
      reader.skip(version == 1 ? 16 : 8) != nil, let identifier = reader.count(4),
      reader.skip(version == 1 ? 12 : 8) != nil, reader.skip(8 + 2) != nil,
      let group = reader.count(2), reader.skip(4) != nil
    else { return nil }
    (self.identifier, isEnabled, alternateGroup) = (identifier, flags & 1 == 1, group)
    matrixPlace = reader.position..<reader.position + 36
    let values = (0..<9).map { _ in Int32(truncatingIfNeeded: reader.integer(4) ?? 0) }
    guard let matrix = DisplayMatrix(values), let width = reader.integer(4),
      let height = reader.integer(4)
    else { return nil }
    self.matrix = matrix
    size = (UInt32(truncatingIfNeeded: width), UInt32(truncatingIfNeeded: height))
    reader = ByteReader(movie, handler.dropFirst(8))
    self.handler = reader.text(4) ?? ""
    table = MP4Boxes.payload(at: "minf", "stbl", of: movie, in: media) ?? 0..<0
    let descriptions = MP4Boxes.payload(at: "stsd", of: movie, in: table) ?? 0..<0
    entries = Array(MP4Boxes(movie, in: descriptions.dropFirst(8)).prefix(64))
    (timescale, ticks) = Self.times(movie, MP4Boxes.payload(at: "mdhd", of: movie, in: media))
  }

  private static func times(_ movie: [UInt8], _ header: Range<Int>?) -> (Int, Int) {
    var reader = ByteReader(movie, header ?? 0..<0)
    guard let version = reader.count(1), reader.skip(version == 1 ? 19 : 11) != nil,
      let timescale = reader.count(4), let ticks = reader.integer(version == 1 ? 8 : 4)
    else { return (0, 0) }
    return (timescale, Int(clamping: ticks))
  }

  /// Whether the track has frames of a video or of an image sequence (HEIF).
  var isVideo: Bool { handler == "vide" || handler == "pict" }

  /// The number of samples in the table. Those of fragments are not in it.
  func sampleCount(_ movie: [UInt8]) -> Int {
    for type: MP4BoxType in ["stsz", "stz2"] {
      var reader = ByteReader(movie, MP4Boxes.payload(at: type, of: movie, in: table) ?? 0..<0)
      if reader.skip(8) != nil, let count = reader.count(4) { return count }
    }
    return 0
  }

  /// The size of the frames in the first sample entry (12.1.3).
  func codedSize(_ movie: [UInt8]) -> PixelSize {
    var reader = ByteReader(movie, entries.first?.payload ?? 0..<0)
    guard reader.skip(24) != nil, let width = reader.count(2), let height = reader.count(2) else {
      return PixelSize(0, 0)
    }
    return PixelSize(width, height)
  }

  /// The boxes in a visual sample entry, after its 78 bytes (12.1.3).
  func boxes(_ movie: [UInt8], in entry: MP4Box) -> MP4Boxes {
    MP4Boxes(movie, in: entry.payload.dropFirst(78))
  }

  /// The identifiers of the tracks that this one refers to with `type` (8.3.3).
  func references(_ movie: [UInt8], _ type: MP4BoxType) -> [Int] {
    MP4Boxes.payload(at: "tref", of: movie, in: content)
      .flatMap { range in MP4Boxes(movie, in: range).first { $0.type == type }?.payload }
      .map { movie.numbers(in: $0, width: 4) } ?? []
  }
}
