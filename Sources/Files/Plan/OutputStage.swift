internal import Glibc
internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Writes packets to the outputs: video from the encoders and all other tracks as they were read, in one
/// order. Each rendition is a video track of its own; the other tracks are read and converted once for all.
final class OutputStage {
  /// One rendition's packets, in order.
  private struct RenditionSinks {
    let interleaver: PacketInterleaver
    let sinks: [any PacketSink]
    /// Whether the other tracks are written too.
    let hasSideTracks: Bool
    /// The encoded formats so far, in order.
    var formats: [EncodedFormat] = []
  }

  private let plan: SessionPlan
  private let mark: OrientationMetadata?
  /// The turns, which playlists list.
  let turns: TurnLog
  private var renditions: [RenditionSinks]
  private var hasStarted = false
  /// The number of sinks that have finished.
  private var finished = 0
  /// The streams with a packet at or after the requested end.
  private var pastEnd: Set<Int> = []

  /// - Parameters:
  ///   - mark: How the output marks the orientation of copied frames; `nil` if all are encoded.
  ///   - ahead: How far reading may be ahead of the video, in addition to the delay of an encoder.
  /// - Throws: `cannotCreate` if the output can't be created.
  init(
    _ plan: SessionPlan, mark: OrientationMetadata? = nil, ahead: MediaTime = .zero
  ) throws(UprightError) {
    self.plan = plan
    self.mark = mark
    let isMultivariant = plan.options.isMultivariant(in: plan.container)
    turns = TurnLog(date: plan.date)
    let sinks = try Self.sinks(plan, turns)
    renditions = sinks.enumerated().map { index, sinks in
      // The audio of a multivariant playlist is a rendition of its own, cut like the first one.
      let hasSideTracks = index == 0 || !isMultivariant
      let sideTracks = hasSideTracks ? plan.sideTracks : []
      return RenditionSinks(
        interleaver: PacketInterleaver(
          awaited: [true] + sideTracks.map { $0.stream.kind == .audio },
          cutsAtKeys: plan.container.isSegmented || plan.options.splits,
          timeout: Self.timeout(plan.video.frameRate) + ahead),
        sinks: sinks, hasSideTracks: hasSideTracks)
    }
  }

  /// Returns the sinks of each rendition.
  private static func sinks(
    _ plan: SessionPlan, _ turns: TurnLog
  ) throws(UprightError) -> [[any PacketSink]] {
    let request = plan.request
    if plan.container.isSegmented { return try playlistSinks(plan, turns) }
    if plan.options.splits {
      return [
        [
          try SplitSink(
            container: plan.container, target: request.output, unfinished: request.unfinished)
        ]
      ]
    }
    return try request.outputs.map { (target) throws(UprightError) in
      [
        try ContainerSink(
          container: plan.container, target: target, interrupt: request.writingInterrupt,
          unfinished: request.unfinished)
      ]
    }
  }

  private static func playlistSinks(
    _ plan: SessionPlan, _ turns: TurnLog
  ) throws(UprightError) -> [[any PacketSink]] {
    let request = plan.request
    let duration = MediaTime(seconds: request.options.segmentDuration)
    func sink(
      _ path: String, _ content: SegmentCutter.Content = .all,
      _ listing: HLSMedia.Listing? = nil
    ) throws(UprightError) -> HLSSink {
      try HLSSink(
        HLSMedia(
          plan.container.makeSegments(), segmentDuration: duration, content: content,
          listing: listing, turns: turns),
        playlistPath: path, unfinished: request.unfinished)
    }
    guard let playlists = request.playlists(hasAudio: !plan.sideTracks.isEmpty) else {
      return [[try sink(request.output)]]
    }
    let list = MultivariantPlaylist(
      playlists, segments: request.options.segments, segmentDuration: duration,
      unfinished: request.unfinished)
    var sinks: [[any PacketSink]] = []
    for (index, media) in playlists.media.enumerated() {
      let content: SegmentCutter.Content = media.rendition == nil ? .audio : .video
      let made = try sink(
        playlists.path(of: media), content, .init(in: list, at: index))
      if content == .audio { sinks[0].append(made) } else { sinks.append([made]) }
    }
    return sinks
  }

