import Foundation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Readiness, shutdown")
struct ServiceLifecycleTests {
  @Test(
    "A shutdown ends the sessions and closes the event streams"
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
    try await service.shutDown()
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
    let deadline = Date(timeIntervalSinceNow: 60)
    while !service.service.sessions.isDraining, Date() < deadline {
      try await Task.sleep(for: .milliseconds(5))
    }
    let ready = try await service.ask("GET", "/readyz", token: nil)
    #expect(ready.status == 503 && ready.headers["retry-after"] != nil)
    #expect(try await service.ask("GET", "/healthz", token: nil).status == 200)
    #expect(try await service.session("b").status == 503)
    try? await over
    #expect(service.log.lines.contains("did not end"))
  }
}
