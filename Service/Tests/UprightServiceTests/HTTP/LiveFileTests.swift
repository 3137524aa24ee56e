import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("HLS over HTTP")
struct LiveFileTests {
  private static let segment = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }

  private static func service() async throws -> RunningService {
    let service = try await RunningService()
    let folder = service.scratch.folder.appendingPathComponent("data/live/one")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("#EXTM3U\n".utf8).write(to: folder.appendingPathComponent("index.m3u8"))
    try Data(segment).write(to: folder.appendingPathComponent("s1.m4s"))
    try Data().write(to: folder.appendingPathComponent("empty.m4s"))
    try Data("secret".utf8).write(
      to: service.scratch.folder.appendingPathComponent("data/secret.mp4"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link.mp4",
      withDestinationPath: service.scratch.path("data/secret.mp4"))
    return service
  }

  @Test("Playlists aren't cached, segments are; pages of any origin may read both")
  func headers() async throws {
    let service = try await Self.service()
    let playlist = try await service.ask("GET", "/live/one/index.m3u8", token: nil)
    #expect(playlist.status == 200 && playlist.text == "#EXTM3U\n")
    #expect(playlist.headers["cache-control"] == "no-cache")
    #expect(playlist.headers["content-type"] == "application/vnd.apple.mpegurl")
    let segment = try await service.ask("GET", "/live/one/s1.m4s", token: nil)
    #expect(segment.status == 200 && segment.body == Self.segment)
    #expect(segment.headers["cache-control"]?.contains("immutable") == true)
    #expect(segment.headers["accept-ranges"] == "bytes")
    for answer in [playlist, segment] {
      #expect(answer.headers["access-control-allow-origin"] == "*")
      #expect(answer.headers["x-content-type-options"] == "nosniff")
    }
    let head = try await service.ask("HEAD", "/live/one/s1.m4s", token: nil)
    #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "100000")
    let asked = try await service.ask(
      "OPTIONS", "/live/one/s1.m4s", token: nil, headers: ["Origin": "https://a.example"])
    #expect(asked.status == 204 && asked.headers["access-control-allow-headers"] == "Range")
    #expect(try await service.ask("GET", "/live/one/empty.m4s", token: nil).body.isEmpty)
  }

  @Test("A playlist has no end while its session runs, and one of playlists is there at once")
  func openEnd() async throws {
    let service = try await RunningService()
    for latency in ["normal", "low"] {
      let made = try await service.session(latency, ", \"latency\": \"\(latency)\"")
      try #require(made.status == 201, "\(made.text)")
      let file = service.scratch.folder.appendingPathComponent("data/live/\(latency)/index.m3u8")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let path = "/live/\(latency)/index.m3u8"
      try Data("#EXTM3U\n#EXT-X-ENDLIST\n".utf8).write(to: file)
      // The file system's clock ticks in milliseconds.
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: 1)], ofItemAtPath: file.path)
      #expect(try await service.ask("GET", path, token: nil).text == "#EXTM3U\n")
      let waiting = try await service.ask("GET", path + "?_HLS_msn=5", token: nil)
      #expect(waiting.status == (latency == "low" ? 503 : 200), "\(waiting.text)")
      let multivariant = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n"
      try Data(multivariant.utf8).write(to: file)
      #expect(
        try await service.ask("GET", path + "?_HLS_msn=5", token: nil).text == multivariant)
      #expect(try await service.ask("DELETE", "/v1/sessions/\(latency)").status < 300)
    }
  }

  @Test(
    "A name that is used again at once, a hundred times, never has the playlist of the session before"
  )
  func reused() async throws {
    let service = try await RunningService()
    let folder = service.scratch.folder.appendingPathComponent("data/live/one")
    for round in 0..<100 {
      #expect(try await service.session().status == 201)
      let early = try await service.ask("GET", "/live/one/index.m3u8", token: nil)
      #expect(early.status == 503, "\(round): \(early.text)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("#EXTM3U\n#EXT-X-ENDLIST\n".utf8).write(
        to: folder.appendingPathComponent("index.m3u8"))
      #expect(try await service.ask("DELETE", "/v1/sessions/one").status == 200)
      // A session that has ended keeps its name until it is deleted, or the name is used again.
      if round % 2 == 0 {
        #expect(try await service.ask("DELETE", "/v1/sessions/one").status == 204)
      }
    }
  }

  static let ranges: [(String, Int, ClosedRange<Int>?)] = [
    ("bytes=0-9", 206, 0...9), ("bytes=99990-", 206, 99990...99999),
    ("bytes=-5", 206, 99995...99999),
    ("bytes=99999-200000", 206, 99999...99999), ("bytes=0-", 206, 0...99999),
    ("bytes=-200000", 206, 0...99999), ("bytes=100000-", 416, nil), ("bytes=-0", 416, nil),
    ("bytes=5-4", 200, nil), ("bytes=a-b", 200, nil), ("bytes=0-1,4-5", 200, nil),
    ("lines=0-1", 200, nil), ("bytes=-", 200, nil), ("bytes=99999999999999999999-", 200, nil),
  ]

  @Test("Range requests")
  func parts() async throws {
    let service = try await Self.service()
    for (header, status, range) in Self.ranges {
      let answer = try await service.ask(
        "GET", "/live/one/s1.m4s", token: nil, headers: ["Range": header])
      #expect(answer.status == status, "\(header)")
      if let range {
        #expect(answer.body == Array(Self.segment[range]), "\(header)")
        #expect(
          answer.headers["content-range"] == "bytes \(range.lowerBound)-\(range.upperBound)/100000")
      } else if status == 416 {
        #expect(answer.headers["content-range"] == "bytes */100000" && answer.body.isEmpty)
      } else {
        #expect(answer.body.count == 100_000)
      }
    }
  }

  @Test(
    "Nothing outside the session's folder is served",
    arguments: [
      "/live/one/../../secret.mp4", "/live/one/..%2F..%2Fsecret.mp4", "/live/../secret.mp4",
      "/live/one/%2e%2e/secret.mp4", "/live/one//etc/passwd", "/live/one/.hidden.mp4",
      "/live/one/link.mp4", "/live/one/none.m4s", "/live/none/index.m3u8", "/live/one/",
      "/live/one", "/live/one/s1.m4s%00.mp4", "/live/one/s1", "/live/..%2f/secret.mp4",
      "/live/one\\..\\secret.mp4", "/live/.upright/token",
    ])
  func names(_ path: String) async throws {
    let service = try await Self.service()
    let answer = try await service.ask("GET", path, token: nil)
    #expect([400, 401, 404].contains(answer.status), "\(answer.status)")
    #expect(!answer.text.contains("secret\0") && answer.text != "secret")
  }
}
