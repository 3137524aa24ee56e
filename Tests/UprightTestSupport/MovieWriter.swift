import Foundation

/// Writes MP4 files byte by byte, with content that no available muxer writes: SEI messages in samples,
/// timed metadata tracks, any matrix. All times are in ticks of one time scale.
package struct MovieWriter {
  /// One access unit.
  package struct Sample {
    package var bytes: [UInt8]
    package var dts: Int
    package var pts: Int
    package var isKey: Bool

    package init(_ bytes: [UInt8], dts: Int, pts: Int? = nil, isKey: Bool = true) {
      (self.bytes, self.dts, self.pts, self.isKey) = (bytes, dts, pts ?? dts, isKey)
    }
  }

  package struct Track {
    /// `vide` or `meta`.
    package var handler: String
    /// The sample entry, as a complete box.
    package var entry: [UInt8]
    package var samples: [Sample]
    /// The duration of the last sample; `nil` for that of the movie.
    package var lastDuration: Int?
    package var width = 0
    package var height = 0
    /// The values a, b, c, d of the matrix, as integers.
    package var matrix: [Int32] = [1, 0, 0, 1]
    /// The lengths of the matrix's rows.
    package var scale = (across: 1.0, down: 1.0)
    /// Further boxes of the track.
    package var boxes: [UInt8] = []
    /// The identifiers of the tracks that this track describes (`cdsc`).
    package var describes: [Int] = []

    package init(handler: String, entry: [UInt8], samples: [Sample]) {
      (self.handler, self.entry, self.samples) = (handler, entry, samples)
    }
  }

  package var timescale: Int
  /// The duration of each track's last sample, in ticks.
  package var lastDuration: Int
  package var tracks: [Track]

  package init(timescale: Int, lastDuration: Int, tracks: [Track]) {
    (self.timescale, self.lastDuration, self.tracks) = (timescale, lastDuration, tracks)
  }

  /// The file. The `moov` box follows the `mdat` box. In `mdat`, each track's samples follow those of the
  /// track before.
  package var bytes: [UInt8] {
    let type = Self.box("ftyp", Array("qt  ".utf8) + Self.be(0, 4) + Array("qt  ".utf8))
    var media: [UInt8] = []
    var offsets: [[Int]] = []
    for track in tracks {
      offsets.append(
        track.samples.map { sample in
          defer { media += sample.bytes }
          return type.count + 8 + media.count
        })
    }
    var movie = Self.box(
      "mvhd",
      Self.be(0, 12) + Self.be(timescale, 4) + Self.be(duration, 4) + Self.be(0x10000, 4)
        + Self.be(0x100, 2) + Self.be(0, 10) + Self.matrix([1, 0, 0, 1]) + Self.be(0, 24)
        + Self.be(tracks.count + 1, 4))
    for (index, track) in tracks.enumerated() {
      movie += trak(track, index + 1, offsets[index])
    }
    return type + Self.box("mdat", media) + Self.box("moov", movie)
  }

  package func write(to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  private var duration: Int {
    (tracks.flatMap(\.samples).map(\.dts).max() ?? 0) + lastDuration
  }

  private func trak(_ track: Track, _ identifier: Int, _ offsets: [Int]) -> [UInt8] {
    let header = Self.box(
      "tkhd",
      Self.be(7, 4) + Self.be(0, 8) + Self.be(identifier, 4) + Self.be(0, 4) + Self.be(duration, 4)
        + Self.be(0, 16) + Self.matrix(track.matrix, track.scale) + Self.be(track.width << 16, 4)
        + Self.be(track.height << 16, 4))
    let references =
      track.describes.isEmpty
      ? [] : Self.box("tref", Self.box("cdsc", track.describes.flatMap { Self.be($0, 4) }))
    let mediaHeader = Self.box(
      "mdhd",
      Self.be(0, 12) + Self.be(timescale, 4) + Self.be(duration, 4) + Self.be(0x55C4, 2)
        + Self.be(0, 2))
    let handler = Self.box(
      "hdlr", Self.be(0, 4) + Array("mhlr\(track.handler)".utf8) + Self.be(0, 13))
    let kind =
      track.handler == "vide"
      ? Self.box("vmhd", Self.be(1, 4) + Self.be(0, 8))
      : Self.box("gmhd", Self.box("gmin", Self.be(0, 16)))
    let data = Self.box(
      "dinf", Self.box("dref", Self.be(0, 4) + Self.be(1, 4) + Self.box("url ", Self.be(1, 4))))
    return Self.box(
      "trak",
      header + references + track.boxes
        + Self.box(
          "mdia",
          mediaHeader + handler + Self.box("minf", kind + data + table(track, offsets))))
  }

  private func table(_ track: Track, _ offsets: [Int]) -> [UInt8] {
    let samples = track.samples
    let count = Self.be(samples.count, 4)
    let durations = samples.indices.map {
      $0 + 1 < samples.count
        ? samples[$0 + 1].dts - samples[$0].dts
        : track.lastDuration ?? lastDuration
    }
    let keys = samples.indices.filter { samples[$0].isKey }
    var content = Self.box("stsd", Self.be(0, 4) + Self.be(1, 4) + track.entry)
    content += Self.box(
      "stts", Self.be(0, 4) + count + durations.flatMap { Self.be(1, 4) + Self.be($0, 4) })
    content += Self.box(
      "ctts",
      Self.be(0, 4) + count + samples.flatMap { Self.be(1, 4) + Self.be($0.pts - $0.dts, 4) })
    content += Self.box(
      "stss", Self.be(0, 4) + Self.be(keys.count, 4) + keys.flatMap { Self.be($0 + 1, 4) })
    content += Self.box("stsc", Self.be(0, 4) + [1, 1, 1, 1].flatMap { Self.be($0, 4) })
    content += Self.box(
      "stsz", Self.be(0, 8) + count + samples.flatMap { Self.be($0.bytes.count, 4) })
    content += Self.box("stco", Self.be(0, 4) + count + offsets.flatMap { Self.be($0, 4) })
    return Self.box("stbl", content)
  }

  private static func matrix(
    _ four: [Int32], _ scale: (across: Double, down: Double) = (1, 1)
  ) -> [UInt8] {
    let rows = [scale.across, scale.across, scale.down, scale.down]
    let one = zip(four, rows).map { Int((Double($0) * $1 * 65536).rounded()) }
    return [one[0], one[1], 0, one[2], one[3], 0, 0, 0, 1 << 30].flatMap { be($0, 4) }
  }

  /// Returns a box of type `type`.
  package static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    be(content.count + 8, 4) + Array(type.utf8) + content
  }

  /// Returns `value` in `size` bytes, big-endian.
  package static func be(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map {
      $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : value < 0 ? 0xFF : 0
    }
  }
}

extension MovieWriter.Track {
  /// Returns Apple's timed metadata track of orientations. Each value is an EXIF orientation that applies
  /// from its time on. `nil` writes an empty sample.
  ///
  /// - Parameters:
  ///   - key: The number that stands for the metadata key in samples.
  ///   - name: The metadata key's name.
  package static func orientation(
    _ values: [(at: Int, exif: Int?)], key: Int = 1,
    name: String = "com.apple.quicktime.video-orientation"
  ) -> Self {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] { MovieWriter.box(type, content) }
    func be(_ value: Int, _ size: Int) -> [UInt8] { MovieWriter.be(value, size) }
    let declaration =
      box("keyd", Array("mdta\(name)".utf8)) + box("dtyp", be(0, 4) + be(66, 4))
    let keys = be(declaration.count + 8, 4) + be(key, 4) + declaration
    let samples = values.map { value in
      MovieWriter.Sample(
        value.exif.map { be(10, 4) + be(key, 4) + be($0, 2) } ?? be(8, 4) + be(0, 4), dts: value.at)
    }
    return Self(
      handler: "meta", entry: box("mebx", be(0, 6) + be(1, 2) + box("keys", keys)),
      samples: samples)
  }
}
