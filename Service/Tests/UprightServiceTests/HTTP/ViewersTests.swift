import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("Viewers of HLS") struct ViewersTests {
  @Test("A client counts until it has loaded nothing for three segments, and the memory is bounded")
  func counts() {
    let viewers = Viewers(segment: 4)
    let start = ContinuousClock.now
    viewers.note(1, at: start)
    viewers.note(2, at: start + .seconds(5))
    viewers.note(1, at: start + .seconds(6))
    #expect(viewers.count(at: start + .seconds(16)) == 2)
    #expect(viewers.count(at: start + .seconds(17.5)) == 1)
    #expect(viewers.count(at: start + .seconds(19)) == 0)
    // Short segments: six seconds.
    let short = Viewers(segment: 0.5)
    short.note(1, at: start)
    #expect(short.count(at: start + .seconds(5)) == 1 && short.count(at: start + .seconds(7)) == 0)
    for client in 0..<Viewers.most + 50 { viewers.note(client, at: start + .seconds(30)) }
    #expect(viewers.count(at: start + .seconds(31)) == Viewers.most)
    // Those that have left make room.
    viewers.note(-1, at: start + .seconds(50))
    #expect(viewers.count(at: start + .seconds(50)) == 1)
  }

  @Test("An output of HLS has its viewers: by address, program and signature; others have none")
  func outputs() async throws {
    let service = try await RunningService()
    try await service.session(
      "one", ", \"outputs\": [{\"type\": \"hls\"}, {\"type\": \"file\", \"name\": \"a.ts\"}]")
    let folder = service.scratch.folder.appendingPathComponent("data/live/one")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("#EXTM3U\n".utf8).write(to: folder.appendingPathComponent("index.m3u8"))
    func viewers() async throws -> [Int?] {
      let outputs = try await service.ask("GET", "/v1/sessions/one/outputs").json["outputs"]
      let one = try await service.ask("GET", "/v1/sessions/one").json["outputs"]
      #expect(outputs.array.map { $0["viewers"].int } == one.array.map { $0["viewers"].int })
      return outputs.array.map { $0["viewers"].int }
    }
    #expect(try await viewers() == [0, nil])
    func play(_ program: String, _ path: String = "index.m3u8", _ method: String = "GET")
      async throws
    {
      try await service.ask(
        method, "/live/one/" + path, token: nil, headers: ["User-Agent": program])
    }
    for _ in 0..<3 { try await play("a player") }
    try await play("another player")
    #expect(try await viewers() == [2, nil])
    let signed =
      try await service.ask(
        "POST", "/v1/sessions/one/playback-url", "{\"seconds\": 60}"
      ).json["url"].string ?? ""
    try await play("a player", String(signed.split(separator: "/live/one/").last ?? ""))
    #expect(try await viewers() == [3, nil])
    // What isn't loaded isn't watched.
    try await play("a third player", "none.m4s")
    try await play("a third player", "index.m3u8", "HEAD")
    #expect(try await viewers() == [3, nil])
  }
}
