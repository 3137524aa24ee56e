internal import UprightOrientation

/// Changes the orientation of a Matroska or WebM file: the projection of its video tracks (RFC 9559, 5.1.4.1.28.41). Where
/// there is none, the header is written again: with the room of a Void element, or else with all places corrected.
struct MatroskaTag {
  private let file: any ByteFile
  private let orientation: ImageOrientation
  private let index: MatroskaFile
  private let tracksElement: MatroskaElement
  /// The content of the Tracks element.
  private let tracks: [UInt8]
  private let videos: [TaggedVideo]
  private static let largest = 64 << 20

  static func patch(
    _ file: any ByteFile, _ orientation: ImageOrientation, isForced: Bool
  ) throws(UprightError) -> OrientationPatch {
    try MatroskaTag(file, orientation).patch(isForced)
  }

  private init(_ file: any ByteFile, _ orientation: ImageOrientation) throws(UprightError) {
    (self.file, self.orientation) = (file, orientation)
    index = try MatroskaFile(file)
    guard let element = index.first(MatroskaID.tracks), element.content.count <= Self.largest else {
      throw UprightError(
        .badData, "the file has no tracks", remedy: "the file is truncated or damaged")
    }
    tracksElement = element
    let bytes = try file.bytes(in: element.content)
    tracks = bytes
    let all = MatroskaElement.children(bytes, in: bytes.indices)
      .compactMap { $0.id == MatroskaID.entry ? TaggedVideo(bytes, $0) : nil }
    let enabled = all.filter(\.isEnabled)
    videos = enabled.isEmpty ? all : enabled
    guard !videos.isEmpty else {
      throw UprightError(.badData, "there is no video stream", remedy: "give an input with video")
    }
  }

  private func patch(_ isForced: Bool) throws(UprightError) -> OrientationPatch {
    if !isForced, orientation != .up {
      for video in videos where video.orientation(tracks) != orientation {
        guard let name = video.spatial else { continue }
        throw UprightError(
          .badData, "the video has \(name), which a turn of the frames makes wrong",
          remedy: "add --force to turn the frames alone, or use transcode")
      }
    }
    var patch = OrientationPatch()
    let main = videos[0]
    (patch.codec, patch.size, patch.frames) = (Self.name(main.codec), main.size, 0)
    if let damage = index.damage { patch.damage.append(damage) }
    patch.duration = try duration()
    var layout = MatroskaLayout(file, index)
    try changeProjections(&layout)
    try removeRotateTags(&layout)
    for video in videos {
      let (edits, frames) = try messageEdits(of: video)
      for edit in edits { layout.overwrite(edit) }
      if video.number == main.number { patch.frames = frames }
    }
    patch.edits = try layout.edits()
    return try patch.ordered()
  }

  private static func name(_ codec: String) -> String {
    switch codec {
    case "V_MPEG4/ISO/AVC": "h264"
    case "V_MPEGH/ISO/HEVC": "hevc"
    case "V_AV1": "av1"
    case "V_VP8": "vp8"
    case "V_VP9": "vp9"
    case "V_MJPEG": "mjpeg"
    case "V_PRORES": "prores"
    default: codec.hasPrefix("V_MPEG4") ? "mpeg4" : codec
    }
  }

