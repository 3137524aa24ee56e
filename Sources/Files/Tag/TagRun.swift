internal import UprightOrientation
internal import UprightSignals
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Writes the packets of the input of one `TagSession` anew, with a single orientation signal.
final class TagRun {
  /// A stream of the input that is copied, and its index in the output.
  private struct Track {
    let stream: StreamInfo
    let index: Int
  }

  private struct Description: FileDescription {
    let videoTimeBase: Rational
    let metadata: [String: String]
    let listsTags: Bool
    let chapters: [Demuxer.Chapter]
    let mark: OrientationMetadata?
    let copiedSamples: Int
  }

  private let session: TagSession
  private let container: TagContainer
  private var muxer: String { container.muxer }
  private let demuxer: Demuxer
  private let video: StreamInfo
  private let mark: OrientationMetadata
  private let sink: ContainerSink
  private let tracks: [Track]
  private let decodingTimes: DecodingTimeGenerator
  private let interleaver: PacketInterleaver
  private var rewriter: DisplayOrientationRewriter?
  private var dropped: [String] = []
  private var warnings: [String] = []
  private var frames = 0
  /// The number of frames that an edit list of the input hides.
  private var hidden = 0
  private var untimed = 0
  private var hasForeignEXIF = false
  private var times: (first: MediaTime, end: MediaTime)?
  private let started = ContinuousClock.now

  init(_ session: TagSession, muxer: String) throws(UprightError) {
    self.session = session
    container = TagContainer(muxer: muxer, output: session.output)
    if JanusFile.recognises(session.input) {
      throw UprightError(
        .usage, "a Janus recording holds packets of RTP, which no container stores",
        at: session.input, remedy: "use transcode: it copies frames that need no change")
    }
    demuxer = try Demuxer(
      url: session.input, format: session.inputFormat, interrupt: session.interrupt)
    try demuxer.checkReadable()
    guard let video = demuxer.bestStream(.video) else {
      throw UprightError(
        .badData, "there is no video stream", at: session.input, remedy: "give an input with video"
      )
    }
    self.video = video
    decodingTimes = DecodingTimeGenerator(timeBase: video.timeBase, frameRate: video.frameRate)
    mark = try OrientationMetadata(
      session.options.orientation, for: video, muxer: muxer,
      wantsMessage: session.options.writesMessages, isFile: ContainerSink.isStaged(session.output))
    rewriter = mark.rewriter(for: video)
    if ["h264", "hevc", "m4v", "mpegvideo", "obu"].contains(demuxer.container.format),
      !container.writesElementaryStream
    {
      throw UprightError(
        .usage, "an elementary stream has no timestamps to copy", at: session.input,
        remedy: "write .\(video.codecName), or use transcode to write a container")
    }
    var tracks: [Track] = []
    for stream in demuxer.container.streams {
      if let reason = try container.reasonToDrop(stream, video: video) {
        dropped.append("\(stream.label): \(reason)")
      } else {
        tracks.append(Track(stream: stream, index: tracks.count))
      }
    }
    self.tracks = tracks
    demuxer.select(Set(tracks.map(\.stream.index)))
    interleaver = PacketInterleaver(
      awaited: tracks.map {
        $0.stream.index == video.index || $0.stream.kind == .audio
      }, cutsAtKeys: false)
    sink = try ContainerSink(
      muxer: muxer, target: session.output, interrupt: session.writingInterrupt,
      unfinished: session.unfinished)
  }

  // MARK: - The run

  func run() throws(UprightError) -> TranscodeReport {
    var reader = PacketReader(demuxer)
    do throws(UprightError) {
      try begin()
      while let packet = reader.next() { try process(packet) }
      try finishFrames()
      for track in tracks { interleaver.end(track: track.index) }
      try flush()
      try checkLosses(reader)
      try sink.finish(isPartial: session.interrupt.isRaised)
    } catch {
      sink.abandon()
      throw error
    }
    return report()
  }

  private func begin() throws(UprightError) {
    let tags = demuxer.container.metadata
    let kept = SessionPlan.kept(tags, location: true)
    let placed =
      OutputContainer.allCases.first { $0.muxer == muxer }?.place(kept)
      ?? PlacedTags(written: kept)
    if !placed.withoutPlace.isEmpty {
      dropped.append("tags that cannot be stored: " + placed.withoutPlace.joined(separator: ", "))
    }
    let description = Description(
      videoTimeBase: commonTick, metadata: placed.written, listsTags: placed.isList,
      chapters: demuxer.container.chapters, mark: mark,
      copiedSamples: video.frameCount == 0
        ? 0 : tracks.reduce(0) { $0 + $1.stream.frameCount })
    let allTags = [tags] + demuxer.container.streams.map(\.metadata)
    if allTags.contains(where: { $0.keys.contains { SessionPlan.isLocation($0) } }) {
      warnings.append(TagSession.locationNote)
    }
    try sink.begin(description) { (muxer) throws(UprightError) in
      for track in tracks { try add(track, to: muxer) }
    }
  }

  /// The seconds per tick of a time base that includes the ticks of video and audio. Edit lists use it.
  private var commonTick: Rational {
    var ticks = 1
    for stream in tracks.map(\.stream) where stream.kind == .video || stream.kind == .audio {
      let denominator = max(1, stream.timeBase.denominator)
      var (a, b) = (ticks, denominator)
      while b != 0 { (a, b) = (b, a % b) }
      let (common, isTooFine) = (ticks / a).multipliedReportingOverflow(by: denominator)
      if !isTooFine && common <= 10_000_000 { ticks = common }
    }
    return Rational(1, max(ticks, 1000))
  }

