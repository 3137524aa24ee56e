package import UprightOrientation

/// A track of an MP4 or MOV file, as the file's index describes it (ISO/IEC 14496-12, 8.3 to 8.5).
package struct MovieTrack: Sendable, Hashable {
  /// The `track_ID`.
  package let identifier: Int
  /// The kind of media, such as `vide` (8.4.3).
  package let handler: MP4BoxType
  /// The sample entries, in order.
  package let entries: [SampleEntry]
  /// What the boxes say of the shape of its frames, without the matrix's scale; `nil` for a track that isn't video.
  package let shape: StreamShape?

  /// The largest sample entry that is kept, in bytes. Parameter sets take some kilobytes.
  private static let largestEntry = 1 << 20

  /// Returns the tracks of a movie, in order. Tracks without an identifier are left out.
  ///
  /// - Parameter movie: The content of a `moov` box.
  package static func tracks(inMovie movie: [UInt8]) -> [MovieTrack] {
    MP4Boxes(movie, in: movie.indices).compactMap {
      $0.type == "trak" ? Self(movie, $0.payload) : nil
    }
  }

  init?(_ movie: [UInt8], _ track: Range<Int>) {
    guard let identifier = Self.identifier(movie, ofTrack: track) else { return nil }
    self.identifier = identifier
    let handler = Self.handler(movie, track)
    self.handler = handler
    guard
      let table = MP4Boxes.payload(at: "mdia", "minf", "stbl", "stsd", of: movie, in: track)
    else {
      (entries, shape) = ([], nil)
      return
    }
    func content(_ box: Range<Int>?) -> [UInt8] {
      box.map { Array(movie[$0.prefix(Self.largestEntry)]) } ?? []
    }
    shape =
      MovieTrackShape(
        header: content(MP4Boxes.payload(at: "tkhd", of: movie, in: track)),
        apertures: content(MP4Boxes.payload(at: "tapt", of: movie, in: track)),
        descriptions: content(table))?.shape
    let isVersion0 = movie[table].first == 0
    entries = MP4Boxes(movie, in: table.dropFirst(8)).complete
      .filter { $0.whole.count <= Self.largestEntry }
      .map { SampleEntry(movie, $0, handler: handler, allowsSoundVersions: isVersion0) }
  }

  /// Returns the `track_ID` of the track with that content (8.3.2).
  static func identifier(_ movie: [UInt8], ofTrack track: Range<Int>) -> Int? {
    guard let header = MP4Boxes.payload(at: "tkhd", of: movie, in: track) else { return nil }
    var reader = ByteReader(movie, header)
    guard let version = reader.count(1), reader.skip(version == 1 ? 19 : 11) != nil else {
      return nil
    }
    return reader.count(4)
  }

  private static func handler(_ movie: [UInt8], _ track: Range<Int>) -> MP4BoxType {
    guard let payload = MP4Boxes.payload(at: "mdia", "hdlr", of: movie, in: track) else {
      return "    "
    }
    var reader = ByteReader(movie, payload.dropFirst(8))
    return MP4BoxType(number: UInt32(truncatingIfNeeded: reader.integer(4) ?? 0))
  }
}

/// An entry of a track's sample description table (8.5.2): the codec, and boxes that describe its samples.
package struct SampleEntry: Sendable, Hashable {
  package let type: MP4BoxType
  /// The whole box.
  package let bytes: [UInt8]
  /// The boxes in it; positions count from its start. Empty for kinds other than video and audio.
  package let boxes: [MP4Box]
  /// The position of the entry in the movie's content.
  package let position: Int

  /// - Parameter allowsSoundVersions: Whether a version field lengthens an audio entry (QuickTime File
  ///   Format, "Sound sample description"). If `stsd` has version 1, it doesn't (12.2.3).
  init(_ movie: [UInt8], _ box: MP4Box, handler: MP4BoxType, allowsSoundVersions: Bool) {
    type = box.type
    bytes = Array(movie[box.whole])
    position = box.whole.lowerBound
    let header = box.payload.lowerBound - box.whole.lowerBound
    let fields: Int
    switch handler {
    case "vide": fields = 78
    case "soun":
      let versions = [28, 44, 64]
      let version = bytes.numbers(in: header + 8..<header + 10, width: 2).first ?? 0
      fields = allowsSoundVersions && version < versions.count ? versions[version] : 28
    default:
      boxes = []
      return
    }
    boxes = MP4Boxes(bytes, in: bytes.indices.dropFirst(header + fields)).complete
  }

  /// Returns the bytes of a box in the entry, with its header.
  package func bytes(of box: MP4Box) -> ArraySlice<UInt8> { bytes[box.whole] }

  // MARK: - Encryption

  /// The types of entries whose samples are encrypted (ISO/IEC 14496-12, 8.12; the last ones are Apple's).
  private static let encrypted: Set<MP4BoxType> = [
    "encv", "enca", "enct", "encs", "encf", "encm", "encu", "drms", "drmi", "drmt",
  ]

  /// The protection scheme of the samples, such as `cenc` (`schm`, 8.12.6); `nil` if they aren't encrypted.
  package var encryption: String? {
    let protection = boxes.first { $0.type == "sinf" }
    guard protection != nil || Self.encrypted.contains(type) else { return nil }
    guard let protection,
      let scheme = MP4Boxes.payload(at: "schm", of: bytes, in: protection.payload),
      case let name = bytes[scheme.dropFirst(4).prefix(4)], name.count == 4
    else { return type.description }
    return String(decoding: name, as: UTF8.self)
  }

  // MARK: - Uncompressed audio

  /// The samples of uncompressed audio (`pcmC`, ISO/IEC 23003-5, 5.1).
  package struct PCM: Sendable, Hashable {
    package let isFloat: Bool
    package let isLittleEndian: Bool
    /// The bits of one sample.
    package let bits: Int

    /// FFmpeg's name of the codec, such as `pcm_s24le`.
    package var codecName: String {
      "pcm_\(isFloat ? "f" : "s")\(bits)\(isLittleEndian ? "le" : "be")"
    }
  }

  /// The samples that `pcmC` declares; `nil` if there is none, or the entry is of another kind.
  package var pcm: PCM? {
    guard type == "ipcm" || type == "fpcm", let box = boxes.first(where: { $0.type == "pcmC" })
    else { return nil }
    let fields = bytes[box.payload.dropFirst(4)]
    guard fields.count >= 2, let flags = fields.first, let bits = fields.dropFirst().first else {
      return nil
    }
    return PCM(isFloat: type == "fpcm", isLittleEndian: flags & 1 == 1, bits: Int(bits))
  }
}
