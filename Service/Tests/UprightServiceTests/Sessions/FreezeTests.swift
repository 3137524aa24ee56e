import Foundation
import Testing
import UprightServiceTestSupport

@Suite(
  "A service that is stopped for a while", .enabled(if: FFmpegTool.isHere), .server, .serialized)
struct FreezeTests {
  private static let rate = 15

  /// Takes about nine seconds, most of them waiting.
  @Test("After SIGSTOP for two seconds, no input is lost and no frame is invented")
  func stopped() async throws {
    let scratch = try Scratch()
    let port = try Loopback.freeTCPPort()
    let session = """
      {"name": "one", "input": {"url": "rtmp://127.0.0.1:\(port)/live/key-of-one"},
       "outputs": [{"type": "file", "name": "take.ts"}],
       "options": {"frames": "sensor", "size": "360p", "speed": "ultrafast"}}
      """
    let service = try await ServiceProcess(scratch, sessions: [session])
    let publisher = LivePublisher.begin(
      "rtmp://127.0.0.1:\(port)/live/key-of-one", size: "640x360", seconds: 60)
    func counters() async throws -> JSON { try await service.session("one")["counters"] }
    #expect(try await waitUntil { try await counters()["framesIn"].int ?? 0 >= 2 * Self.rate })
    let before = try await counters()["framesIn"].int ?? 0
    service.sendToAll(SIGSTOP)
    try await Task.sleep(for: .seconds(2))
    service.sendToAll(SIGCONT)
    let wanted = before + 5 * Self.rate
    #expect(try await waitUntil { try await counters()["framesIn"].int ?? 0 >= wanted })
    let after = try await service.session("one")
    let said = after["counters"]
    #expect(after["state"].string == "live", "\(after)")
    #expect(said["inputLosses"].int == 0, "\(said)")
    // Decoded frames only: packets that are shed aren't counted as frames.
    let dropped = ["late", "queue"].reduce(0) { $0 + (said["dropped"][$1].int ?? 0) }
    let (framesIn, framesOut) = (said["framesIn"].int ?? 0, said["framesOut"].int ?? 0)
    // Frames that are being encoded are counted as in, but not yet as out.
    #expect((framesIn - dropped - 8...framesIn - dropped).contains(framesOut), "\(said)")
    let end = try await service.end(SIGTERM)
    #expect(end.status == 0)
    _ = try await publisher.value
  }
}
