internal import UprightOrientation
internal import Upright

/// The metrics of the service, of its sessions and of the process in the Prometheus text format 0.0.4.
///
/// The values are read from the sessions at each request. A session's own series, which have a label `session`, end
/// when it is forgotten. Its counts stay in the sums, because counters must not decrease.
struct ServiceMetrics: Sendable {
  /// One session at one moment.
  typealias Session = (id: String, snapshot: LiveSnapshot)

  let sessions: Sessions
  let webhooks: Webhooks
  let folders: DataFolders
  let publishers: PublishAcceptor

  var text: String {
    let (hosted, past) = self.sessions.counted
    let sessions: [Session] = hosted.map { ($0.id, $0.snapshot) }
    var page = MetricsPage()
    totals(sessions.map(\.snapshot), past, &page)
    each(sessions, &page)
    outputs(sessions, &page)
    let hooks = webhooks.counts
    page.family("upright_webhook_deliveries_total", .counter, "Webhook messages, by outcome.")
    page.sample(hooks.delivered, [("outcome", "delivered")])
    page.sample(hooks.failed, [("outcome", "failed")])
    page.sample(hooks.dropped, [("outcome", "dropped")])
    page.add(
      "upright_srt_packets_dropped_total", .counter,
      "Packets of publishers by SRT that came too late or had no room.", publishers.srtDrops)
    if let disk = folders.disk {
      page.add(
        "upright_disk_size_bytes", .gauge, "Size of the file system of the data folder.", disk.size)
      page.add(
        "upright_disk_free_bytes", .gauge, "Free space on the file system of the data folder.",
        disk.free)
    }
    page.family("upright_build_info", .gauge, "1, with the versions of Upright and FFmpeg.")
    page.sample(1, [("version", UprightVersion.current), ("ffmpeg", UprightRuntime.ffmpegRelease)])
    ProcessMetrics.current?.add(to: &page)
    return page.text
  }

  // MARK: - All sessions together

  private func totals(
    _ snapshots: [LiveSnapshot], _ past: LiveCounters, _ page: inout MetricsPage
  ) {
    var sum = past
    for snapshot in snapshots { sum.add(snapshot.counters) }
    page.family("upright_sessions", .gauge, "Sessions by state.")
    for state in LiveState.allCases {
      page.sample(snapshots.count { $0.state == state }, [("state", state.rawValue)])
    }
    page.add(
      "upright_sessions_overloaded", .gauge, "Sessions that are too slow for their input.",
      snapshots.count { $0.behind != nil })
    page.add(
      "upright_behind_seconds", .gauge, "Delay of the slowest session behind its input.",
      snapshots.compactMap(\.behind).max() ?? 0)
    page.add(
      "upright_restarts_total", .counter,
      "How often the process of a session has ended and another one has taken its place.",
      sum.restarts)
    page.add("upright_frames_in_total", .counter, "Frames decoded.", sum.framesIn)
    page.add("upright_frames_out_total", .counter, "Frames encoded and sent.", sum.framesOut)
    page.family("upright_frames_dropped_total", .counter, "Frames dropped, by reason.")
    for (reason, count) in Self.drops(sum) { page.sample(count, [("reason", reason)]) }
    page.add("upright_decode_seconds", "Time to decode a video packet.", sum.decodeTimes)
    page.add("upright_orient_seconds", "Time to rotate and lay out a frame.", sum.orientTimes)
    page.add("upright_encode_seconds", "Time to encode a frame.", sum.encodeTimes)
    page.add(
      "upright_event_to_frame_seconds",
      "Time from the arrival of an event to the first packet of a frame that applies it.",
      sum.eventToFrameTimes)
    page.add(
      "upright_queue_depth", .gauge, "Frames waiting to be processed.",
      snapshots.reduce(0) { $0 + $1.counters.queueDepth })
    page.add("upright_format_changes_total", .counter, "Format changes.", sum.formatChanges)
    page.add("upright_input_losses_total", .counter, "Input losses.", sum.inputLosses)
    page.add("upright_input_bytes_total", .counter, "Bytes received.", sum.bytesIn)
    page.add("upright_output_bytes_total", .counter, "Bytes sent and written.", sum.bytesOut)
  }

  /// Returns the number of dropped frames for each reason, with those that didn't occur.
  private static func drops(_ counters: LiveCounters) -> [(reason: String, count: Int)] {
    let usual: Set = ["late", "queue", "shed", "decode", "output", "audio", "codec"]
    return usual.union(counters.dropped.keys).sorted().map { ($0, counters.dropped[$0] ?? 0) }
  }

  // MARK: - Each session

  private func each(_ sessions: [Session], _ page: inout MetricsPage) {
    func add(
      _ name: String, _ kind: MetricsPage.Kind, _ help: String, _ value: (LiveSnapshot) -> Int
    ) {
      page.family("upright_session_\(name)", kind, help)
      for (id, snapshot) in sessions { page.sample(value(snapshot), [("session", id)]) }
    }
    page.family(
      "upright_session_state", .gauge, "1 for the state of the session, 0 for the others.")
    for (id, snapshot) in sessions {
      page.sample(snapshot.state, as: "state", [("session", id)])
    }
    add("overloaded", .gauge, "1 while the session is too slow for its input.") {
      $0.behind == nil ? 0 : 1
    }
    page.family(
      "upright_session_behind_seconds", .gauge, "Delay behind the input while overloaded.")
    for (id, snapshot) in sessions { page.sample(snapshot.behind ?? 0, [("session", id)]) }
    add("frames_in_total", .counter, "Frames decoded.") { $0.counters.framesIn }
    add("frames_out_total", .counter, "Frames encoded and sent.") { $0.counters.framesOut }
    page.family("upright_session_frames_dropped_total", .counter, "Frames dropped, by reason.")
    for (id, snapshot) in sessions {
      for (reason, count) in Self.drops(snapshot.counters) {
        page.sample(count, [("session", id), ("reason", reason)])
      }
    }
    add("queue_depth", .gauge, "Frames waiting to be processed.") { $0.counters.queueDepth }
    add("format_changes_total", .counter, "Format changes.") { $0.counters.formatChanges }
    add("input_losses_total", .counter, "Input losses.") { $0.counters.inputLosses }
    add("input_bytes_total", .counter, "Bytes received.") { $0.counters.bytesIn }
    add("output_bytes_total", .counter, "Bytes sent and written by all outputs.") {
      $0.counters.bytesOut
    }
  }

  // MARK: - Each output

  private func outputs(_ sessions: [Session], _ page: inout MetricsPage) {
    let outputs = sessions.flatMap { id, snapshot in
      snapshot.outputs.map { (status: $0, labels: [("session", id), ("output", $0.id)]) }
    }
    func add(_ name: String, _ help: String, _ value: (LiveOutputStatus) -> Int) {
      page.family("upright_output_\(name)_total", .counter, help)
      for output in outputs { page.sample(value(output.status), output.labels) }
    }
    page.family("upright_output_state", .gauge, "1 for the state of the output, 0 for the others.")
    for output in outputs { page.sample(output.status.state, as: "state", output.labels) }
    add("written_frames", "Frames written since the output was started.") { $0.frames }
    add("written_bytes", "Bytes written since the output was started.") { $0.bytes }
    add("dropped_frames", "Frames the output didn't take since it was started.") { $0.dropped }
    add("failures", "Failures since the output was started.") { $0.failures }
    add("reconnects", "Reconnects since the output was started.") { $0.reconnects }
  }
}
