import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// Sessions that may move to another machine. The test with media takes eleven seconds, the others less than one.
@Suite("Sessions with an epoch")
struct OriginServiceTests {
  private static func service(_ origin: FakeOrigin) async throws -> RunningService {
    try await RunningService { configuration, _ in configuration.hlsOrigin = origin.url }
  }

  @Test("The HLS of a session with an epoch is in the origin, and only there")
  func created() async throws {
    let origin = try FakeOrigin()
    let service = try await Self.service(origin)
    let made = try await service.session("one", ", \"epoch\": 3")
    #expect(made.status == 201 && made.json["epoch"].int == 3, "\(made.text)")
    #expect(made.json["outputs"][0]["url"].string == "\(origin.url)/one/index.m3u8")
    let configuration = try #require(service.script.sessions.first?.configuration)
    #expect(configuration.hlsStore?.epoch == 3)
    #expect(configuration.hlsStore?.make().address == "\(origin.url)/one/index.m3u8")
    #expect(try await service.ask("GET", "/live/one/index.m3u8", token: nil).status == 404)
    let plain = try await service.session("two")
    #expect(plain.status == 201 && plain.json["epoch"].isNull)
    #expect(service.script.sessions.last?.configuration.hlsStore == nil)
  }

  @Test("Wrong epochs, and what the origin can't have, are refused with the reason")
  func epochs() async throws {
    let origin = try FakeOrigin()
    let service = try await Self.service(origin)
    for (more, status, word) in [
      (", \"epoch\": 0", 400, "epoch"), (", \"epoch\": -1", 400, "epoch"),
      (", \"epoch\": 1.5", 400, "epoch"),
      (", \"epoch\": \"1\"", 400, "epoch"), (", \"epoch\": 9007199254740992", 400, "epoch"),
      (", \"epoch\": 1e300", 400, "epoch"), (", \"epoch\": null", 400, "epoch"),
      (", \"epoch\": 1, \"latency\": \"low\"", 422, "parts"),
      (", \"epoch\": 1, \"playback\": \"signed\"", 422, "origin"),
    ] {
      let answer = try await service.session("one", more)
      #expect(answer.status == status && answer.text.contains(word), "\(more): \(answer.text)")
    }
    let none = try await RunningService()
    let answer = try await none.session("one", ", \"epoch\": 1")
    #expect(answer.status == 422 && answer.text.contains("--hls-origin"), "\(answer.text)")
    let push =
      #", "epoch": 1, "outputs": [{"type": "rtmp", "url": "rtmp://127.0.0.1:1/a/0123456789"}]"#
    #expect(try await none.session("one", push).status == 201)
  }

  @Test("Only a session that goes on elsewhere keeps its playlist open")
  func continues() async throws {
    let origin = try FakeOrigin()
    let service = try await Self.service(origin)
    for (query, comesBack) in [("?continues=true", true), ("?continues=false", false), ("", false)]
    {
      try await service.session("one", ", \"epoch\": 1")
      let answer = try await service.ask("DELETE", "/v1/sessions/one\(query)")
      #expect(answer.status == 200, "\(answer.text)")
      #expect(service.script.sessions.last?.stopped.withLock { $0 } == [comesBack])
    }
    for query in ["?continues=yes", "?continue=true", "?continues=true&continues=true"] {
      #expect(try await service.ask("DELETE", "/v1/sessions/one\(query)").status == 400)
    }
    // A shutdown is a move too.
    try await service.session("two", ", \"epoch\": 1")
    try await service.session("three")
    let (two, three) = (service.script.sessions[3], service.script.sessions[4])
    try await service.shutDown()
    #expect(two.stopped.withLock { $0 } == [true] && three.stopped.withLock { $0 } == [false])
  }

  @Test("Sessions with an epoch end when the lease lapses, and others don't")
  func lease() async throws {
    let origin = try FakeOrigin()
    let service = try await Self.service(origin)
    try await service.session("one", ", \"epoch\": 7")
    try await service.session("two")
    for body in [
      "{}", "{\"seconds\": 0}", "{\"seconds\": 61}", "{\"seconds\": \"1\"}", "{\"second\": 1}",
      "[]",
    ] {
      #expect(try await service.ask("PUT", "/v1/lease", body).status == 400, "\(body)")
    }
    #expect(try await service.ask("PUT", "/v1/lease", "{\"seconds\": 1}", token: nil).status == 401)
    let first = try await service.ask("PUT", "/v1/lease", "{\"seconds\": 60}")
    #expect(first.status == 200 && first.json["sessions"].array.count == 1)
    #expect(
      first.json["sessions"][0]["id"].string == "one" && first.json["sessions"][0]["epoch"].int == 7
    )
    // A shorter lease replaces a longer one.
    try await service.ask("PUT", "/v1/lease", "{\"seconds\": 0.1}")
    #expect(try await waitUntil { service.script.sessions[0].snapshot.state == .ended })
    #expect(service.script.sessions[0].stopped.withLock { $0 } == [true])
    #expect(service.script.sessions[1].snapshot.state == .waiting)
    let late = try await service.session("three", ", \"epoch\": 1")
    #expect(late.status == 409 && late.text.contains("lease"), "\(late.text)")
    #expect(try await service.session("four").status == 201)
    try await service.ask("PUT", "/v1/lease", "{\"seconds\": 60}")
    #expect(try await service.session("three", ", \"epoch\": 1").status == 201)
  }

  @Test("A ladder is in the origin with all of its playlists", .realTime)
  func ladder() async throws {
    let origin = try FakeOrigin()
    let make = RunningService.live {
      $0.options.frames = .sensor(Camera())
      $0.options.canvas = .landscape
      $0.options.speed = "ultrafast"
    }
    let service = try await RunningService(
      { configuration, _ in configuration.hlsOrigin = origin.url }, make: make)
    let clip = Fixtures.packageRoot.appendingPathComponent("Samples/clips/turning-sensor.mp4")
    try FileManager.default.copyItem(
      at: clip, to: URL(fileURLWithPath: service.scratch.path("data/turns.mp4")))
    let made = try await service.ask(
      "POST", "/v1/sessions",
      #"{"name": "cam", "input": {"url": "file:turns.mp4"}, "epoch": 1, "options": {"segment": 1, "ladder": ["270p", "180p"]}}"#
    )
    try #require(made.status == 201, "\(made.text)")
    #expect(
      try await waitUntil {
        try await service.ask("GET", "/v1/sessions/cam").json["state"].string == "ended"
      })
    #expect(origin.violations == [])
    let index = try #require(origin.texts().last)
    let listed = index.matches(of: /[0-9a-z]+\.m3u8/).map { String($0.0) }
    #expect(Set(listed) == ["270p.m3u8", "180p.m3u8", "audio.m3u8"], "\(index)")
    for name in listed {
      let list = try Playlist(text: try #require(origin.texts(name).last))
      #expect(list.isEnded && list.mediaSequence + list.segments.count >= 5, "\(name)")
      #expect(list.segments.allSatisfy { $0.file.split(separator: "-")[1] == "1" })
    }
    #expect(
      !FileManager.default.fileExists(atPath: service.scratch.path("data/live/cam/index.m3u8")))
  }
}
