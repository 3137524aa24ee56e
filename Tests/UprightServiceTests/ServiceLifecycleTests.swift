import Foundation
import Testing
import UprightFiles
import UprightTestSupport

@testable import UprightService

@Suite("Readiness, metrics, shutdown")
struct ServiceLifecycleTests {
  @Test(
    "A shutdown ends the sessions, closes the event streams, and finishes in time"
  )
  func drain() async throws {
    let service = try await RunningService { configuration, _ in configuration.drainTimeout = 15 }
    try await service.session("a")
    try await service.session("b")
    let reader = try service.connection()
    reader.send(
      "GET /v1/sessions/a/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(RunningService.token)\r\n\r\n"
    )
    _ = try await RunningService.onThread { reader.text(until: "event: state") }
    let begin = Date()
    try await service.shutDown()
    #expect(Date().timeIntervalSince(begin) < 10)
    #expect(service.script.sessions.allSatisfy { $0.snapshot.state == .ended })
    let told = try await RunningService.onThread { reader.receive(seconds: 15) }
    #expect(String(decoding: told.bytes, as: UTF8.self).contains("\"ended\""))
    #expect(told.isClosed)
  }

  @Test(
    "During a shutdown, new sessions get 503; a session that doesn't end isn't waited for",
    .long)
  func late() async throws {
    let service = try await RunningService { configuration, _ in configuration.drainTimeout = 15 }
    try await service.session("a")
    service.script.sessions[0].refuseToStop()
    async let over: Void = service.shutDown()
    let deadline = Date(timeIntervalSinceNow: 5)
    while !service.service.sessions.isDraining, Date() < deadline {
      try await Task.sleep(for: .milliseconds(5))
    }
    let ready = try await service.ask("GET", "/readyz", token: nil)
    #expect(ready.status == 503 && ready.headers["retry-after"] != nil)
    #expect(try await service.ask("GET", "/healthz", token: nil).status == 200)
    #expect(try await service.session("b").status == 503)
    let begin = Date()
    try? await over
    #expect(Date().timeIntervalSince(begin) < 20)
    #expect(service.log.lines.contains("did not end"))
  }

  @Test("Metrics have the documented names and Prometheus's format; counters never decrease")
  func metrics() async throws {
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
    func page() async throws -> String { try await service.ask("GET", "/metrics").text }
    let text = try await page()
    let lines = text.split(separator: "\n").map(String.init)
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
      "upright_event_to_picture_seconds_bucket{le=\"0.02\"} 2",
      "upright_event_to_picture_seconds_count 4", "upright_queue_depth 0",
    ] { #expect(lines.contains(line), "\(line)") }
    let memory = lines.first { $0.hasPrefix("upright_resident_memory_bytes ") }
    #expect(try #require(Int(memory?.words.last ?? "")) > 1_000_000)
    for line in lines where !line.hasPrefix("#") {
      #expect(
        line.wholeMatch(of: /upright_[a-z_]+(\{[a-z]+="[^"]*"\})? [0-9.e+-]+/) != nil, "\(line)")
    }
    let families = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
    #expect(Set(families).count == families.count)
    session.become(.ended)
    try await service.ask("DELETE", "/v1/sessions/a")
    let after = try await page()
    #expect(after.contains("upright_frames_in_total 100\n"))
    #expect(after.contains("upright_encode_seconds_bucket{le=\"0.5\"} 3\n"))
    #expect(after.contains("upright_event_to_picture_seconds_count 4\n"))
  }
}
