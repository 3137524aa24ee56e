internal import MediaIO
internal import Orientation

/// Why a clip is not copied, for a person: ends the search.
struct CopyRefusal: Error { let reason: String }

/// What the packets of a clip's pictures say, read ahead in one go: nothing is decoded. 24 bytes a
/// picture and no objects, however long the clip.
struct PacketSurvey {
  /// Presentation times in ticks, rising.
  let shown: [Int64]
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
    let (session, video) = (plan.session, plan.video)
    guard let first = plan.demuxer as? Demuxer else {
      throw CopyRefusal(reason: "it cannot be looked at ahead")
    }
    let demuxer = try Demuxer(again: first, format: session.inputFormat)
    let notes = PacketNotes(video)
    var scan = try SignalScan(demuxer) { notes.take($0) }
    // Where a clock was set back is told from the packets of all tracks that are read.
    if demuxer.joinsClocks {
      demuxer.select(Set(plan.sideTracks.map(\.stream.index)).union([video.index]))
    }
    var changes: [SignalScan.Change] = []
    while notes.problem == nil, let change = try scan.next() { changes.append(change) }
    if let error = scan.error, error.code == .cancelled { throw error }
    if let problem = notes.problem { throw CopyRefusal(reason: problem) }
    if scan.error != nil || notes.times.count < video.frameCount {
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
  }

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

/// What is noted of each packet on the way.
private final class PacketNotes {
  private let video: Int
  private let reader: EntryPointReader
  private(set) var sets: InBandSets
  private(set) var times: [Int64] = []
  private(set) var decodingTimes: [Int64] = []
  private(set) var entries: [Int] = []
  private(set) var problem: String?

  init(_ video: StreamInfo) {
    self.video = video.index
    reader = EntryPointReader(video)
    sets = InBandSets(video)
    times.reserveCapacity(min(video.frameCount, 1 << 20))
    decodingTimes.reserveCapacity(min(video.frameCount, 1 << 20))
  }

  func take(_ packet: borrowing Packet) {
    guard packet.streamIndex == video, problem == nil else { return }
    if packet.newExtradata != nil { problem = "its parameters change" }
    if packet.isDiscarded { problem = "an edit list hides pictures of it" }
    guard let pts = packet.pts else {
      problem = "a picture has no time"
      return
    }
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
