internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// Joins the parts of a plan to its output.
struct JoinRun {
  private let session: ChunkSession
  private let folder: PartFolder
  private let observe: (SessionUpdate) -> Void

  fileprivate var plan: ChunkPlan { session.plan }
  private var request: TranscodeRequest { session.request }

  init(
    _ session: ChunkSession, folder: String, observe: @escaping (SessionUpdate) -> Void
  ) {
    self.session = session
    self.folder = PartFolder(path: folder, plan: session.id)
    self.observe = observe
  }

  func run() throws(UprightError) -> JoinReport {
    do throws(UprightError) {
      let reports = try reports()
      if case .whole = plan.chunks.first { return try whole(reports[0]) }
      let plan = try plan.session(request, isDryRun: false)
      return .joined(
        self.plan.chunks.isEmpty ? try copied(plan) : try joined(plan, reports))
    } catch {
      // Interrupted reading has errors of its own.
      throw request.cancelled ?? error
    }
  }

  /// Returns the reports of all chunks. All parts have been checked before anything is written.
  private func reports() throws(UprightError) -> [PartReport] {
    var reports: [PartReport] = []
    for chunk in plan.chunks.indices {
      if let cancelled = request.cancelled { throw cancelled }
      guard let report = try folder.checked(chunk) else {
        throw UprightError(
          .noInput, "part \(chunk) is missing", at: folder.report(chunk), remedy: "run the chunk")
      }
      reports.append(report)
    }
    return reports
  }

  // MARK: - Without parts

  private func copied(_ plan: SessionPlan) throws(UprightError) -> TranscodeReport {
    guard case .copy(let copy) = try CopyPlan(plan).method else {
      throw ChunkPlan.changed(request.input)
    }
    return try CopyRun(plan, copy, observe: observe).run()
  }

  private func whole(_ report: PartReport) throws(UprightError) -> JoinReport {
    try ToolVersions.check(plan.tools)
    try OutputCheck.check(request)
    guard let input = FileReader(folder.part(report.chunk)) else {
      throw UprightError(.noInput, "the part can't be read", at: folder.part(report.chunk))
    }
    let (file, digest) = (try StagedFile(path: request.output), try ByteDigest())
    var isAtEnd = false
    while !isAtEnd {
      let piece = try input.read(1 << 20)
      if let cancelled = request.cancelled { throw cancelled }
      isAtEnd = piece.isEmpty
      digest.add(piece)
      try file.append(piece)
    }
    guard digest.finish() == report.digest else {
      throw UprightError(
        .badData, "the part has changed while it was read", at: folder.part(report.chunk))
    }
    try file.commit()
    return .whole(
      report.whole ?? .null, path: request.output, frames: report.packets)
  }

  // MARK: - Parts

  private func joined(
    _ plan: SessionPlan, _ reports: [PartReport]
  ) throws(UprightError) -> TranscodeReport {
    guard let video = self.plan.video else { throw UprightError(.fault, "a plan without frames") }
    let parts = try self.plan.parts(plan)
    let formats = PartFormats(
      plan, parts, shared: video.join?.shared ?? plan.video.parameters,
      alignment: video.alignment)
    let frames = try PartFrames(self, plan, parts, reports)
    let sides = try PartSideTracks(self, plan)
    let output = try PartsOutput(plan, parts, formats, observe: observe)
    output.reportPlan()
    do throws(UprightError) {
      // The track that is behind comes first, so that little of the other one waits.
      while true {
        if let cancelled = request.cancelled { throw cancelled }
        if let sides, let next = sides.time, next <= frames.time ?? next {
          try sides.pass(to: output)
        } else if frames.time != nil {
          try frames.pass(to: output)
        } else {
          break
        }
      }
      var outcome = PartsOutcome()
      for report in reports { outcome.add(report.outcome) }
      return try output.finish(outcome, areWritten: true)
    } catch {
      output.abandon()
      throw error
    }
  }

  fileprivate func reader(_ chunk: Int) throws(UprightError) -> PartFileReader {
    try PartFileReader(path: folder.part(chunk), plan: session.id, chunk: chunk)
  }

  fileprivate func damage(_ what: String, _ chunk: Int) -> UprightError {
    UprightError(
      .badData, what, at: folder.part(chunk), remedy: "remove it, and run the chunk again")
  }
}

