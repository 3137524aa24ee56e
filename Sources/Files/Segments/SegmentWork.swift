internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO
internal import Synchronization

/// What every segment of a source is made from: the survey of its packets, which nothing changes.
///
/// Unchecked: all properties but `inputs` are values that are only read.
final class SegmentWork: @unchecked Sendable {
  let request: TranscodeRequest
  let list: SegmentList
  let warnings: [String]
  private let identity: InputIdentity
  /// The parameters that copied and encoded frames of one size share.
  let shared: CodecParameters
  /// The size of the input's frames.
  let sourceSize: PixelSize
  /// The alignment of frames on the canvas, in samples.
  private let alignment: PixelSize
  private let clocks: [KeyframeClock]
  let isCopied: Bool
  /// The number of tracks of captions.
  let captionTracks: Int
  /// The lowest decoding time of all packets, from the start of the playlist.
  private let earliest: MediaTime
  /// That of the video.
  let earliestFrame: MediaTime
  private struct AudioTrack {
    /// The decoding time of the first packet; `nil` if there is none.
    var start: MediaTime?
    /// The number of samples from there on that aren't played.
    var priming: Int
    /// `nil` if it is unknown.
    let end: MediaTime?
    /// Whether it begins later than the video in the input. Silence precedes it then.
    var isLate = false
  }

  private let audio: [AudioTrack]
  /// Those that no render uses. To open an input takes longer than to read a segment of it.
  private let inputs: Mutex<[SegmentInput]>

  /// Audio that begins later than this after the video is late, and early if it begins so much before it.
  private static let latest = MediaTime(1, Rational(1, 10))
  /// The most inputs that are kept open.
  private static let mostInputs = 2

  /// - Throws: `usage` if the file can't be divided; the errors of a session before its first frame.
  init(_ asked: TranscodeRequest) throws(UprightError) {
    identity = try InputIdentity(of: asked.input, interrupt: asked.interrupt)
    let plan = try SessionPlan(asked, isDryRun: true)
    // A render that ends early interrupts the plan's request.
    request = try plan.request.again(on: plan.canvas)
    sourceSize = plan.video.parameters.size
    let copyPlan = try CopyPlan(plan)
    var (parts, depth) = try Self.parts(plan, copyPlan)
    isCopied = parts.copiedFrames == parts.inputSurvey.survey.shown.count
    if parts.join == nil {
      shared = plan.video.parameters
      alignment = PixelSize(1, 1)
    } else {
      let formats = try PartFormats(plan, parts)
      (shared, alignment) = (formats.shared, formats.alignment)
    }
    parts = parts.divided(copied: SegmentSource.copied, encoded: SegmentSource.encoded)
    var list = SegmentList(plan, parts, copied: plan.video.parameters.size, depth: depth)
    clocks = parts.keyframeClocks(FramePipeline.Setup(plan).keyframes)
    warnings =
      plan.warnings + copyPlan.warnings + parts.inputSurvey.warnings
      + parts.inputSurvey.survey.leadingWarnings
    captionTracks = SegmentCaptions.streams(plan).count
    let (input, audio, lead) = try Self.audio(
      plan, from: list.zero, isReset: list.parts.inputSurvey.survey.isReset)
    list.lead = lead
    (self.audio, self.list) = (audio, list)
    inputs = Mutex([input])
    let origin = list.origin
    earliestFrame = MediaTime(list.parts.decodingTimes[0], plan.video.timeBase) - list.zero
    earliest = audio.compactMap(\.start).map { $0 - origin }.reduce(earliestFrame, min)
  }

