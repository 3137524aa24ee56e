internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Data about the video packets of an input, collected in one pass without decoding. Uses 36 bytes per frame
/// and no objects, however long the input is.
struct PacketSurvey {
  /// Presentation times in ticks, ascending, without those of frames that an edit list hides.
  let shown: [Int64]
  /// The number of frames that an edit list hides and that others refer to.
  let hidden: Int
  /// Whether an output's edit list can hide these frames: they are before all others, at the start.
  let hidesAtStart: Bool
  /// The entry points of GOPs with hidden frames.
  private let cutEntries: Set<Int>
  /// The number of frames of the first GOP that refer to frames missing from the input. A copy leaves them
  /// out.
  let leading: Int
  /// The changes of signals and sizes, each with its first frame.
  let changes: [SignalScan.Change]
  /// The parameter sets found in the packets.
  let sets: InBandParameterSets
  /// Warnings for the user about the signals.
  let warnings: [String]
  /// A digest of each packet, in decoding order; empty if they weren't requested.
  let digests: [UInt64]
  /// A digest of the packets of all other tracks that are used; `nil` if digests weren't requested.
  let tracksDigest: String?
  /// Whether presentation times step back further than frames are reordered, so that their order isn't the one in
  /// which a decoder returns the frames.
  let stepsBack: Bool
  /// Whether the input's clock was reset.
  let isReset: Bool
  /// Presentation times in decoding order.
  let times: [Int64]
  /// How long the frame that is shown last lasts, in ticks, as the container says; 0 if it doesn't.
  let lastDuration: Int64
  /// The times of the packets that had that of an earlier one, by their index: each a tick after the frame before it, as
  /// `TimestampRepair` has it.
  let repeats: [Int: Int64]
  /// Decoding times as read; `Int64.min` if the container stores none.
  private let givenDecodingTimes: [Int64]
  /// The sizes of the packets in decoding order, in bytes.
  let sizes: [UInt32]
  /// The indexes of closed entry points in decoding order.
  private let entries: [Int]
  /// Those of open ones.
  private let openEntries: [Int]

  /// Creates a survey from one that was made before, of an input without hidden frames. It has no entry points.
  init(
    shown: [Int64], changes: [SignalScan.Change], sets: InBandParameterSets, warnings: [String]
  ) {
    (self.shown, self.changes, self.sets, self.warnings) = (shown, changes, sets, warnings)
    (times, givenDecodingTimes, entries, digests) = (shown, [], [], [])
    openEntries = []
    sizes = []
    (hidden, leading, tracksDigest, stepsBack, lastDuration) = (0, 0, nil, false, 0)
    (hidesAtStart, cutEntries, repeats, isReset) = (false, [], [:], false)
  }

  /// Reads the packets of the input of `plan`, if that wasn't done for its canvas.
  ///
  /// - Throws: `CopyRefusal` if the packets can't be copied, or `UprightError`.
  init(_ plan: SessionPlan) throws {
    if !plan.digestsPackets, let survey = plan.survey {
      self = try survey.get()
    } else {
      try self.init(
        plan.demuxer, plan.video, beside: plan.sideTracks, plan.request,
        digests: plan.digestsPackets)
    }
  }