/// The video packets of all parts, in order.
private final class PartFrames {
  private let join: JoinRun
  private let plan: SessionPlan
  private let parts: InputParts
  private let reports: [PartReport]
  private var part = 0
  private var reader: PartFileReader
  private var next: PacketBox?
  /// The number of packets of the part so far.
  private var count = 0
  /// The decoding time of the next packet; `nil` at the end.
  private(set) var time: MediaTime?

  init(
    _ join: JoinRun, _ plan: SessionPlan, _ parts: InputParts, _ reports: [PartReport]
  ) throws(UprightError) {
    (self.join, self.plan, self.parts, self.reports) = (join, plan, parts, reports)
    reader = try join.reader(0)
    try advance()
  }

  func pass(to output: PartsOutput) throws(UprightError) {
    guard let next else { return }
    try output.writeFrame(next, part: part)
    try advance()
  }

  private func advance() throws(UprightError) {
    while true {
      switch try reader.next() {
      case .packet(let box, let track):
        let times = box.times
        guard track == 0, try isExpected(times) else {
          throw join.damage("it has packets of other frames", part)
        }
        count += 1
        (next, time) = (box, times?.decoding)
        return
      case .extradata: throw join.damage("it has another track", part)
      case nil:
        let frames = parts.parts[part].frames.count
        let mayLack =
          reports[part].damagedPackets + reports[part].misplacedFrames > 0
          || reports[part].frames < frames
        guard count == reports[part].packets, count == frames || count < frames && mayLack else {
          throw join.damage("it has \(count) of \(frames) frames", part)
        }
        guard part + 1 < parts.parts.count else {
          (next, time) = (nil, nil)
          return
        }
        part += 1
        count = 0
        reader = try join.reader(part)
      }
    }
  }

  /// Whether a packet has the time base of the output and is shown within its part.
  private func isExpected(_ times: PacketBox.Times?) throws(UprightError) -> Bool {
    guard let times, times.timeBase == plan.videoTimeBase else { return false }
    let shown = parts.inputSurvey.survey.shown
    let frames = parts.parts[part].frames
    let base = plan.video.timeBase
    // Times are rounded to the output's ticks.
    let tick = MediaTime(1, plan.videoTimeBase)
    return times.presentation >= MediaTime(shown[frames.lowerBound], base) - tick
      && times.presentation <= MediaTime(shown[frames.upperBound - 1], base) + tick
  }
}

/// The packets of the other tracks, in the order in which they were written.
private final class PartSideTracks {
  private let join: JoinRun
  private let chunk: Int
  private let reader: PartFileReader
  private let tracks: ClosedRange<Int>
  private var next: (box: PacketBox, track: Int)?
  /// The time of the next packet; `nil` at the end.
  private(set) var time: MediaTime?

  /// Returns `nil` if the output has no other tracks.
  init?(_ join: JoinRun, _ plan: SessionPlan) throws(UprightError) {
    guard let chunk = join.plan.tracksChunk else {
      guard plan.sideTracks.isEmpty else { throw ChunkPlan.changed(plan.request.input) }
      return nil
    }
    guard !plan.sideTracks.isEmpty else { throw ChunkPlan.changed(plan.request.input) }
    (self.join, self.chunk) = (join, chunk)
    tracks = 1...plan.sideTracks.count
    // The extradata of a track is at the end, and is needed at the start.
    let first = try join.reader(chunk)
    while let item = try first.next() {
      guard case .extradata(let bytes, let track) = item else { continue }
      guard tracks.contains(track) else { throw join.damage("it has another track", chunk) }
      try plan.sideTracks[track - 1].restore(extradata: bytes)
    }
    reader = try join.reader(chunk)
    try advance()
  }

  func pass(to output: PartsOutput) throws(UprightError) {
    if let next, let packet = next.box.take() {
      try output.writeConverted(packet, track: next.track)
    }
    try advance()
  }

  private func advance() throws(UprightError) {
    while let item = try reader.next() {
      guard case .packet(let box, let track) = item else { continue }
      guard tracks.contains(track) else { throw join.damage("it has another track", chunk) }
      next = (box, track)
      time = box.times?.decoding ?? time ?? .zero
      return
    }
    (next, time) = (nil, nil)
  }
}
