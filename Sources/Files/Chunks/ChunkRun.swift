internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Does one chunk of a plan.
struct ChunkRun {
  /// What a chunk gave, before its part is published.
  private struct Work {
    let writer: PartWriter
    var outcome = PartsOutcome()
    var read = 0
  }

  private let session: ChunkSession
  private let chunk: Int
  private let folder: PartFolder
  private let started = ContinuousClock.now

  private var plan: ChunkPlan { session.plan }
  private var request: TranscodeRequest { session.request }

  init(_ session: ChunkSession, chunk: Int, folder: String) {
    self.session = session
    self.chunk = chunk
    self.folder = PartFolder(path: folder, plan: session.id)
  }

  func run() throws(UprightError) -> PartReport {
    try folder.prepare()
    if var found = try folder.checked(chunk) {
      try ToolVersions.check(plan.tools)
      found.isReused = true
      return found
    }
    // Another process may be doing the same chunk.
    try? StagedFile.removeAbandoned(of: folder.part(chunk))
    try? StagedFile.removeAbandoned(of: folder.report(chunk))
    do throws(UprightError) {
      switch plan.chunks[chunk] {
      case .frames(let frames): return try publish(work(frames))
      case .tracks(let digest): return try publish(tracks(digest))
      case .whole: return try whole()
      }
    } catch {
      // Interrupted reading has errors of its own.
      throw request.cancelled ?? error
    }
  }

  private func writer() throws(UprightError) -> PartWriter {
    try PartWriter(path: folder.part(chunk), plan: session.id, chunk: chunk)
  }

  private func publish(_ work: Work) throws(UprightError) -> PartReport {
    let (digest, isPublished) = try work.writer.finish()
    var report = PartReport(
      plan: session.id, chunk: chunk, digest: digest, size: work.writer.size,
      packets: work.writer.packets)
    report.add(work.outcome)
    report.timing.read = work.read
    return try publish(report, isPublished: isPublished)
  }

  private func publish(
    _ report: PartReport, isPublished: Bool
  ) throws(UprightError) -> PartReport {
    if !isPublished, try ByteDigest.digest(ofFile: folder.part(chunk)).digest != report.digest {
      throw UprightError(
        .badData, "there is another part of that name", at: folder.part(chunk),
        remedy:
          "use a folder for each plan; if it is of this plan, a machine differs from the others")
    }
    var report = report
    let timing = TranscodeReport.Timing(wall: started.secondsUntilNow)
    (report.timing.wall, report.timing.cpu) = (timing.wall, timing.cpu)
    report.isReused = !isPublished
    try folder.publish(report)
    return report
  }

  // MARK: - Frames

  private func work(_ frames: ChunkPlan.Frames) throws(UprightError) -> Work {
    let isFirst = frames.frames.lowerBound == 0
    do throws(UprightError) {
      return try work(frames, isSought: !isFirst)
    } catch {
      // Some containers seek to another place than reading reaches.
      guard error.code == .badData, !isFirst, request.cancelled == nil else { throw error }
      return try work(frames, isSought: false)
    }
  }

  /// - Parameter isSought: Whether reading starts near the chunk and not at the start of the input.
  private func work(_ frames: ChunkPlan.Frames, isSought: Bool) throws(UprightError) -> Work {
    var plan = try plan.session(request, isDryRun: true)
    plan.digestsPackets = true
    let parts = try self.plan.parts(plan)
    let clocks = parts.keyframeClocks(FramePipeline.Setup(plan).keyframes)
    let exchange = PartExchange(first: chunk)
    let reader = try PartReader(
      plan, parts, exchange: exchange, encoders: 1,
      single: .init(part: chunk, isSought: isSought)
    ) { part in
      PartEncoder(plan, parts, part: part, clock: clocks[part], exchange: exchange)
    }
    var work = Work(writer: try writer())
    let reading = WorkThread(name: "upright-read") { reader.run() }
    do throws(UprightError) {
      while let item = try exchange.take() {
        if let cancelled = request.cancelled { throw cancelled }
        guard case .frame(let box, _) = item, let packet = box.take() else { continue }
        try work.writer.write(packet, track: 0, format: box.format)
      }
      guard let read = reading.join() else { throw UprightError(.fault, "no result of the reader") }
      if let error = read.error { throw error }
      if read.isStopped { throw UprightError(.cancelled, "stopped", at: request.input) }
      work.outcome = try PartsRun.outcome(read)
      guard read.packets == frames.frames.count,
        try PacketDigest.combined(read.digests) == frames.digest
      else { throw ChunkPlan.changed(request.input) }
      try checkLosses(plan, work.outcome)
    } catch {
      exchange.close()
      for encoder in reading.join()?.encoders ?? [] { _ = encoder.join() }
      throw error
    }
    work.read = (plan.demuxer as? Demuxer)?.bytesRead ?? 0
    return work
  }