  /// Opens the audio tracks of an input.
  ///
  /// - Parameter zero: The time of the first frame.
  /// - Returns: Also how much earlier audio begins; 0 for less than what is early.
  private static func audio(
    _ plan: SessionPlan, from zero: MediaTime, isReset: Bool
  ) throws(UprightError) -> (SegmentInput, [AudioTrack], lead: MediaTime) {
    var input = try SegmentInput(plan, late: [], isReset: isReset)
    var audio: [AudioTrack] = []
    var lead = MediaTime.zero
    for track in input.tracks.indices {
      let opened = try input.audio(track)
      let (start, priming) = try opened.start()
      audio.append(AudioTrack(start: start, priming: priming, end: input.end(ofAudio: track)))
      if let start { lead = max(lead, zero - start - opened.duration(of: priming)) }
    }
    if lead <= latest { lead = .zero }
    let origin = zero - lead
    for track in audio.indices {
      audio[track].isLate = audio[track].start.map { $0 - origin > latest } ?? false
    }
    let late = audio.indices.filter { audio[$0].isLate }
    if !late.isEmpty { input = try SegmentInput(plan, late: late, isReset: isReset) }
    for track in late {
      let opened = try input.audio(track)
      audio[track].priming = opened.priming
      audio[track].start = origin - opened.duration(of: opened.priming)
    }
    return (input, audio, lead)
  }

  /// Returns how many segments have that content: all, except that audio may end before the video.
  func count(of content: SegmentContent) -> Int {
    guard case .audio(let track) = content else { return list.pieces.count }
    guard audio.indices.contains(track) else { return 0 }
    guard let end = audio[track].end else { return list.pieces.count }
    // Less than a frame of the codec would be an empty segment.
    let last = end - list.origin - MediaTime(1, Rational(1, 10))
    return max(1, list.pieces.prefix { list.begin(of: $0) < last }.count)
  }

  private static func parts(
    _ plan: SessionPlan, _ copyPlan: CopyPlan
  ) throws(UprightError) -> (InputParts, depth: Int) {
    do {
      switch copyPlan.method {
      case .copy(let copy):
        let survey = copy.inputSurvey
        guard survey.survey.hidden == 0, survey.survey.isInOrder, survey.survey.cuts().first == 0
        else {
          throw CopyRefusal(reason: "no GOP begins at its first frame, or its times step back")
        }
        let whole = InputParts.Part(frames: 0..<survey.survey.shown.count, reason: nil)
        let parts = InputParts(inputSurvey: survey, parts: [whole], decodingTimes: [])
        return (parts, try survey.survey.depth())
      case .parts(let parts):
        // Frames that are encoded beside copied ones are reordered no further than those.
        return (parts, try parts.join == nil ? plan.reordering : parts.inputSurvey.survey.depth())
      case .encode: throw CopyRefusal(reason: copyPlan.warnings.last ?? copyPlan.reason)
      }
    } catch let refusal as CopyRefusal {
      throw UprightError(
        .usage, "the file can't be divided into segments: \(refusal.reason)",
        at: plan.request.input, remedy: "transcode it as a whole")
    } catch {
      throw error as? UprightError ?? UprightError(.fault, "\(error)")
    }
  }

  // MARK: - One segment

  /// A segment, and the init segment of its format.
  struct Rendered {
    let header: [UInt8]
    let bytes: [UInt8]
    /// The size of its frames, in bytes.
    fileprivate let frameBytes: Int
  }

  /// Returns a segment. One with more bits than the multivariant playlist says is encoded once more, with fewer.
  ///
  /// - Throws: As `SegmentSource.segment(_:while:)`.
  func render(
    _ index: Int, _ content: SegmentContent, while isWanted: () -> Bool
  ) throws(UprightError) -> Rendered {
    try checkUnchanged()
    let piece = list.pieces[index]
    let most = piece.reason == nil ? .max : frameBytes(of: piece, content)
    var coarser = 0
    while true {
      let result = try render(index, content, coarser, while: isWanted)
      guard result.frameBytes > most, coarser < Self.coarsest else { return result }
      // Frames that are six steps coarser have half as many bits.
      var excess = Double(result.frameBytes) / Double(max(1, most))
      while excess > 1 {
        excess /= 1.12
        coarser += 1
      }
      coarser += 1
    }
  }

