internal import Orientation
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// Writes packets to the output: video from the encoders and all other tracks as they were read, in one
/// order.
final class OutputStage {
  private let plan: SessionPlan
  private let mark: OrientationMetadata?
  private let sink: any PacketSink
  private let interleaver: PacketInterleaver
  private var hasStarted = false
  /// The streams with a packet at or after the requested end.
  private var pastEnd: Set<Int> = []
  /// The encoded formats so far, in order.
  private(set) var formats: [EncodedFormat] = []

  /// - Parameters:
  ///   - mark: How the output marks the orientation of copied frames; `nil` if all are encoded.
  ///   - ahead: How far reading may be ahead of the video, in addition to the delay of an encoder.
  /// - Throws: `cannotCreate` if the output can't be created.
  init(
    _ plan: SessionPlan, mark: OrientationMetadata? = nil, ahead: MediaTime = .zero
  ) throws(UprightError) {
    self.plan = plan
    self.mark = mark
    interleaver = PacketInterleaver(
      awaited: [true] + plan.sideTracks.map { $0.stream.kind == .audio },
      cutsAtKeys: plan.container.isSegmented || plan.options.splits,
      timeout: Self.timeout(plan.video.frameRate) + ahead)
    sink = try Self.sink(plan)
  }

  private static func sink(_ plan: SessionPlan) throws(UprightError) -> any PacketSink {
    let request = plan.request
    if plan.container.isSegmented {
      return try HLSSink(
        playlistPath: request.output,
        segments: plan.container == .hls ? FragmentedSegments() : TransportSegments(),
        segmentDuration: MediaTime(seconds: request.options.segmentDuration),
        unfinished: request.unfinished)
    }
    if plan.options.splits {
      return try SplitSink(
        container: plan.container, target: request.output, unfinished: request.unfinished)
    }
    return try ContainerSink(
      container: plan.container, target: request.output, interrupt: request.writingInterrupt,
      unfinished: request.unfinished)
  }

  /// The files that were written, in order, if they differ from the named output.
  var files: [String] { sink.files }

  /// Writes a video packet. `format` comes with the first packet of each encoder.
  func takeFrame(_ packet: consuming Packet, format: EncodedFormat?) throws(UprightError) {
    try send(packet, track: 0, format: format)
  }

  /// Writes a packet of another track, as it was read.
  func take(_ packet: consuming Packet) throws(UprightError) {
    let index = packet.streamIndex
    guard let side = plan.sideTracks.first(where: { $0.stream.index == index }) else { return }
    guard cut(&packet) else { return }
    try side.write(packet) { (packet) throws(UprightError) in
      try send(packet, track: side.track, format: nil)
    }
  }

  /// Whether every audio track has reached the requested end.
  var hasAudioToTheEnd: Bool {
    plan.sideTracks.allSatisfy { $0.stream.kind != .audio || pastEnd.contains($0.stream.index) }
  }

  /// Returns whether the packet is in the requested part, and shifts its timestamps like those of the video.
  private func cut(_ packet: inout Packet) -> Bool {
    guard plan.options.start != nil || plan.options.end != nil, let position = packet.time else {
      return true
    }
    let time = position - plan.zero
    if let end = plan.end, time >= end {
      pastEnd.insert(packet.streamIndex)
      return false
    }
    guard let start = plan.start else { return true }
    if time < start { return false }
    packet.move(by: -(plan.zero + start))
    return true
  }

  private func send(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    if let cancelled = plan.request.cancelled { throw cancelled }
    if let format { formats.append(format) }
    interleaver.add(packet, track: track, format: format, isVideo: track == 0)
    try flush()
  }

  /// Returns how long audio waits for frames in the encoder and in the one before it: dozens of
  /// frames each, whatever the frame rate.
  private static func timeout(_ frameRate: Rational?) -> MediaTime {
    guard let frameRate, frameRate.numerator > 0 else { return MediaTime(60, .one) }
    return min(max(MediaTime(10, .one), MediaTime(128, frameRate.inverted)), MediaTime(3600, .one))
  }

  private func flush() throws(UprightError) {
    // Audio may begin any time before the video, but the header needs a video format.
    if formats.isEmpty { return }
    while true {
      let earliest = interleaver.earliestDecodingTime
      guard let item = interleaver.next() else { return }
      let (track, format) = (item.track, item.format)
      try begin(earliest)
      try sink.write(item.takePacket(), track: track, format: format?.index == 0 ? nil : format)
    }
  }

  private func begin(_ earliest: MediaTime) throws(UprightError) {
    guard !hasStarted else { return }
    guard let first = formats.first else {
      throw UprightError(.fault, "audio before the first frame")
    }
    hasStarted = true
    // Copied frames keep all tags except `rotate`, which the new mark replaces.
    let tags =
      mark == nil
      ? plan.container.trackTags(plan.video.metadata)
      : plan.video.metadata.filter { $0.key.lowercased() != "rotate" }
    let placed = plan.tags
    try sink.begin(
      OutputDescription(
        format: first, videoTimeBase: plan.videoTimeBase, frameRate: plan.video.frameRate,
        videoMetadata: tags,
        sideTracks: plan.sideTracks.map(\.description),
        metadata: placed.written, listsTags: placed.isList,
        chapters: plan.demuxer.container.chapters,
        earliestTime: earliest, copiedVideo: mark == nil ? nil : plan.video, mark: mark))
  }

  /// Ends all tracks and writes the remaining packets.
  func endTracks() throws(UprightError) {
    interleaver.end(track: 0)
    for side in plan.sideTracks {
      try side.write(nil) { (packet) throws(UprightError) in
        try send(packet, track: side.track, format: nil)
      }
      interleaver.end(track: side.track)
    }
    try flush()
  }

  /// Finishes the output so that it is playable. The output of a stopped run becomes a partial file.
  func finish() throws(UprightError) {
    if let cancelled = plan.request.cancelled { throw cancelled }
    try sink.finish(isPartial: plan.request.leavesPartial)
  }

  /// Removes unfinished output.
  func abandon() { sink.abandon() }
}