  /// - Parameters:
  ///   - source: Isn't read itself.
  ///   - others: The other tracks that are used.
  ///   - digests: Whether digests are computed.
  /// - Throws: `CopyRefusal` if the packets can't be copied, or `UprightError`.
  init(
    _ source: any PacketSource, _ video: StreamInfo, beside others: [SideTrackWriter],
    _ request: TranscodeRequest, digests: Bool
  ) throws {
    guard let first = source as? Demuxer else {
      throw CopyRefusal(reason: "the input is not seekable")
    }
    let demuxer = try Demuxer(again: first, format: request.inputFormat)
    let others = others.map(\.stream.index)
    let tracks = digests ? try TrackDigest(others) : nil
    let collector = PacketCollector(video, digest: digests ? try PacketDigest() : nil)
    var scan = try SignalScan(demuxer, gravity: request.gravityUse) { packet in
      collector.add(packet)
      tracks?.add(packet)
    }
    // Clock resets are detected from the packets of all tracks that are read.
    if demuxer.joinsClocks || digests {
      demuxer.select(Set(others).union([video.index]))
    }
    // A player waits for the playlist of such an input. With a file whose metadata alone changes, nothing else reads the
    // packets.
    let needsHeads = request.makesSegments || request.options.upright == .metadata
    if needsHeads, !demuxer.joinsClocks, !digests {
      try demuxer.readHeads(of: video)
    }
    var changes: [SignalScan.Change] = []
    while collector.problem == nil, let change = try scan.next() { changes.append(change) }
    if let error = scan.error, error.code == .cancelled { throw error }
    if let problem = collector.problem { throw CopyRefusal(reason: problem) }
    // An empty chunk of AVI repeats the frame before it.
    let isShort = collector.count < video.frameCount && demuxer.container.format != "avi"
    if scan.error != nil || isShort {
      throw CopyRefusal(reason: "the input is damaged")
    }
    guard !collector.times.isEmpty else { throw CopyRefusal(reason: "the input has no frames") }
    self.changes = changes
    isReset = demuxer.hasResetClock
    (times, repeats) = collector.times.apart()
    givenDecodingTimes = collector.decodingTimes
    sizes = collector.sizes
    entries = collector.found(collector.entries, besides: repeats)
    openEntries = collector.found(collector.opened, besides: repeats)
    self.digests = collector.digests
    tracksDigest = try tracks?.finish()
    sets = collector.sets
    warnings = scan.warnings
    shown = times.sorted()
    lastDuration = collector.lastDuration
    hidden = collector.hidden.count
    leading = collector.leading.count
    stepsBack = collector.stepsBack
    cutEntries = collector.cutEntries
    // An edit list that ends or is interrupted before the last frame would show hidden frames.
    // So would one that begins with a pause, which the output's edit list would give the hidden frames.
    let start = shown[0]
    hidesAtStart = collector.hidden.max().map { $0 < start && start <= 0 } ?? false
  }

  /// Reads the packets of `source` ahead of it.
  static func result(
    _ source: any PacketSource, _ video: StreamInfo, beside others: [SideTrackWriter],
    _ request: TranscodeRequest
  ) throws(UprightError) -> Result<PacketSurvey, CopyRefusal> {
    do {
      return .success(try PacketSurvey(source, video, beside: others, request, digests: false))
    } catch let refusal as CopyRefusal {
      return .failure(refusal)
    } catch {
      throw error as? UprightError ?? UprightError(.fault, "\(error)")
    }
  }

  /// Returns the warning about frames that the output's edit list hides.
  static func warning(hidden: Int) -> String {
    "\(hidden.of("frame")) \(hidden == 1 ? "stays" : "stay") hidden by the edit list"
  }

  /// The warning about frames that no decoder can show, if there are any.
  var leadingWarnings: [String] {
    leading == 0 ? [] : ["\(leading) frames that refer to frames before the input are left out"]
  }

  static let isOutOfOrder = "timestamps step back or repeat"
  static let hides = "an edit list hides some frames"

  /// The durations of all frames but the last.
  private var steps: [Int64] { zip(shown, shown.dropFirst()).map { $1 - $0 } }

  /// Returns the frame rate, in frames per second: that of the median duration. `nil` if it is unknown.
  func frameRate(of video: StreamInfo) -> Rational? {
    SourceSurvey.rate(steps, video.timeBase, declared: video.frameRate)
  }