  private func add(_ track: Track, to muxer: Muxer) throws(UprightError) {
    let stream = track.stream
    let isMain = stream.index == video.index
    if container.attaches(stream) {
      let file = try stream.attached()
      _ = try muxer.addStream(
        file.parameters, timeBase: stream.timeBase, like: stream, metadata: file.metadata)
      return
    }
    var metadata = stream.metadata.filter { key, _ in
      !(isMain && key.lowercased() == "rotate")
    }
    // Matroska's statistics tags describe the input's packets.
    if ["matroska", "webm"].contains(container.muxer) {
      metadata = metadata.filter { !$0.key.hasPrefix("_STATISTICS") }
    }
    _ = try muxer.addCopy(
      of: stream, parameters: stream.parameters, timeBase: stream.timeBase, metadata: metadata,
      orientation: isMain ? mark.field : nil)
  }

  private func process(_ packet: consuming Packet) throws(UprightError) {
    let index = packet.streamIndex
    guard let track = tracks.first(where: { $0.stream.index == index }),
      !container.attaches(track.stream)
    else { return }
    if packet.pts == nil && packet.dts == nil && !track.stream.isAttachedPicture
      && !container.writesElementaryStream
    {
      // A packet without a timestamp is the rest of a frame whose beginning is lost.
      untimed += 1
      return
    }
    guard index == video.index else {
      return try send(packet, to: track)
    }
    if packet.isDiscarded { hidden += 1 }
    // Hidden frames count neither as frames nor toward the duration.
    let isShown = !(packet.isDiscarded && container.keepsEdits)
    if isShown { frames += 1 }
    if isShown, let time = packet.time {
      let end = time + packet.length
      times = (min(times?.first ?? time, time), max(times?.end ?? end, end))
    }
    checkEXIF(of: packet)
    let isKey = packet.isKey
    let changed = unsafe packet.withBytes { bytes in
      unsafe rewriter?.rewrite(bytes, isKey: isKey)
    }
    let marked: Packet
    if let changed { marked = try packet.with(payload: changed) } else { marked = packet }
    try decodingTimes.process(marked) { (packet) throws(UprightError) in try send(packet, to: track)
    }
  }

  /// Warns once if JPEG frames contain another orientation: players read their EXIF data before any mark.
  private func checkEXIF(of packet: borrowing Packet) {
    guard video.codecName == "mjpeg", !hasForeignEXIF,
      let stated = unsafe packet.withBytes({ unsafe EXIFOrientation.orientation(inJPEG: $0) }),
      stated != session.options.orientation
    else { return }
    hasForeignEXIF = true
    warnings.append(
      "the EXIF data inside the frames says \(stated.name), which takes precedence in players that "
        + "read it: use transcode to turn the pixels")
  }

  private func finishFrames() throws(UprightError) {
    guard let track = tracks.first(where: { $0.stream.index == video.index }) else { return }
    try decodingTimes.finish { (packet) throws(UprightError) in try send(packet, to: track) }
  }

  private func send(_ packet: consuming Packet, to track: Track) throws(UprightError) {
    interleaver.add(
      packet, track: track.index, format: nil, isVideo: track.stream.kind == .video)
    try flush()
  }

  private func flush() throws(UprightError) {
    while let item = interleaver.next() {
      let track = item.track
      try sink.write(item.takePacket(), track: track, format: nil)
    }
  }

  /// Adds a warning about losses, or throws if nothing was copied.
  ///
  /// - Throws: `badData` if nothing was copied, or if there are losses and `--strict` is set; `cancelled` if
  ///   stopped before the first frame.
  private func checkLosses(_ reader: PacketReader) throws(UprightError) {
    if reader.isStopped && frames == 0 {
      throw UprightError(.cancelled, "stopped", at: session.input)
    }
    if frames == 0 {
      throw reader.error
        ?? UprightError(
          .badData, "the input has no frames", at: session.input, remedy: "the input is damaged")
    }
    if mark.message != nil && rewriter?.inserted == 0 {
      throw UprightError(
        .badData, "no frame can be found in the packets", at: session.input,
        remedy: "the input is damaged")
    }
    if hidden > 0 {
      warnings.append(
        container.keepsEdits
          ? PacketSurvey.warning(hidden: hidden)
          : "\(hidden) frames that an edit list hides are shown: \(muxer) has no edit lists"
      )
    }
    var losses = demuxer.losses
    if reader.damaged > 0 { losses.append("\(reader.damaged) damaged parts") }
    if untimed > 0 { losses.append("\(untimed) packets without a timestamp") }
    if let error = reader.error { losses.append(error.message) }
    let missing = video.frameCount - frames - (container.keepsEdits ? hidden : 0)
    if missing > 0 && !reader.isStopped && !video.isAttachedPicture {
      losses.append("\(missing) of \(video.frameCount.of("frame")) are not in the file")
    }
    guard !losses.isEmpty else { return }
    if session.options.isStrict {
      throw UprightError(
        .badData, losses.joined(separator: "; "), at: session.input,
        remedy: "leave out --strict to keep the rest")
    }
    warnings.append("the input is damaged: " + losses.joined(separator: "; "))
  }

  private func report() -> TranscodeReport {
    let duration = times.map { ($0.end - $0.first).seconds } ?? 0
    let whole = video.duration ?? demuxer.container.duration
    return TranscodeReport(
      input: .init(path: session.input, video: video, frames: frames, duration: whole),
      output: .init(
        named: session.output, files: sink.files, sizes: [video.parameters.size], frames: frames,
        copiedFrames: frames, duration: duration, dropped: dropped),
      formats: [session.format(of: video.frameShape.shown)], decisions: [], warnings: warnings,
      timing: .init(wall: started.secondsUntilNow),
      stopped: session.interrupt.isRaised ? .init(at: duration, duration: whole?.seconds) : nil)
  }
}
