internal import UprightMedia
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightSignals

/// What becomes of the boxes and the side data of the input, in addition to its streams and tags.
extension SessionPlan {
  /// The boxes that are added to the sample entries of copied tracks, by the index of the output's track.
  var keptBoxes: [Int: [[UInt8]]] {
    guard keepsEntries else { return [:] }
    var kept: [Int: [[UInt8]]] = [:]
    if mark != nil, let entry = video.track?.entries.first {
      kept[0] = boxes(entry)
    }
    for side in sideTracks where side.isCopied {
      if let entry = side.stream.track?.entries.first { kept[side.track] = boxes(entry) }
    }
    return kept.filter { !$0.value.isEmpty }
  }

  /// The boxes of user data that are added to the output's, and where they are in the input.
  var keptUserData: (boxes: UserDataBoxes, places: Set<MovieOutline.Place>) {
    var (boxes, places) = (UserDataBoxes(), Set<MovieOutline.Place>())
    guard keepsEntries, mark != nil, let outline = demuxer.container.outline else {
      return (boxes, places)
    }
    var tracks = [video.identifier: 0]
    for side in sideTracks where side.isCopied { tracks[side.stream.identifier] = side.track }
    for box in outline.userData
    where BoxLedger.isCopied(box.place, keepsLocation: options.keepsLocation) {
      if let track = box.place.track {
        guard let track = tracks[track] else { continue }
        boxes.tracks[track, default: []].append(box.bytes)
      } else {
        boxes.movie.append(box.bytes)
      }
      places.insert(box.place)
    }
    return (boxes, places)
  }

  private func boxes(_ entry: SampleEntry) -> [[UInt8]] {
    BoxLedger.copied(entry, isTurned: isTurned).map { Array(entry.bytes(of: $0)) }
  }

  /// Whether the sample entries of copied tracks are completed when the file is finished.
  private var keepsEntries: Bool {
    [.mp4, .mov].contains(container) && !options.splits && ContainerSink.isStaged(request.output)
  }

  /// Whether copied frames are shown with another turn than in the input, so that descriptions of views and of
  /// projections are wrong.
  private var isTurned: Bool {
    guard let mark else { return true }
    let before = video.displayMatrix?.orientation ?? .up
    if case .matrix(let matrix)? = mark.field { return matrix.orientation != before }
    return before != mark.message ?? .up
  }

  /// Returns what the output lacks of the input's boxes and side data, as texts for the user.
  var lostBoxes: [String] {
    var lost: [String] = []
    func add(_ text: String) { if !lost.contains(text) { lost.append(text) } }
    for name in lostDescriptions(of: video, isCopied: mark != nil) {
      add("\(video.label): \(name)")
    }
    for side in sideTracks {
      for name in lostDescriptions(of: side.stream, isCopied: side.isCopied) {
        add("\(side.stream.label): \(name)")
      }
    }
    let container = demuxer.container
    if let outline = container.outline {
      for text in BoxLedger.named(outline, except: keptUserData.places) { add(text) }
      let read = Set(([container.metadata] + container.streams.map(\.metadata)).flatMap(\.keys))
      for key in outline.keys where !read.contains(key) {
        add("metadata \(key): not read")
      }
    }
    for text in BoxLedger.named(container.topBoxes) { add(text) }
    return lost
  }

  private func lostDescriptions(of stream: StreamInfo, isCopied: Bool) -> [String] {
    let isMatroska = container == .matroska || container == .webm
    guard let entries = stream.track?.entries, !entries.isEmpty else {
      // Other containers: libavformat writes these for MP4 and Matroska.
      let isWritten = isCopied && !isTurned && (isMatroska || container == .mp4)
      return isWritten ? [] : stream.descriptions
    }
    var lost = entries.flatMap { BoxLedger.unwritten($0) }
    if isCopied && keepsEntries {
      let kept = Set(
        entries.prefix(1).flatMap { BoxLedger.copied($0, isTurned: isTurned) }.map(\.type))
      lost.removeAll { kept.contains($0) }
    } else if isCopied && isMatroska && !isTurned {
      let written: Set<MP4BoxType> = ["dvcC", "dvvC", "st3d", "sv3d"]
      lost.removeAll { written.contains($0) }
    }
    return lost.map { BoxLedger.name($0) }
  }

  /// The timecode of the first frame, if the output stores it.
  var timecode: Timecode? {
    guard [.mp4, .mov].contains(container), options.start == nil, !options.splits else {
      return nil
    }
    return givenTimecode.flatMap { Timecode($0, frameRate: video.frameRate) }
  }

  /// The timecodes that the output doesn't store, as texts for the user.
  var lostTimecodes: [String] {
    let reason =
      ![.mp4, .mov].contains(container)
      ? "not supported in \(container.rawValue)"
      : options.start != nil ? "--start changes it" : "it doesn't fit the frame rate"
    let tracks = demuxer.container.streams.filter { $0.codecTag == Timecode.track }
    if tracks.isEmpty {
      guard timecode == nil, let givenTimecode else { return [] }
      return ["timecode \(givenTimecode): \(reason)"]
    }
    return tracks.filter { timecode == nil || $0.metadata[Timecode.tag] != timecode?.text }
      .map { "\($0.label): timecode \($0.metadata[Timecode.tag] ?? "unknown"): \(reason)" }
  }

  /// The timecode of the input's first frame, as it is written there.
  private var givenTimecode: String? {
    for tags in [video.metadata, demuxer.container.metadata] {
      if let tag = tags.first(where: { $0.key.lowercased() == Timecode.tag }) { return tag.value }
    }
    return nil
  }
}
