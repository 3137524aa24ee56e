import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightMedia
@testable import UprightService

/// `Samples/live/nginx-cache.conf` in front of the service, with other ports. Costs five seconds.
@Suite(
  "A cache in front", .enabled(if: ExternalTool("/usr/sbin/nginx").isHere, "needs nginx"),
  .server)
struct CacheTests {
  private static let players = 50
  private static let parts = 6

  /// nginx as a cache of a service, until it is released.
  private final class Cache: Sendable {
    let port: Int
    private let scratch: Scratch
    private let program: RunningProgram

    init(of service: RunningService) throws {
      (port, scratch) = (try Loopback.freeTCPPort(), try Scratch())
      // nginx that is started by root reads and writes as another user.
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: scratch.folder.path)
      let file = Fixtures.packageRoot.appendingPathComponent("Samples/live/nginx-cache.conf")
      let text = try String(contentsOf: file, encoding: .utf8)
        .replacing("127.0.0.1:8080", with: "127.0.0.1:\(service.service.port ?? 0)")
        .replacing("127.0.0.1:8090", with: "127.0.0.1:\(port)")
      try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.path("nginx.conf")))
      program = try RunningProgram(
        ExternalTool("/usr/sbin/nginx"),
        ["-p", scratch.folder.path, "-e", "stderr", "-c", scratch.path("nginx.conf")],
        environment: [:])
    }

    deinit { program.end() }

    var said: String { program.said }

    func ask(_ path: String) async throws -> Answer {
      try await RunningService.onThread { [port] in
        let connection = try LocalConnection(port: port)
        connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try Answer(connection.receive(seconds: 30).bytes)
      }
    }
  }

  private static func publish(_ origin: HLSOrigin, _ parts: Int) {
    let lines = (0..<parts).map { "#EXT-X-PART:DURATION=0.3,URI=\"5.\($0).m4s\"\n" }
    let edition = HLSOrigin.Edition(
      text: "#EXTM3U\n#EXTINF:2.0,\n4.m4s\n" + lines.joined(), lastSegment: 4,
      lastPart: .init(segment: 5, index: parts - 1), hint: "5.\(parts).m4s", targetDuration: 2,
      partTarget: 0.334)
    origin.publish(
      edition, as: "index.m3u8",
      files: [("5.\(parts - 1).m4s", [UInt8](repeating: UInt8(parts), count: 5000))])
  }

  @Test("Of fifty players' requests for each part and its playlist, one comes to the service")
  func collapsed() async throws {
    let service = try await RunningService()
    let made = try await service.session("one", ", \"latency\": \"low\"")
    #expect(made.status == 201, "\(made.text)")
    let origin = try #require(service.service.sessions.find("one").origin)
    Self.publish(origin, 1)
    let cache = try Cache(of: service)
    try #require(
      try await waitUntil { (try? LocalConnection(port: cache.port)) != nil }, "\(cache.said)")
    for part in 1...Self.parts {
      let paths = [
        "/live/one/index.m3u8?_HLS_msn=5&_HLS_part=\(part)", "/live/one/5.\(part).m4s",
      ]
      let answers = try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
        for kind in [0, 1] {
          for _ in 0..<Self.players {
            group.addTask { (kind, try await cache.ask(paths[kind])) }
          }
        }
        // No request but the first of each kind waits in the service.
        #expect(try await waitUntil { origin.waiting == 2 }, "\(origin.waiting)")
        try await Task.sleep(for: .milliseconds(200))
        #expect(origin.waiting == 2)
        Self.publish(origin, part + 1)
        return try await group.reduce(into: [[Answer](), []]) { $0[$1.0].append($1.1) }
      }
      for (kind, answers) in answers.enumerated() {
        #expect(answers.count == Self.players && answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.map(\.body)).count == 1)
        let missed = answers.count { $0.headers["x-cache"] == "MISS" }
        #expect(missed == 1, "\(paths[kind]): \(missed) requests came to the service")
      }
      #expect(answers[0].first?.text.contains("5.\(part).m4s") == true)
      #expect(answers[1].first?.body.first == UInt8(part + 1))
    }
    // What is wrong isn't kept: the same request can succeed later.
    let early = try await cache.ask("/live/one/index.m3u8?_HLS_msn=99")
    #expect(early.status == 400 && early.headers["x-cache"] == "MISS")
    let missing = try await cache.ask("/live/one/9.9.m4s")
    #expect(missing.status == 404)
    let again = try await cache.ask("/live/one/9.9.m4s")
    #expect(again.status == 404 && again.headers["x-cache"] == "MISS")
    try await service.shutDown()
  }

  @Test("A segment of the library comes to the service once, and is kept when that has ended")
  func library() async throws {
    let scratch = try Scratch()
    try FileManager.default.copyItem(
      atPath: Fixtures.packageRoot.appendingPathComponent("Samples/clips/display-matrix.mp4").path,
      toPath: scratch.path("a.mp4"))
    let service = try await RunningService { configuration, dependencies in
      configuration.library = scratch.folder.path
      configuration.openLibrary = true
      dependencies.program = ServiceProcess.program
    }
    let cache = try Cache(of: service)
    try #require(
      try await waitUntil { (try? LocalConnection(port: cache.port)) != nil }, "\(cache.said)")
    let playlist = try await cache.ask("/vod/a.mp4/index.m3u8")
    #expect(playlist.status == 200 && playlist.headers["x-cache"] == "MISS")
    let name = try #require(playlist.text.split(separator: "\n").last { $0.hasSuffix(".m4s") })
    let path = "/vod/a.mp4/\(name)"
    let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
      for _ in 0..<Self.players { group.addTask { try await cache.ask(path) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.status == 200 && $0.body == answers[0].body })
    #expect(answers.count { $0.headers["x-cache"] == "MISS" } == 1)
    try await service.shutDown()
    let kept = try await cache.ask(path)
    #expect(kept.status == 200 && kept.body == answers[0].body)
  }
}