  /// The encoded formats so far, those of each rendition in order.
  var formats: [EncodedFormat] { renditions.flatMap(\.formats) }

  /// The files that were written, in order, if they differ from the named output.
  var files: [String] {
    guard renditions.count > 1, !plan.container.isSegmented else {
      let named = renditions[0].sinks[0].files
      guard named.isEmpty, plan.options.canvas == .dual, !plan.options.hasCommonPlaylist else {
        return named
      }
      return plan.request.playlists(hasAudio: false)?.outputs ?? []
    }
    return zip(renditions, plan.request.outputs).flatMap { rendition, output in
      let named = rendition.sinks.flatMap(\.files)
      return named.isEmpty ? [output] : named
    }
  }

  /// Writes a video packet. `format` comes with the first packet of each encoder.
  ///
  /// - Parameter rendition: The index of the rendition.
  func writeFrame(
    _ packet: consuming Packet, format: EncodedFormat?, rendition: Int = 0
  ) throws(UprightError) {
    if let cancelled = plan.request.cancelled { throw cancelled }
    if let format { renditions[rendition].formats.append(format) }
    renditions[rendition].interleaver.add(packet, track: 0, format: format, isVideo: true)
    try flush()
  }

  /// Writes a packet of another track, as it was read.
  func write(_ packet: consuming Packet) throws(UprightError) {
    let index = packet.streamIndex
    guard let side = plan.sideTracks.first(where: { $0.stream.index == index }) else { return }
    guard cut(&packet, isSubtitle: side.stream.kind == .subtitle) else { return }
    try side.write(packet) { (packet) throws(UprightError) in
      try send(packet, track: side.track)
    }
  }

  /// Writes a packet that the writer of a side track has made already.
  ///
  /// - Parameter track: The index of the track in the output, from 1.
  func writeConverted(_ packet: consuming Packet, track: Int) throws(UprightError) {
    try send(packet, track: track)
  }

  /// Whether every audio track has reached the requested end.
  var hasAudioToTheEnd: Bool {
    plan.sideTracks.allSatisfy { $0.stream.kind != .audio || pastEnd.contains($0.stream.index) }
  }

  /// Returns whether the packet is in the requested part, and shifts its timestamps like those of the video.
  private func cut(_ packet: inout Packet, isSubtitle: Bool) -> Bool {
    let (start, end) = plan.bounds
    guard start != nil || end != nil, let position = packet.time else { return true }
    if let end, position >= end {
      pastEnd.insert(packet.streamIndex)
      return false
    }
    if isSubtitle {
      guard packet.limit(from: start, to: end) else { return false }
    } else if let start, position < start {
      return false
    }
    if let start { packet.move(by: -start) }
    return true
  }

  private func send(_ packet: consuming Packet, track: Int) throws(UprightError) {
    if let cancelled = plan.request.cancelled { throw cancelled }
    for rendition in renditions.dropFirst() where rendition.hasSideTracks {
      rendition.interleaver.add(try packet.shared(), track: track, format: nil, isVideo: false)
    }
    renditions[0].interleaver.add(packet, track: track, format: nil, isVideo: false)
    try flush()
  }

  /// Returns how long audio waits for frames in the encoder and in the one before it: dozens of
  /// frames each, whatever the frame rate.
  private static func timeout(_ frameRate: Rational?) -> MediaTime {
    guard let frameRate, frameRate.numerator > 0 else { return MediaTime(60, .one) }
    return min(max(MediaTime(10, .one), MediaTime(128, frameRate.inverted)), MediaTime(3600, .one))
  }

