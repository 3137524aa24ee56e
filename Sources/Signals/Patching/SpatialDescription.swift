/// The descriptions of stereoscopic and spherical video in a track, which are true for the stored frames.
enum SpatialDescription {
  /// The identifier of the box with Spherical Video V1 metadata.
  private static let sphericalV1: [UInt8] = [
    0xFF, 0xCC, 0x82, 0x63, 0xF8, 0x55, 0x4A, 0x93, 0x88, 0x14, 0x58, 0x7A, 0x02, 0x52, 0x1F, 0xDD,
  ]

  /// Returns the name of a description that a turn of the frames makes wrong; `nil` if there is none.
  static func name(of track: TaggedTrack, in movie: [UInt8]) -> String? {
    for box in MP4Boxes(movie, in: track.content)
    where box.type == "uuid" && movie[box.payload].starts(with: sphericalV1) {
      return "a description of spherical video (GSpherical)"
    }
    for entry in track.entries {
      for box in track.boxes(movie, in: entry) {
        if let name = name(of: box, movie) { return name }
      }
    }
    return nil
  }

  private static func name(of box: MP4Box, _ movie: [UInt8]) -> String? {
    switch box.type {
    case "sv3d": return "a spherical projection (sv3d)"
    case "st3d":
      // Spherical Video V2: 0 is monoscopic.
      let mode = movie[box.payload].dropFirst(4).first
      return mode == 0 ? nil : "a stereoscopic layout (st3d)"
    case "vexu": return extendedUsage(box, movie)
    case "rinf":
      // OMAF (ISO/IEC 23090-2, 7.6) and stereo video (ISO/IEC 14496-12, 8.15.4.2).
      let scheme = MP4Boxes.payload(at: "schi", of: movie, in: box.payload) ?? 0..<0
      let found = MP4Boxes(movie, in: scheme).first { ["povd", "stvi"].contains($0.type) }
      return found.map { "a scheme of its own (\($0.type))" }
    default: return nil
    }
  }

  /// Apple's Video Extended Usage box: two eyes, or a projection that isn't rectilinear.
  private static func extendedUsage(_ box: MP4Box, _ movie: [UInt8]) -> String? {
    if let eyes = MP4Boxes.payload(at: "eyes", "stri", of: movie, in: box.payload) {
      // The flags for the left and the right eye are the lowest two.
      let flags = movie[eyes].dropFirst(4).first ?? 3
      if flags & 3 == 3 { return "two views, one for each eye (vexu)" }
    } else if MP4Boxes.payload(at: "eyes", of: movie, in: box.payload) != nil {
      return "two views, one for each eye (vexu)"
    }
    if let projection = MP4Boxes.payload(at: "proj", "prji", of: movie, in: box.payload),
      movie[projection].dropFirst(4).prefix(4) != Array("rect".utf8)[...]
    {
      return "a projection (vexu)"
    }
    return nil
  }
}

/// Where a movie says at which place it was taken.
enum MovieLocation {
  /// Whether there is a tag with a position, or a track of telemetry with positions.
  static func isPresent(in movie: [UInt8], _ tracks: [TaggedTrack]) -> Bool {
    let ranges = [movie.indices] + tracks.map(\.content)
    return ranges.contains { isTag(in: $0, movie) }
      || tracks.contains { $0.entries.contains { ["gpmd", "camm"].contains($0.type) } }
  }

  private static func isTag(in range: Range<Int>, _ movie: [UInt8]) -> Bool {
    let user = MP4Boxes.payload(at: "udta", of: movie, in: range) ?? 0..<0
    // `©xyz` of QuickTime and Android, and 3GPP's `loci` (TS 26.244, 8.10).
    if MP4Boxes(movie, in: user).contains(where: {
      $0.type.number == 0xA978_797A || $0.type == "loci"
    }) {
      return true
    }
    for range in [range, user] {
      guard let meta = MP4Boxes.payload(at: "meta", of: movie, in: range) else { continue }
      // QuickTime's `meta` is no full box; ISO's is.
      for content in [meta, meta.dropFirst(4)] {
        guard let keys = MP4Boxes.payload(at: "keys", of: movie, in: content) else { continue }
        let names = MP4Boxes(movie, in: keys.dropFirst(8)).prefix(1000)
        let isPosition = names.contains {
          String(decoding: movie[$0.payload], as: UTF8.self).contains("location")
        }
        if isPosition { return true }
      }
    }
    return false
  }
}
