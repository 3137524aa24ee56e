internal import UprightMediaIO
internal import UprightSignals

/// The fates of the boxes of an MP4 or MOV input. Each is *kept*: libavformat writes its own with the same content,
/// or the box is copied; or it is *changed* with the frames; or it is *named*. A box that isn't in these tables
/// is named.
enum BoxLedger {
  // MARK: - Boxes of the index

  /// Boxes of the file's structure, and descriptions of tracks, which the output has for its own samples.
  private static let structure: Set<MP4BoxType> = [
    "mvhd", "iods", "mvex", "mehd", "trex", "leva", "free", "skip", "wide", "trak", "tkhd", "edts",
    "elst", "tref", "mdia", "mdhd", "hdlr", "minf", "vmhd", "smhd", "hmhd", "nmhd", "sthd", "gmhd",
    "gmin", "text", "tmcd", "dinf", "dref", "url ", "urn ", "alis", "rsrc", "stbl", "stsd", "stts",
    "ctts", "stss", "stsz", "stz2", "stsc", "stco", "co64", "cslg", "stps", "sdtp", "sgpd", "sbgp",
    "subs", "saiz", "saio", "stsh", "padb", "stdp", "udta", "meta", "keys", "ilst", "load", "txas",
    "ctry", "lang",
  ]
  /// The shape of the shown frame, which is written as the output's.
  private static let shape: Set<MP4BoxType> = ["tapt", "clef", "prof", "enof"]
  /// Chapters, titles and roles, which libavformat reads besides the tags.
  private static let tags: Set<MP4BoxType> = ["chpl", "name", "kind", "loci"]
  /// The last three characters of the tags in `udta` that libavformat reads.
  private static let texts: Set<String> = [
    "ART", "PRD", "alb", "aut", "chp", "cmt", "com", "cpy", "day", "dir", "dis", "ed1", "enc",
    "fmt", "gen", "grp", "hst", "inf", "lyr", "mak", "mod", "nam", "ope", "prd", "prf", "req",
    "src", "st3", "swr", "too", "trk", "url", "wrn", "wrt", "xyz",
  ]

  /// Returns whether a box of the index is kept or changed, or its content is among the tags.
  static func isAccounted(_ place: MovieOutline.Place) -> Bool {
    guard let type = place.path.last else { return true }
    if structure.contains(type) || shape.contains(type) || tags.contains(type) { return true }
    let bytes = type.bytes
    return bytes[0] == 0xA9 && texts.contains(String(decoding: bytes.dropFirst(), as: UTF8.self))
  }

  /// Returns whether a box of user data is copied with the packets. Positions are left out unless they are asked for.
  static func isCopied(_ place: MovieOutline.Place, keepsLocation: Bool) -> Bool {
    guard let type = place.path.last, !isAccounted(place) else { return false }
    return keepsLocation || !type.name.lowercased().contains("gps")
  }

  /// Returns the boxes of the index that the output lacks, as texts for the user: a line for each box that
  /// contains some.
  ///
  /// - Parameter kept: The places of boxes that are copied.
  static func named(
    _ outline: MovieOutline, except kept: Set<MovieOutline.Place> = []
  ) -> [String] {
    var order: [String] = []
    var names: [String: [String]] = [:]
    for place in outline.places where !isAccounted(place) && !kept.contains(place) {
      guard let type = place.path.last else { continue }
      let parents = place.path.dropLast().map(\.name)
      let parent = (["moov"] + parents).joined(separator: "/")
      let track = place.track.map { " of track \($0)" } ?? ""
      let name = place.identifier == Self.spherical ? "uuid (spherical mapping)" : type.name
      if names[parent + track] == nil { order.append(parent + track) }
      names[parent + track, default: []].append(name)
    }
    return order.map { "\($0): \((names[$0] ?? []).joined(separator: ", "))" }
  }

  /// The identifier of Spherical Video V1.
  private static let spherical: [UInt8] = [
    0xFF, 0xCC, 0x82, 0x63, 0xF8, 0x55, 0x4A, 0x93, 0x88, 0x14, 0x58, 0x7A, 0x02, 0x52, 0x1F, 0xDD,
  ]

  // MARK: - Boxes at the top level

  /// The boxes of the file's structure and of fragments.
  private static let top: Set<MP4BoxType> = [
    "ftyp", "styp", "moov", "mdat", "free", "skip", "wide", "moof", "mfra", "sidx", "ssix", "prft",
    "pdin", "imda",
  ]

  /// Returns the boxes at the top level that the output lacks.
  static func named(_ types: [MP4BoxType]) -> [String] {
    types.filter { !top.contains($0) }.map { "the box \($0.name) of the file" }
  }

  // MARK: - Boxes of sample entries

  /// The boxes of sample entries that depend on the samples alone, and that an encoder or a muxer writes.
  private static let ofSamples: Set<MP4BoxType> = [
    "avcC", "hvcC", "av1C", "vpcC", "vvcC", "d263", "esds", "glbl", "jp2h", "mjqt", "mjht", "colr",
    "pasp", "clap", "gama", "fiel", "btrt", "mdcv", "clli", "SmDm", "CoLL", "ccst", "free", "skip",
    "wave", "chan", "frma", "dac3", "dec3", "dac4", "dOps", "dfLa", "alac", "damr", "wfex", "pcmC",
    "chnl", "samr", "srat", "dmlp", "mhaC", "SMI ", "sinf", "ctab",
  ]
  /// Names of others.
  private static let names: [MP4BoxType: String] = [
    "dvcC": "Dolby Vision", "dvvC": "Dolby Vision", "dvwC": "Dolby Vision",
    "lhvC": "its second view or layer", "vexu": "spatial video", "hfov": "field of view",
    "st3d": "stereoscopic layout", "sv3d": "spherical mapping",
    "amve": "ambient viewing environment",
    "cclv": "content colour volume", "SA3D": "spatial audio",
  ]
  /// The descriptions that are wrong once the frame is shown with another turn.
  private static let spatial: Set<MP4BoxType> = ["vexu", "hfov", "st3d", "sv3d"]
  /// Audio's boxes that QuickTime and MP4 write in different ways.
  private static let ofOneContainer: Set<MP4BoxType> = [
    "wave", "esds", "chan", "frma", "sinf", "free", "skip", "SMI ", "ctab",
  ]

  /// Returns a box's name for the user.
  static func name(_ type: MP4BoxType) -> String {
    names[type].map { "\($0) (\(type.name))" } ?? "the box \(type.name) of its sample entry"
  }

  /// Returns the boxes of a sample entry that the output lacks if its samples are encoded anew, or copied to a
  /// container without sample entries.
  static func unwritten(_ entry: SampleEntry) -> [MP4BoxType] {
    entry.boxes.map(\.type).filter { !ofSamples.contains($0) }
  }

  /// Returns the boxes of a sample entry that are copied with its samples.
  ///
  /// - Parameter isTurned: Whether the frames are shown with another turn than in the input.
  static func copied(_ entry: SampleEntry, isTurned: Bool) -> [MP4Box] {
    entry.boxes.filter {
      !ofOneContainer.contains($0.type) && !(isTurned && spatial.contains($0.type))
    }
  }
}

extension MP4BoxType {
  /// The type for the user. Characters that aren't printable ASCII become dots, but for the © of tags.
  fileprivate var name: String {
    bytes.map {
      $0 == 0xA9 ? "\u{A9}" : (32..<127).contains($0) ? String(UnicodeScalar($0)) : "."
    }.joined()
  }
}