  /// The duration in seconds (5.1.2).
  private func duration() throws(UprightError) -> Double? {
    guard let info = index.first(MatroskaID.info), info.content.count <= 1 << 20 else { return nil }
    let bytes = try file.bytes(in: info.content)
    let elements = MatroskaElement.children(bytes, in: bytes.indices)
    guard let element = elements.first(where: { $0.id == MatroskaID.duration }) else { return nil }
    let bits = bytes[element.content].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let short = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
    let ticks = element.content.count == 4 ? Double(short) : Double(bitPattern: bits)
    let scale =
      elements.first { $0.id == MatroskaID.timestampScale }
      .map { bytes[$0.content].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } } ?? 1_000_000
    let seconds = ticks * Double(scale) / 1e9
    return seconds.isFinite && seconds >= 0 ? seconds : nil
  }

  // MARK: - Projections

  /// Overwrites the angles, or writes the entries again that lack one.
  private func changeProjections(_ layout: inout MatroskaLayout) throws(UprightError) {
    let angles = TaggedVideo.angles(orientation)
    let changed = videos.filter { $0.orientation(tracks) != orientation }
    let hasPlaces = changed.allSatisfy { video in
      angles.allSatisfy { angle in
        let count = video.pose.first { $0.id == angle.id }?.content.count ?? 0
        return count == 4 || count == 8 || count == 0 && angle.degrees == 0
      }
    }
    guard !hasPlaces else {
      for video in changed {
        for angle in angles {
          guard let element = video.pose.first(where: { $0.id == angle.id }),
            !element.content.isEmpty
          else { continue }
          layout.overwrite(
            ByteEdit(
              at: tracksElement.content.lowerBound + element.content.lowerBound,
              Array(tracks[element.content]),
              TaggedVideo.float(angle.degrees, count: element.content.count)))
        }
      }
      return
    }
    let entries = changed.map { ($0.entry, rewritten($0, angles)) }
    var content: [UInt8] = []
    var position = 0
    for (element, bytes) in entries {
      content += tracks[position..<element.whole.lowerBound] + bytes
      position = element.whole.upperBound
    }
    layout.replace(tracksElement, content: content + tracks[position...])
  }

  /// Returns a track entry with a projection that has all angles.
  private func rewritten(
    _ video: TaggedVideo, _ angles: [(id: UInt32, degrees: Double)]
  ) -> [UInt8] {
    var pose: [UInt8] = []
    let ids = Set(angles.map(\.id))
    for element in video.pose where !ids.contains(element.id) { pose += tracks[element.whole] }
    if video.pose.isEmpty { pose += MatroskaElement.bytes(MatroskaID.projectionType, [0]) }
    for angle in angles where angle.id != TaggedVideo.ID.pitch {
      pose += MatroskaElement.bytes(angle.id, TaggedVideo.float(angle.degrees, count: 4))
    }
    let projection = MatroskaElement.bytes(MatroskaID.projection, pose)
    var inside: [UInt8] = []
    for element in MatroskaElement.children(tracks, in: video.video.content)
    where element.id != MatroskaID.projection { inside += tracks[element.whole] }
    let own = MatroskaElement.bytes(MatroskaID.video, inside + projection)
    let (entry, old) = (video.entry.content, video.video.whole)
    let content =
      tracks[entry.lowerBound..<old.lowerBound] + own + tracks[old.upperBound..<entry.upperBound]
    return MatroskaElement.bytes(MatroskaID.entry, Array(content))
  }

  // MARK: - Weaker and stronger signals

  /// Makes `ROTATE` tags of any case void.
  private func removeRotateTags(_ layout: inout MatroskaLayout) throws(UprightError) {
    for element in index.elements where element.id == MatroskaID.tags {
      guard element.content.count <= Self.largest else { continue }
      let bytes = try file.bytes(in: element.content)
      for tag in MatroskaElement.children(bytes, in: bytes.indices) where tag.id == MatroskaID.tag {
        for simple in MatroskaElement.children(bytes, in: tag.content)
        where simple.id == MatroskaID.simpleTag {
          let name = MatroskaElement.children(bytes, in: simple.content)
            .first { $0.id == MatroskaID.tagName }
          guard let name,
            String(decoding: bytes[name.content], as: UTF8.self).lowercased() == "rotate"
          else { continue }
          layout.overwrite(
            ByteEdit(
              at: element.content.lowerBound + simple.whole.lowerBound, Array(bytes[simple.whole]),
              MatroskaElement.void(simple.whole.count)))
        }
      }
    }
  }

  /// Returns the edits of SEI in the frames of a track, and the number of frames.
  private func messageEdits(of video: TaggedVideo) throws(UprightError) -> ([ByteEdit], Int) {
    let codec: DisplayOrientationTracker.Codec? =
      switch video.codec {
      case "V_MPEG4/ISO/AVC": .h264
      case "V_MPEGH/ISO/HEVC": .hevc
      default: nil
      }
    var patch =
      video.isEncoded
      ? nil
      : codec.flatMap {
        MessagePatch(file, codec: $0, configuration: tracks[video.configuration])
      }
    var (edits, frames) = ([ByteEdit](), 0)
    try index.forEachFrame(of: video.number) { (frame) throws(UprightError) in
      frames += 1
      if let found = try patch?.edits(in: frame) { edits += found }
    }
    return (edits, frames)
  }
}
