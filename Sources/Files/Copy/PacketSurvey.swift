internal import Orientation
internal import UprightContainers
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline

/// Why a clip is not copied, for a person: ends the search.
struct CopyRefusal: Error { let reason: String }

/// What the packets of a clip's pictures say, read ahead in one go: nothing is decoded. 24 bytes a
/// picture and no objects, however long the clip.
struct PacketSurvey {
  /// Presentation times in ticks, rising; without those of pictures that an edit list hides.
  let shown: [Int64]
  /// Pictures in front that an edit list hides and that go over with it: only where all is copied into a
  /// container that has edit lists.
  let hidden: Int
  /// Pictures of the first group that refer to what is not in the clip, and are left out of a copy.
  let leading: Int
  /// What stands from which picture on: signals and sizes.
  let changes: [SignalScan.Change]
  /// The parameter sets among the packets.
  let sets: InBandSets
  /// What the user should know of the signals.
  let warnings: [String]
  /// Presentation times in decoding order.
  private let times: [Int64]
  /// As they were read; `Int64.min` where the container keeps none.
  private let givenDecodingTimes: [Int64]
  /// Closed entry points, counted in decoding order.
  private let entries: [Int]

  /// Reads the clip of `plan`.
  ///
  /// - Throws: `CopyRefusal` for packets that cannot be copied, or `MediaError`.
  init(_ plan: SessionPlan) throws {
    let (request, video) = (plan.request, plan.video)
    guard let first = plan.demuxer as? Demuxer else {
      throw CopyRefusal(reason: "it cannot be looked at ahead")
    }
    let demuxer = try Demuxer(again: first, format: request.inputFormat)
    let keepsEdit = plan.options.upright == .metadata && [.mp4, .mov].contains(plan.container)
    let notes = PacketNotes(video, keepsEdit: keepsEdit)
    var scan = try SignalScan(demuxer) { notes.take($0) }
    // Where a clock was set back is told from the packets of all tracks that are read.
    if demuxer.joinsClocks {
      demuxer.select(Set(plan.sideTracks.map(\.stream.index)).union([video.index]))
    }
    var changes: [SignalScan.Change] = []
    while notes.problem == nil, let change = try scan.next() { changes.append(change) }
    if let error = scan.error, error.code == .cancelled { throw error }
    if let problem = notes.problem { throw CopyRefusal(reason: problem) }
    if scan.error != nil || notes.count < video.frameCount {
      throw CopyRefusal(reason: "it is damaged")
    }
    guard !notes.times.isEmpty else { throw CopyRefusal(reason: "there is no picture in it") }
    self.changes = changes
    times = notes.times
    givenDecodingTimes = notes.decodingTimes
    entries = notes.entries
    sets = notes.sets
    warnings = scan.warnings
    shown = times.sorted()
    hidden = notes.hidden.count
    leading = notes.leading.count
    // A list that ends or breaks off before the pictures do would show them.
    if let last = notes.hidden.max(), last >= shown[0] { throw CopyRefusal(reason: Self.hides) }
  }

  fileprivate static let hides = "an edit list hides pictures of it"

  /// Whether no two pictures have the same time.
  var isInOrder: Bool { zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 } }

  /// Pictures at which the clip can be cut, counted alike in both orders, the first at 0: decoding
  /// begins anew there, and all that is decoded before is also shown before.
  func cuts() -> [Int] {
    var cuts: [Int] = []
    var latest = Int64.min
    var index = 0
    for entry in entries {
      while index < entry {
        latest = max(latest, times[index])
        index += 1
      }
      // The latest of so many is the last of the first so many: they are the same ones.
      if times[entry] == shown[entry], entry == 0 || latest == shown[entry - 1] {
        cuts.append(entry)
      }
    }
    return cuts
  }

  /// A decoding time for each packet: rising, and never behind its picture's time. The container's
  /// own, or where it keeps none that will do, the presentation times moved by the depth of reordering.
  ///
  /// - Throws: `CopyRefusal` where no decoder could follow.
  func decodingTimes() throws -> [Int64] {
    let isKept =
      zip(givenDecodingTimes, times).allSatisfy { $0 != .min && $0 <= $1 }
      && zip(givenDecodingTimes, givenDecodingTimes.dropFirst()).allSatisfy { $0 < $1 }
    if isKept { return givenDecodingTimes }
    var depth = 0
    for (index, time) in times.enumerated() {
      depth = max(depth, index - shown.place(of: time))
    }
    guard depth <= 32 else { throw CopyRefusal(reason: "its pictures are in no order") }
    let step = shown.count > 1 ? max(1, shown[1] - shown[0]) : 1
    return shown.indices.map {
      $0 >= depth ? shown[$0 - depth] : shown[0] - Int64(depth - $0) * step
    }
  }
}

/// Finds the pictures at the beginning of a clip that no decoder can show: those in front of the first
/// keyframe, and those of its group that are shown before it (an open GOP, ISO/IEC 14496-10 3.69). What
/// an edit list hides is passed over: there the index may not name the keyframe that all begins with.
struct LeadingPictures {
  /// How many there were.
  private(set) var count = 0
  private var keyframes = 0
  private var first = Int64.min
  private var isWhole = false

  /// Whether the next packet in decoding order is one.
  mutating func takes(_ packet: borrowing Packet) -> Bool {
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

/// What is noted of each packet on the way.
private final class PacketNotes {
  private let video: Int
  private let reader: EntryPointReader
  private(set) var sets: InBandSets
  private(set) var times: [Int64] = []
  /// Those of pictures that an edit list hides.
  private(set) var hidden: [Int64] = []
  private(set) var leading = LeadingPictures()
  private(set) var decodingTimes: [Int64] = []
  private(set) var entries: [Int] = []
  private(set) var problem: String?

  private let keepsEdit: Bool

  /// Packets that were taken.
  var count: Int { times.count + hidden.count + leading.count }

  /// - Parameter keepsEdit: whether pictures may be hidden by an edit list.
  init(_ video: StreamInfo, keepsEdit: Bool) {
    self.video = video.index
    self.keepsEdit = keepsEdit
    reader = EntryPointReader(video)
    sets = InBandSets(video)
    times.reserveCapacity(min(video.frameCount, 1 << 20))
    decodingTimes.reserveCapacity(min(video.frameCount, 1 << 20))
  }

  func take(_ packet: borrowing Packet) {
    guard packet.streamIndex == video, problem == nil else { return }
    if packet.newExtradata != nil { problem = "its parameters change" }
    if packet.isDiscarded && !keepsEdit { problem = PacketSurvey.hides }
    guard let pts = packet.pts else {
      problem = "a picture has no time"
      return
    }
    if leading.takes(packet) { return }
    if packet.isDiscarded { return hidden.append(pts) }
    if reader.kind(of: packet) == .closed { entries.append(times.count) }
    sets.note(packet)
    times.append(pts)
    decodingTimes.append(packet.dts ?? .min)
  }
}

extension [Int64] {
  /// Where `value` stands, or would stand, in a rising list. O(log count).
  func place(of value: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