  /// How much coarser frames are at most.
  private static let coarsest = 48

  private func render(
    _ index: Int, _ content: SegmentContent, _ coarser: Int, while isWanted: () -> Bool
  ) throws(UprightError) -> Rendered {
    let first = list.pieces[index].frames.lowerBound
    var input = try input()
    let result: Rendered
    do throws(UprightError) {
      result = try render(
        index, content, coarser, input, isSought: first > 0 || !input.isNew, while: isWanted)
    } catch {
      // Some containers seek to another place than reading reaches.
      guard error.code == .badData, first > 0 || !input.isNew else { throw error }
      input = try newInput()
      result = try render(index, content, coarser, input, isSought: false, while: isWanted)
    }
    keep(input)
    return result
  }

  /// - Throws: `badData` if the file has changed since it was surveyed.
  func checkUnchanged() throws(UprightError) {
    guard try InputIdentity(of: request.input, interrupt: request.interrupt) == identity else {
      throw UprightError(
        .badData, "the file has changed", at: request.input, remedy: "make a new source")
    }
  }

  private func keep(_ input: SegmentInput) {
    inputs.withLock { if $0.count < Self.mostInputs { $0.append(input) } }
  }

  /// Calls `body` with an input that no other render uses.
  func withInput<Result>(
    _ body: (SegmentInput) throws(UprightError) -> Result
  ) throws(UprightError) -> Result {
    let input = try input()
    let result = try body(input)
    keep(input)
    return result
  }

  /// Returns an input that no other render uses.
  private func input() throws(UprightError) -> SegmentInput {
    if let input = inputs.withLock({ $0.popLast() }) { return input }
    return try newInput()
  }

  private func newInput() throws(UprightError) -> SegmentInput {
    try SegmentInput(
      SessionPlan(request.again(), isDryRun: true), late: audio.indices.filter { audio[$0].isLate },
      isReset: list.parts.inputSurvey.survey.isReset)
  }

  private func render(
    _ index: Int, _ content: SegmentContent, _ coarser: Int, _ input: SegmentInput, isSought: Bool,
    while isWanted: () -> Bool
  ) throws(UprightError) -> Rendered {
    var plan = input.plan
    plan.coarser = coarser
    var (format, frames): (EncodedFormat, [PacketBox])
    if case .audio = content {
      format = EncodedFormat(index: 0, size: list.pieces[index].size, parameters: shared)
      frames = []
    } else {
      input.isNew = false
      (format, frames) = try video(
        index, plan, isSought: isSought, isKeyframe: content == .keyframes, while: isWanted)
    }
    var sound: [PacketBox] = []
    var sideTracks: [SideTrack] = []
    if let track = audioTrack(of: content) {
      let source = try input.audio(track)
      if let first = audio[track].start {
        sound = try source.packets(
          from: start(of: index, content), to: start(of: index + 1, content), first: first)
      }
      sideTracks = [source.description]
    }
    var description = OutputDescription(
      format: format, videoTimeBase: plan.videoTimeBase, sideTracks: sideTracks,
      earliestTime: earliest)
    description.earliestFrame = earliestFrame
    description.frameRate = plan.frameRate
    description.videoMetadata = plan.container.trackTags(plan.video.metadata)
    description.priming = audioTrack(of: content).map { audio[$0].priming } ?? 0
    if case .audio = content {
      description.hasVideo = false
    } else if isCopied {
      description.copiedVideo = plan.video
    }
    let frameBytes = frames.reduce(0) { $0 + $1.byteCount }
    let (header, bytes) = try write(index, description, frames, sound)
    return Rendered(header: header, bytes: bytes, frameBytes: frameBytes)
  }

