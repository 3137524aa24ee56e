internal import Foundation
internal import Synchronization
internal import UprightLive

/// The metrics of all sessions in the Prometheus text format 0.0.4.
///
/// The values are read from the sessions at each request. Counters must not decrease, so the counts of
/// forgotten sessions stay in the sums.
final class ServiceMetrics: Sendable {
  /// The counters of forgotten sessions.
  private let past = Mutex(LiveCounters())
  private let live: @Sendable () -> [LiveSnapshot]
  private let webhooks: @Sendable () -> (delivered: Int, failed: Int, dropped: Int)

  init(
    live: @escaping @Sendable () -> [LiveSnapshot],
    webhooks: @escaping @Sendable () -> (delivered: Int, failed: Int, dropped: Int) = { (0, 0, 0) }
  ) {
    self.live = live
    self.webhooks = webhooks
  }

  /// Adds the counters of a session that is being forgotten to the sums.
  func forget(_ snapshot: LiveSnapshot) {
    past.withLock { $0.add(snapshot.counters) }
  }

  var text: String {
    let snapshots = live()
    var sum = past.withLock { $0 }
    for snapshot in snapshots { sum.add(snapshot.counters) }
    var page = MetricsPage()
    page.family("upright_sessions", .gauge, "Sessions by state.")
    for state in LiveState.allCases {
      page.sample(snapshots.count { $0.state == state }, ["state": state.rawValue])
    }
    page.add(
      "upright_sessions_overloaded", .gauge, "Sessions that are too slow for their input.",
      snapshots.count { $0.behind != nil })
    page.family(
      "upright_behind_seconds", .gauge, "Delay of the slowest session behind its input.")
    page.sample(snapshots.compactMap(\.behind).max() ?? 0)
    page.add("upright_frames_in_total", .counter, "Frames decoded.", sum.framesIn)
    page.add("upright_frames_out_total", .counter, "Frames encoded and sent.", sum.framesOut)
    page.family("upright_frames_dropped_total", .counter, "Frames dropped, by reason.")
    let reasons = Set(["late", "queue", "shed", "decode", "output"]).union(sum.dropped.keys)
    for reason in reasons.sorted() { page.sample(sum.dropped[reason] ?? 0, ["reason": reason]) }
    stages(sum, &page)
    page.add(
      "upright_queue_depth", .gauge, "Frames waiting to be processed.",
      snapshots.reduce(0) { $0 + $1.counters.queueDepth })
    page.add("upright_format_changes_total", .counter, "Format changes.", sum.formatChanges)
    page.add("upright_input_losses_total", .counter, "Input losses.", sum.inputLosses)
    page.add("upright_input_bytes_total", .counter, "Bytes received.", sum.bytesIn)
    page.add("upright_output_bytes_total", .counter, "Bytes sent and written.", sum.bytesOut)
    let hooks = webhooks()
    page.family("upright_webhook_deliveries_total", .counter, "Webhook messages, by outcome.")
    page.sample(hooks.delivered, ["outcome": "delivered"])
    page.sample(hooks.failed, ["outcome": "failed"])
    page.sample(hooks.dropped, ["outcome": "dropped"])
    page.add(
      "upright_resident_memory_bytes", .gauge, "Resident memory.", Self.residentBytes)
    return page.text
  }

  private func stages(_ sum: LiveCounters, _ page: inout MetricsPage) {
    page.add("upright_decode_seconds", "Time to decode a video packet.", sum.decodeTimes)
    page.add("upright_orient_seconds", "Time to rotate and lay out a frame.", sum.orientTimes)
    page.add("upright_encode_seconds", "Time to encode a frame.", sum.encodeTimes)
    page.add(
      "upright_event_to_picture_seconds",
      "Time from the arrival of an event to the first packet of a frame that applies it.",
      sum.eventToFrameTimes)
  }

  /// The resident memory, in bytes, from the second field of `/proc/self/statm` (proc(5)), which is in pages.
  private static var residentBytes: Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
      let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}

extension LiveCounters {
  fileprivate mutating func add(_ other: LiveCounters) {
    framesIn += other.framesIn
    framesOut += other.framesOut
    dropped.merge(other.dropped, uniquingKeysWith: +)
    formatChanges += other.formatChanges
    inputLosses += other.inputLosses
    bytesIn += other.bytesIn
    bytesOut += other.bytesOut
    decodeTimes.add(other.decodeTimes)
    orientTimes.add(other.orientTimes)
    encodeTimes.add(other.encodeTimes)
    eventToFrameTimes.add(other.eventToFrameTimes)
  }
}
