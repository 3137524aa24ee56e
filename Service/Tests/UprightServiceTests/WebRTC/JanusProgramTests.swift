import Foundation
import Logging
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("The setting webrtc is auto")
struct JanusProgramTests {
  private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  @Test("Without an installed Janus the service starts, and sessions say what is missing")
  func missing() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("janus")
    let none = try JanusProgram(
      in: folder, secret: "s", path: scratch.folder.path, others: [], logger: Self.logger)
    #expect(none == nil)
    #expect(!FileManager.default.fileExists(atPath: folder))
    let service = try await RunningService()
    let body = "{\"input\": {\"whip\": {}}}"
    let answer = try await service.ask("POST", "/v1/sessions", body)
    #expect(answer.status == 422 && answer.text.contains("--webrtc"), "\(answer.text)")
  }

  /// Costs 3 seconds.
  @Test(
    "An installed Janus is started with a secret, started again when it ends, and ends with the service",
    .server,
    .enabled(
      if: ExternalTool("janus").isHere && ExternalTool("curl").isHere, "needs janus and curl"))
  func installed() async throws {
    let service = try await RunningService { configuration, _ in configuration.webrtc = "auto" }
    let folder = service.scratch.path("data/.upright/janus")
    func processes() throws -> [String] {
      try ExternalTool("pgrep").outcome(["-f", "janus -F \(folder)$"]).text.split(separator: "\n")
        .map(String.init)
    }
    let url = try #require(service.service.configuration.webrtc)
    func answers() async throws -> Bool {
      try await RunningService.onThread {
        try ExternalTool("curl").outcome(["-s", url + "/info"]).text.contains("Janus WebRTC Server")
      }
    }
    #expect(try await waitUntil(30) { try await answers() })
    let mode = try FileManager.default.attributesOfItem(atPath: folder + "/janus.jcfg")
    #expect((mode[.posixPermissions] as? Int) == 0o600)
    let first = try processes()
    let made = try await service.ask("POST", "/v1/sessions", "{\"input\": {\"whip\": {}}}")
    #expect(made.status == 201, "\(made.text)")
    for process in first { kill(try #require(pid_t(process)), SIGKILL) }
    #expect(try await waitUntil(30) { try await answers() })
    #expect(try processes() != first)
    try await service.shutDown()
    #expect(try await waitUntil { (try? processes().isEmpty) == true })
  }
}