  private func flush() throws(UprightError) {
    // Audio may begin any time before the video, but the header needs a video format. And all renditions begin
    // together: those of a playlist have the same offset.
    if renditions.contains(where: \.formats.isEmpty) { return }
    for rendition in renditions {
      while true {
        let earliest = hasStarted ? nil : earliest
        guard let item = rendition.interleaver.next() else { break }
        let (track, format) = (item.track, item.format)
        if let earliest { try begin(earliest) }
        let packet = item.takePacket()
        for sink in rendition.sinks.dropFirst() {
          try sink.write(
            packet.shared(), track: track, format: format?.index == 0 ? nil : format)
        }
        try rendition.sinks[0].write(
          packet, track: track, format: format?.index == 0 ? nil : format)
      }
    }
  }

  /// The lowest decoding times of the first packets of all renditions.
  private var earliest: (packet: MediaTime, frame: MediaTime) {
    (
      renditions.lazy.map(\.interleaver.earliestDecodingTime).min() ?? .zero,
      renditions.lazy.map(\.interleaver.earliestFrame).min() ?? .zero
    )
  }

  private func begin(_ earliest: (packet: MediaTime, frame: MediaTime)) throws(UprightError) {
    hasStarted = true
    for rendition in renditions {
      guard let first = rendition.formats.first else {
        throw UprightError(.fault, "audio before the first frame")
      }
      for sink in rendition.sinks { try sink.begin(description(first, earliest)) }
    }
  }

  private func description(
    _ first: EncodedFormat, _ earliest: (packet: MediaTime, frame: MediaTime)
  ) -> OutputDescription {
    // Copied frames keep all tags except `rotate`, which the new mark replaces.
    var tags =
      mark == nil
      ? plan.container.trackTags(plan.video.metadata)
      : plan.video.metadata.filter { !["rotate", Timecode.tag].contains($0.key.lowercased()) }
    tags[Timecode.tag] = plan.timecode?.text
    var description = OutputDescription(
      format: first, videoTimeBase: plan.videoTimeBase,
      sideTracks: plan.sideTracks.map(\.description), earliestTime: earliest.packet)
    description.earliestFrame = earliest.frame
    description.frameRate = plan.frameRate
    description.videoMetadata = tags
    let placed = plan.tags
    (description.metadata, description.listsTags) = (placed.written, placed.isList)
    description.chapters = plan.chapters
    description.copiedVideo = mark == nil ? nil : plan.video
    description.mark = mark
    description.entryBoxes = plan.keptBoxes
    description.userData = plan.keptUserData.boxes
    return description
  }

  /// Ends all tracks and writes the remaining packets.
  ///
  /// - Parameter areWritten: Whether the packets of side tracks came by `writeConverted`.
  func endTracks(areWritten: Bool = false) throws(UprightError) {
    for rendition in renditions { rendition.interleaver.end(track: 0) }
    for side in plan.sideTracks {
      if !areWritten {
        try side.write(nil) { (packet) throws(UprightError) in
          try send(packet, track: side.track)
        }
      }
      for rendition in renditions where rendition.hasSideTracks {
        rendition.interleaver.end(track: side.track)
      }
    }
    try flush()
  }

  /// Finishes the output so that it is playable. The output of a stopped run becomes a partial file.
  func finish() throws(UprightError) {
    if let cancelled = plan.request.cancelled { throw cancelled }
    let sinks = renditions.flatMap(\.sinks)
    // No output gets its name before all are complete.
    if renditions.count > 1 { for sink in sinks { try sink.complete() } }
    for sink in sinks {
      do throws(UprightError) { try sink.finish(isPartial: plan.request.leavesPartial) } catch {
        if renditions.count > 1 { removeFinished() }
        throw error
      }
      finished += 1
    }
  }

  /// Removes the files of renditions that were finished before another one failed.
  private func removeFinished() {
    guard !plan.container.isSegmented else { return }
    for file in files.prefix(finished) where ContainerSink.isStaged(file) {
      _ = unsafe unlink(file)
    }
  }

  /// Removes unfinished output.
  func abandon() { for sink in renditions.flatMap(\.sinks) { sink.abandon() } }
}