  /// Returns the audio track of some content; `nil` if it has none.
  private func audioTrack(of content: SegmentContent) -> Int? {
    switch content {
    case .all: audio.isEmpty ? nil : 0
    case .audio(let track): track
    case .video, .keyframes: nil
    }
  }

  /// Returns the format and the frames of a segment.
  private func video(
    _ index: Int, _ plan: SessionPlan, isSought: Bool, isKeyframe: Bool, while isWanted: () -> Bool
  ) throws(UprightError) -> (EncodedFormat, [PacketBox]) {
    let piece = list.pieces[index]
    let (first, part) = (piece.frames.lowerBound, piece.part)
    let wanted = isKeyframe ? first..<first + 1 : piece.frames
    let video = SegmentVideo(plan, list, part: part, clocks[part], frames: wanted)
    let (own, frames) = try video.packets(isSought: isSought, while: isWanted)
    var formats = PartFormats(plan, list.parts, shared: shared, alignment: alignment)
    let format =
      if list.parts.parts[piece.part].isCopied { formats.ofCopied() } else {
        try formats.ofEncoded(own)
      }
    guard let format, !frames.isEmpty else {
      throw UprightError(.badData, "no frame of the segment can be decoded", at: request.input)
    }
    return (format, frames)
  }

  /// Returns where a segment begins in the input; `nil` for the first one, and after the last one: they have all the audio
  /// before and after.
  private func start(of index: Int, _ content: SegmentContent) -> MediaTime? {
    guard index > 0, index < count(of: content) else { return nil }
    return list.start(of: list.pieces[index]) + list.zero
  }

  private func write(
    _ index: Int, _ description: OutputDescription, _ frames: [PacketBox], _ sound: [PacketBox]
  ) throws(UprightError) -> (header: [UInt8], bytes: [UInt8]) {
    let segment = try LoneSegment(description, number: index)
    var sound = sound[...]
    func write(
      _ box: PacketBox, track: Int, from start: MediaTime
    ) throws(UprightError) {
      guard var packet = box.take() else { return }
      packet.move(by: -start)
      if track == 0, description.hasVideo {
        try segment.writeFrame(packet)
      } else {
        try segment.write(packet, track: track)
      }
    }
    for (place, box) in frames.enumerated() {
      while let next = sound.first?.times?.decoding, let own = box.times?.decoding, next <= own {
        try write(sound.removeFirst(), track: 1, from: list.origin)
      }
      // The first frame of all is shown from the start on.
      try write(box, track: 0, from: index == 0 && place == 0 ? list.zero : list.origin)
    }
    for box in sound {
      try write(box, track: description.hasVideo ? 1 : 0, from: list.origin)
    }
    let bytes = try segment.finish(
      before: nextDecodingTime(after: index, description.videoTimeBase))
    return (segment.header, list.beginsFormat(index) ? segment.header + bytes : bytes)
  }

  /// The decoding time of the first frame of the segment after this one.
  private func nextDecodingTime(after index: Int, _ timeBase: Rational) -> Int64? {
    let next = list.pieces[index].frames.upperBound
    guard next < list.parts.decodingTimes.count else { return nil }
    let time =
      MediaTime(list.parts.decodingTimes[next], list.parts.inputSurvey.timeBase) - list.origin
    return time.plausibleTicks(of: timeBase)
  }
}

extension InputParts {
  /// Returns the same input with its parts divided at entry points, each piece at least so long, where there are any. The
  /// first one that is copied isn't longer than those that are encoded, so that the first picture is there soon.
  func divided(copied: MediaTime, encoded: MediaTime) -> InputParts {
    let cuts = inputSurvey.survey.cuts().filter {
      !inputSurvey.stretch(of: $0).direction.showsEarlierFrame
    }
    var divided = self
    divided.parts = parts.flatMap {
      portions(
        of: $0, at: cuts, every: $0.isCopied ? copied : encoded,
        first: $0.frames.lowerBound == 0 ? encoded : nil)
    }
    return divided
  }
}