  /// Whether a decoder returns the frames in the order of `shown`, and no two have the same time.
  var isInOrder: Bool { !stepsBack && zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 } }

  /// Returns the frames at which the input can be split, with the same index in both orders, the first at 0.
  /// Decoding can start there, and all frames that are decoded before are also shown before.
  func cuts() -> [Int] {
    var cuts: [Int] = []
    var latest = Int64.min
    var index = 0
    for entry in entries {
      while index < entry {
        latest = max(latest, times[index])
        index += 1
      }
      // A GOP that begins with hidden frames is encoded, in whichever order its first shown frames are.
      let isFirst = times[entry] == shown[entry] || cutEntries.contains(entry)
      // If the latest of the first n decoded frames is the n-th shown frame, they are the same frames.
      if isFirst, entry == 0 || latest == shown[entry - 1] { cuts.append(entry) }
    }
    return cuts
  }

  /// A packet with which a decoder can start.
  struct Start {
    /// Its index in decoding order.
    let packet: Int
    /// The index of the frame in presentation order. This one and all later ones can be decoded.
    let frame: Int
  }

  /// Returns where a decoder can start, in order: the cuts, and keyframes that are followed by frames that are shown before
  /// them.
  func starts() -> [Start] {
    if hidden > 0 { return cuts().map { Start(packet: $0, frame: $0) } }
    var starts: [Start] = []
    var (latest, index) = (Int64.min, 0)
    for entry in Set(entries + openEntries).sorted() {
      while index < entry {
        latest = max(latest, times[index])
        index += 1
      }
      if latest < times[entry] {
        starts.append(Start(packet: entry, frame: shown.place(of: times[entry])))
      }
    }
    return starts
  }

  /// Returns whether an edit list hides frames between two cuts.
  func hidesFrames(in frames: Range<Int>) -> Bool {
    !cutEntries.isEmpty && cutEntries.contains(where: frames.contains)
  }

  /// Whether a packet's decoding time is later than its presentation time.
  var hasLateDecodingTimes: Bool {
    zip(givenDecodingTimes, times).contains { $0 != .min && $0 > $1 }
  }

  /// Returns a decoding time for each packet: ascending, and never later than the presentation time. These
  /// are the container's if they are usable, otherwise the presentation times shifted by the reordering
  /// depth.
  ///
  /// - Throws: `CopyRefusal` if the reordering is too deep for any decoder.
  func decodingTimes() throws -> [Int64] {
    let isKept =
      zip(givenDecodingTimes, times).allSatisfy { $0 != .min && $0 <= $1 }
      && zip(givenDecodingTimes, givenDecodingTimes.dropFirst()).allSatisfy { $0 < $1 }
    if isKept { return givenDecodingTimes }
    return decodingTimes(of: [shown.indices], depth: try depth())
  }

  /// Returns how many frames later than it is shown a frame is decoded at most.
  ///
  /// - Throws: `CopyRefusal` if that is too many for any decoder.
  func depth() throws -> Int {
    var depth = 0
    for (index, time) in times.enumerated() {
      depth = max(depth, index - shown.place(of: time))
    }
    guard depth <= 32 else { throw CopyRefusal(reason: "the frames are reordered too far") }
    return depth
  }

  /// Returns decoding times of segments that are decoded apart: the presentation times, shifted by a number of frames. The
  /// first frame of each is decoded equally early, so that the times from segment to segment are those that are shown:
  /// hls.js takes them for that.
  ///
  /// - Parameter depth: How far the frames are reordered at most.
  func decodingTimes(of segments: [Range<Int>], depth: Int) -> [Int64] {
    let steps = steps.sorted()
    let step = steps.isEmpty ? 1 : max(1, steps[steps.count / 2])
    return segments.flatMap { frames in
      let end = frames.upperBound
      let next = end < shown.count ? shown[end] - Int64(depth) * step : .max
      return frames.enumerated().map { place, frame in
        let early = shown[frames.lowerBound] - Int64(max(0, depth - place)) * step
        return min(place < depth ? early : shown[frame - depth], next - Int64(end - frame))
      }
    }
  }
}

/// Finds the frames at the start of an input that no decoder can show: those before the first keyframe, and
/// those of its GOP that are shown before it (an open GOP, ISO/IEC 14496-10 3.69). Frames that an edit list
/// hides are not counted: there the index may not mark the keyframe that starts the GOP.
struct LeadingFrames {
  /// The number of such frames so far.
  private(set) var count = 0
  private var keyframes = 0
  private var first = Int64.min
  private var isWhole = false

  /// Returns whether the next packet in decoding order is such a frame.
  mutating func accepts(_ packet: borrowing Packet) -> Bool {
    if packet.isDiscarded { isWhole = true }
    guard keyframes < 2, !isWhole else { return false }
    if packet.isKey {
      keyframes += 1
      if keyframes == 1 { first = packet.pts ?? .min }
    }
    guard keyframes == 0 || packet.pts.map({ $0 < first }) == true else { return false }
    count += 1
    return true
  }
}

/// Collects data about each packet.
private final class PacketCollector {
  private let video: Int
  private let reader: EntryPointReader
  private(set) var sets: InBandParameterSets
  private(set) var times: [Int64] = []
  /// Presentation times of frames that an edit list hides.
  private(set) var hidden: [Int64] = []
  private(set) var leading = LeadingFrames()
  private(set) var decodingTimes: [Int64] = []
  private(set) var sizes: [UInt32] = []
  private var closed: [Int] = []
  private(set) var opened: [Int] = []
  private var beginsWithKey = false
  private(set) var problem: String?
  private var hasStepBack = false
  private var latest = Int64.min
  /// The duration of the latest frame, in ticks.
  private(set) var lastDuration: Int64 = 0

