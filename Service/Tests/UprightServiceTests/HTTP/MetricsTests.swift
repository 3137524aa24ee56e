import Foundation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Metrics")
struct MetricsTests {
  private static func lines(_ service: RunningService) async throws -> [String] {
    let page = try await service.ask("GET", "/metrics")
    #expect(page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    return page.text.split(separator: "\n").map(String.init)
  }

  /// A line of a page, without its value.
  private static func series(_ line: String) -> String {
    String(line[..<(line.lastIndex(of: " ") ?? line.endIndex)])
  }

  @Test("Every family has one help text and one type, and its samples have the form of that type")
  func form() async throws {
    let service = try await RunningService()
    try await service.session("a", ", \"outputs\": [{\"type\": \"hls\"}]")
    try await service.session("b")
    let lines = try await Self.lines(service)
    var (family, kind) = ("", "")
    var families: Set<String> = []
    for (line, next) in zip(lines, lines.dropFirst() + [""]) {
      if let help = line.wholeMatch(of: /# HELP ([a-z_]+) [A-Z0-9][^\n]*\./) {
        family = String(help.1)
        #expect(families.insert(family).inserted, "\(family) appears twice")
        kind = String(next.split(separator: " ").last ?? "")
        #expect(next == "# TYPE \(family) \(kind)")
        #expect(["counter", "gauge", "histogram"].contains(kind), "\(next)")
        #expect((kind == "counter") == family.hasSuffix("_total"), "\(family)")
      } else if !line.hasPrefix("# TYPE ") {
        let sample = try #require(
          line.wholeMatch(of: /([a-z_]+)(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+/), "\(line)")
        let suffix = sample.1.dropFirst(family.count)
        #expect(sample.1.hasPrefix(family), "\(line) is among the samples of \(family)")
        #expect(
          kind == "histogram" ? ["_bucket", "_sum", "_count"].contains(suffix) : suffix.isEmpty,
          "\(line)")
      }
    }
    #expect(Set(lines.map(Self.series)).count == lines.count)
  }

  @Test("The totals of all sessions keep the counts of forgotten ones")
  func totals() async throws {
    let service = try await RunningService()
    try await service.session("a")
    let session = service.script.sessions[0]
    session.become(.live)
    session.count {
      $0.framesIn = 100
      $0.framesOut = 90
      $0.dropped = ["late": 10]
      $0.bytesIn = 12345
      for seconds in [0.0005, 0.004, 0.25, 30] { $0.encodeTimes.add(seconds) }
      for seconds in [0.01, 0.02, 0.03, 0.04] { $0.eventToFrameTimes.add(seconds) }
    }
    let lines = try await Self.lines(service)
    for line in [
      "upright_sessions{state=\"live\"} 1", "upright_sessions{state=\"waiting\"} 0",
      "upright_frames_in_total 100", "upright_frames_out_total 90",
      "upright_frames_dropped_total{reason=\"late\"} 10",
      "upright_frames_dropped_total{reason=\"queue\"} 0", "upright_input_bytes_total 12345",
      "# TYPE upright_encode_seconds histogram",
      "upright_encode_seconds_bucket{le=\"0.0005\"} 1",
      "upright_encode_seconds_bucket{le=\"0.002\"} 1",
      "upright_encode_seconds_bucket{le=\"0.005\"} 2",
      "upright_encode_seconds_bucket{le=\"0.5\"} 3",
      "upright_encode_seconds_bucket{le=\"2.0\"} 3",
      "upright_encode_seconds_bucket{le=\"+Inf\"} 4", "upright_encode_seconds_count 4",
      "upright_encode_seconds_sum 30.2545", "upright_decode_seconds_count 0",
      "upright_event_to_frame_seconds_bucket{le=\"0.02\"} 2",
      "upright_event_to_frame_seconds_count 4", "upright_queue_depth 0",
    ] { #expect(lines.contains(line), "\(line)") }
    session.become(.ended)
    try await service.ask("DELETE", "/v1/sessions/a")
    let after = try await Self.lines(service)
    #expect(after.contains("upright_frames_in_total 100"))
    #expect(after.contains("upright_encode_seconds_bucket{le=\"0.5\"} 3"))
    #expect(after.contains("upright_event_to_frame_seconds_count 4"))
  }

  @Test("A session has series of its own until it is forgotten")
  func sessions() async throws {
    let service = try await RunningService()
    try await service.session(
      "a", ", \"outputs\": [{\"type\": \"hls\"}, {\"type\": \"file\", \"name\": \"take.mp4\"}]")
    try await service.session("b")
    let session = service.script.sessions[0]
    session.become(.live)
    session.count {
      $0.framesIn = 100
      $0.framesOut = 90
      $0.dropped = ["late": 7, "event": 1]
      $0.formatChanges = 2
      $0.inputLosses = 3
      $0.bytesIn = 4000
      $0.bytesOut = 3000
      $0.queueDepth = 5
    }
    session.show {
      $0.behind = 1.5
      $0.outputs[1].state = .reconnecting
      $0.outputs[1].frames = 80
      $0.outputs[1].bytes = 2000
      $0.outputs[1].dropped = 10
      $0.outputs[1].failures = 2
      $0.outputs[1].reconnects = 1
    }
    let lines = try await Self.lines(service)
    for line in [
      "state{session=\"a\",state=\"live\"} 1", "state{session=\"a\",state=\"waiting\"} 0",
      "state{session=\"b\",state=\"waiting\"} 1", "overloaded{session=\"a\"} 1",
      "overloaded{session=\"b\"} 0", "behind_seconds{session=\"a\"} 1.5",
      "behind_seconds{session=\"b\"} 0.0", "frames_in_total{session=\"a\"} 100",
      "frames_in_total{session=\"b\"} 0", "frames_out_total{session=\"a\"} 90",
      "frames_dropped_total{session=\"a\",reason=\"late\"} 7",
      "frames_dropped_total{session=\"a\",reason=\"event\"} 1",
      "frames_dropped_total{session=\"b\",reason=\"queue\"} 0",
      "queue_depth{session=\"a\"} 5", "format_changes_total{session=\"a\"} 2",
      "input_losses_total{session=\"a\"} 3", "input_bytes_total{session=\"a\"} 4000",
      "output_bytes_total{session=\"a\"} 3000",
    ] { #expect(lines.contains("upright_session_" + line), "\(line)") }
    for line in [
      "state{session=\"a\",output=\"file\",state=\"reconnecting\"} 1",
      "state{session=\"a\",output=\"hls\",state=\"starting\"} 1",
      "written_frames_total{session=\"a\",output=\"file\"} 80",
      "written_bytes_total{session=\"a\",output=\"file\"} 2000",
      "dropped_frames_total{session=\"a\",output=\"file\"} 10",
      "dropped_frames_total{session=\"a\",output=\"hls\"} 0",
      "failures_total{session=\"a\",output=\"file\"} 2",
      "reconnects_total{session=\"a\",output=\"file\"} 1",
    ] { #expect(lines.contains("upright_output_" + line), "\(line)") }
    #expect(lines.contains("upright_sessions_overloaded 1"))
    #expect(lines.contains("upright_behind_seconds 1.5"))

    session.become(.ended)
    #expect(
      try await Self.lines(service).contains(
        "upright_session_state{session=\"a\",state=\"ended\"} 1"))
    try await service.ask("DELETE", "/v1/sessions/a")
    let after = try await Self.lines(service)
    #expect(!after.contains { $0.contains("session=\"a\"") })
    #expect(after.contains { $0.contains("session=\"b\"") })
    #expect(after.contains("upright_frames_dropped_total{reason=\"late\"} 7"))
    #expect(after.contains("upright_queue_depth 0"))
  }

  @Test("Counters don't decrease while sessions are replaced and forgotten")
  func monotonic() async throws {
    let service = try await RunningService()
    let sessions = service.service.sessions
    @Sendable func sum() -> Int {
      let (all, past) = sessions.counted
      return all.reduce(past.framesIn) { $0 + $1.snapshot.counters.framesIn }
    }
    let counting = Task.detached {
      var (last, decreases) = (0, 0)
      while !Task.isCancelled {
        let now = sum()
        if now < last { decreases += 1 }
        last = now
      }
      return decreases
    }
    for round in 0..<60 {
      try await service.session("a")
      service.script.sessions[round].count { $0.framesIn = 100 }
      service.script.sessions[round].become(.ended)
      if round % 2 == 0 { try await service.ask("DELETE", "/v1/sessions/a") }
    }
    counting.cancel()
    #expect(await counting.value == 0)
    #expect(sum() == 6000)
  }

  @Test("The values of labels are escaped")
  func escapes() {
    var page = MetricsPage()
    page.family("m", .gauge, "Help.")
    page.sample(1, [("session", "a\"b\\c\nd\r\ne{}"), ("emoji", "👩‍👩‍👧")])
    #expect(
      page.text
        == "# HELP m Help.\n# TYPE m gauge\nm{session=\"a\\\"b\\\\c\\nd\r\\ne{}\",emoji=\"👩‍👩‍👧\"} 1\n")
  }

  @Test("The process, the disk and the versions")
  func process() async throws {
    let service = try await RunningService()
    let lines = try await Self.lines(service)
    func value(_ name: String) throws -> Double {
      let line = try #require(lines.first { Self.series($0) == name }, "\(name)")
      return try #require(Double(line.dropFirst(name.count + 1)))
    }
    #expect(try (1e6...1e11).contains(value("process_resident_memory_bytes")))
    #expect(
      try value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"))
    #expect(try (3...1e5).contains(value("process_open_fds")))
    #expect(try value("process_max_fds") > value("process_open_fds"))
    #expect(try (2...1e4).contains(value("process_threads")))
    let age = try Date().timeIntervalSince1970 - value("process_start_time_seconds")
    #expect((-2...86400).contains(age), "\(age)")
    let used = try value("process_cpu_seconds_total")
    #expect((0.01...86400).contains(used), "\(used)")
    #expect(try value("upright_disk_size_bytes") >= value("upright_disk_free_bytes"))
    #expect(try value("upright_disk_free_bytes") > 0)
    #expect(
      lines.contains {
        $0.wholeMatch(
          of: /upright_build_info\{version="[0-9]+\.[0-9]+\.[0-9]+",ffmpeg="[^"]+"\} 1/) != nil
      })
  }

  @Test("CPU time is that of the service's processes too, also when they have ended")
  func processes() async throws {
    /// The CPU time of this process's children.
    func others() throws -> Double {
      try #require(ProcessMetrics.current).cpuSeconds - Double(clock()) / 1e6
    }
    let before = try others()
    let busy = try ChildProcess(
      "/bin/sh", arguments: ["sh", "-c", "while :; do :; done"], descriptors: [])
    #expect(try await waitUntil { try others() > before + 0.2 })
    busy.send(SIGKILL)
    _ = busy.wait()
    #expect(try others() > before + 0.2)
  }

  @Test("The dashboard uses only metrics that exist, and every metric of sessions")
  func dashboard() async throws {
    let service = try await RunningService()
    let page = try await service.ask("GET", "/metrics").text
    let served = Set(page.matches(of: /# TYPE (\S+)/).map { String($0.1) })
    let path = Fixtures.packageRoot.appendingPathComponent("Samples/live/grafana-dashboard.json")
    let dashboard = try JSONDecoder().decode(JSON.self, from: Data(contentsOf: path))
    var used: Set<String> = []
    for panel in dashboard["panels"].array {
      for target in panel["targets"].array {
        let query = target["expr"].string ?? ""
        used.formUnion(query.matches(of: /(upright|process)_[a-z_]+/).map { String($0.0) })
      }
    }
    used = Set(used.map { $0.hasSuffix("_bucket") ? String($0.dropLast(7)) : $0 })
    #expect(used.isSubset(of: served), "\(used.subtracting(served))")
    let own = served.filter { $0.hasPrefix("upright_session_") }
    #expect(own.subtracting(used) == ["upright_session_overloaded"])
  }
}