  /// - Throws: `badData` if damage is an error and there is some. Only `join` knows the losses of the whole input.
  private func checkLosses(
    _ plan: SessionPlan, _ outcome: PartsOutcome
  ) throws(UprightError) {
    let source = outcome.source
    guard plan.options.isStrict,
      source.damagedPackets + source.damagedFrames + source.misplacedFrames
        + outcome.damagedSidePackets > 0
    else { return }
    throw UprightError(
      .badData, "the input is damaged", at: request.input,
      remedy: "leave out --strict to keep what can be decoded")
  }

  // MARK: - Other tracks

  /// - Parameter digest: The digest of the tracks' packets when the plan was made.
  private func tracks(_ digest: String) throws(UprightError) -> Work {
    let plan = try plan.session(request, isDryRun: true)
    var work = Work(writer: try writer())
    let found = try TrackDigest(plan.sideTracks.map(\.stream.index))
    let joinsClocks = (plan.demuxer as? Demuxer)?.joinsClocks == true
    plan.demuxer.select(
      Set(plan.sideTracks.map(\.stream.index)).union(joinsClocks ? [plan.video.index] : []))
    var reader = PacketReader(plan.demuxer)
    while let packet = reader.next() {
      if let cancelled = request.cancelled { throw cancelled }
      let index = packet.streamIndex
      found.add(packet)
      guard let side = plan.sideTracks.first(where: { $0.stream.index == index }) else { continue }
      try write(packet, of: side, to: work.writer)
    }
    if let error = reader.error { throw error }
    if reader.isStopped { throw UprightError(.cancelled, "stopped", at: request.input) }
    // libavformat takes a connection that is closed early for the end of the input.
    guard try found.finish() == digest else { throw ChunkPlan.changed(request.input) }
    for side in plan.sideTracks {
      try write(nil, of: side, to: work.writer)
      try work.writer.write(extradata: side.extradata, track: side.track)
    }
    work.outcome.damagedSidePackets = plan.damagedSidePackets
    try checkLosses(plan, work.outcome)
    work.read = (plan.demuxer as? Demuxer)?.bytesRead ?? 0
    return work
  }

  private func write(
    _ packet: consuming Packet?, of side: SideTrackWriter, to writer: PartWriter
  ) throws(UprightError) {
    try side.write(packet) { (packet) throws(UprightError) in
      try writer.write(packet, track: side.track)
    }
  }

  // MARK: - The whole output

  private func whole() throws(UprightError) -> PartReport {
    try ToolVersions.check(plan.tools)
    // Checks the input before the session opens it.
    _ = try plan.session(request, isDryRun: true)
    let temporary = "\(folder.path)/.\(chunk).\(Int.random(in: 1 << 32...Int.max))"
    var options = plan.options
    options.overwrites = true
    let transcode = try TranscodeSession(
      input: request.input, output: temporary, inputFormat: plan.inputFormat,
      outputFormat: plan.container.rawValue, options: options, policy: plan.policy,
      events: plan.events.map { .list($0) } ?? .none)
    if let cancelled = request.cancelled { throw cancelled }
    let made = try transcode.run { [request] _ in
      if request.cancellation.isRaised { transcode.cancel() }
    }
    let (digest, size) = try ByteDigest.digest(ofFile: temporary)
    var report = PartReport(
      plan: session.id, chunk: chunk, digest: digest, size: size, packets: made.output.frames)
    (report.videoPackets, report.frames) = (made.input.frames, made.input.frames)
    report.copied = made.output.copiedFrames
    (report.dropped, report.warnings) = (made.output.dropped, made.warnings)
    report.whole = made.json
    let stages = made.timing.stages
    (report.timing.decode, report.timing.orient, report.timing.encode) = (
      stages.decode, stages.orient, stages.encode
    )
    return try publish(
      report, isPublished: StagedFile.publish(temporary, as: folder.part(chunk)))
  }
}