  private(set) var digests: [UInt64] = []
  private let digest: PacketDigest?
  private(set) var cutEntries: Set<Int> = []

  /// Whether the times step back: at a packet that refers to no earlier one, in decoding times, or further than any
  /// decoder reorders (16 frames: ISO/IEC 14496-10, A.3.1).
  var stepsBack: Bool { hasStepBack || sets.reordering ?? 0 > 16 }

  /// The closed entry points so far. The frames that made the first GOP an open one are left out, here or by an edit list.
  var entries: [Int] {
    let isOpen = leading.count > 0 ? beginsWithKey : opened.first == 0
    return isOpen && closed.first != 0 ? [0] + closed : closed
  }

  /// Returns those of some entry points that seeking finds by their times: they share them with no packet before and no
  /// keyframe after them. No frame of the last GOP may be shown.
  func found(_ entries: [Int], besides repeats: [Int: Int64]) -> [Int] {
    let all = repeats.isEmpty ? [] : Set(closed + opened)
    return entries.filter { entry in
      entry < times.count && repeats[entry] == nil
        && (repeats[entry + 1] == nil || !all.contains(entry + 1))
    }
  }

  /// The number of packets so far.
  var count: Int { times.count + hidden.count + leading.count }

  /// - Parameter digest: Computes the digests of packets; `nil` if there are to be none.
  init(_ video: StreamInfo, digest: PacketDigest?) {
    self.digest = digest
    self.video = video.index
    reader = EntryPointReader(video)
    sets = InBandParameterSets(video)
    times.reserveCapacity(min(video.frameCount, 1 << 20))
    decodingTimes.reserveCapacity(min(video.frameCount, 1 << 20))
  }

  func add(_ packet: borrowing Packet) {
    guard packet.streamIndex == video, problem == nil else { return }
    if packet.newExtradata != nil { problem = "the codec parameters change" }
    guard let pts = packet.pts else {
      problem = "a frame has no timestamp"
      return
    }
    if leading.accepts(packet) { return }
    if times.isEmpty { beginsWithKey = packet.isKey }
    let kind = reader.kind(of: packet)
    if kind == .open, !packet.isDiscarded { opened.append(times.count) }
    if kind == .closed {
      // Hidden frames of a GOP of which no frame is shown.
      if closed.last == times.count { closed.removeLast() }
      cutEntries.remove(times.count)
      closed.append(times.count)
      if !packet.isDiscarded, pts < latest { hasStepBack = true }
    }
    if packet.isDiscarded {
      cutEntries.insert(closed.last ?? 0)
      return hidden.append(pts)
    }
    if let dts = packet.dts, let last = decodingTimes.last, dts < last { hasStepBack = true }
    if pts >= latest { (latest, lastDuration) = (pts, packet.duration) }
    sets.read(packet)
    if let digest { digests.append(digest.of(packet)) }
    times.append(pts)
    decodingTimes.append(packet.dts ?? .min)
    sizes.append(UInt32(clamping: packet.size + packet.omittedBytes))
  }
}

extension [Int64] {
  /// Returns the times of packets without B-frames so that no two are the same, and those that were changed, by index.
  /// Where frames are reordered, the packets of two frames at one time don't say which is shown first.
  fileprivate func apart() -> ([Int64], changed: [Int: Int64]) {
    guard zip(self, dropFirst()).allSatisfy({ $0 <= $1 }) else { return (self, [:]) }
    var (times, changed) = (self, [Int: Int64]())
    for index in indices.dropFirst() where times[index] <= times[index - 1] {
      times[index] = times[index - 1] + 1
      changed[index] = times[index]
    }
    return (times, changed)
  }

  /// Returns the index of `value` in an ascending list, or the index where it would be inserted. O(log
  /// count).
  func place(of value: Int64) -> Int {
    place { $0 < value }
  }
}

extension SignalScan {
  /// Returns the signals and shapes of a source that is read ahead of it, as far as it can be read.
  static func changes(
    of source: any PacketSource, _ request: TranscodeRequest
  ) throws(UprightError) -> [Change] {
    var scan = try SignalScan(
      source.reopened(format: request.inputFormat), gravity: request.gravityUse)
    var changes: [Change] = []
    while let change = try scan.next() { changes.append(change) }
    return changes
  }
}
