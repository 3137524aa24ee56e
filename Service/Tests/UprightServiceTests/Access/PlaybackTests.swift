import Foundation
import UprightOrientation
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Signed playback URLs")
struct PlaybackTests {
  /// A clock that the test sets, in seconds since 1970.
  final class Clock: Sendable {
    private let time = Atomic(1_767_225_000)
    var now: Int {
      get { time.load(ordering: .relaxed) }
      set { time.store(newValue, ordering: .relaxed) }
    }
  }

  private static let secret = "0123456789abcdef0123456789abcdef"
  private static let second = "x7Qm-2vKp_9sRtYw4ZbNc8LdFh3GjAeUoIi5Wk6M1aE"

  private static func keys(
    _ text: String, _ scratch: Scratch, secrets: Secrets = Secrets(), clock: Clock = Clock()
  ) throws -> PlaybackKeys {
    let path = scratch.path("keys")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return try PlaybackKeys(
      path, DataFolders(root: scratch.path("data")), secrets: secrets, now: { clock.now })
  }

  /// Made with openssl and with Python, as SECURITY.md shows.
  static let vectors: [(String, String)] = [
    ("stage", "1767225600.k1.2ETXfBY4o7XryJrw3l5SxWaP8Q5Ug2wkDcfnqi2YiD8"),
    ("stage", "1767225601.k1.pE2_s-7kq6zaY47I1k1ETt0dcd1Z0XvfVnCDyScgPzU"),
    ("my.show_2-b", "1767229200.2026.QHIZxlSpVd3WnUv9ab0QqYNyvHbGV1vv854jiFSLIrE"),
  ]

  @Test("Signatures of other implementations are accepted", arguments: vectors)
  func vector(_ session: String, _ signature: String) throws {
    let keys = try Self.keys("k1 \(Self.secret)\n2026 \(Self.second)\n", Scratch())
    #expect(try keys.check(signature[...], of: "/live/\(session)") >= 600)
  }

  @Test("Only the exact signature of the session is accepted, and the reason doesn't say more")
  func altered() throws {
    let keys = try Self.keys("k1 \(Self.secret)\n2026 \(Self.second)\n", Scratch())
    let right = Self.vectors[0].1
    var wrong = [
      "", "..", "...", "k1", "1767225600.k1.", ".k1.", "1767225600..x", right + "=", right + ".",
      "0" + right, "+" + right, " " + right, "-1.k1.x", String(right.dropLast()), right + "A",
      right.replacing("k1", with: "2026"), right.replacing("k1", with: "k2"),
      right.replacing("k1", with: "K1"), right.replacing("1767225600", with: "1767225601"),
      right.replacing("1767225600", with: "99999999999999999999"), Self.vectors[1].1 + right,
      "1767225600.k1." + Self.secret, right.replacing("1767225600", with: "١767225600"),
    ]
    // A change in any place, also of those bits that base64 ignores.
    for index in right.indices {
      for other in ["A", "9", "_", "%7E"] where String(right[index]) != other {
        wrong.append(right.replacingCharacters(in: index...index, with: other))
      }
    }
    for text in wrong {
      let problem = #expect(throws: Problem.self, "\(text)") {
        try keys.check(text[...], of: "/live/stage")
      }
      #expect(problem?.status == .forbidden && problem?.detail == "the URL's signature isn't valid")
    }
    for session in ["stagf", "Stage", "", "stage2", "stag", "stage/", "../stage"] {
      #expect(throws: Problem.self) { try keys.check(right[...], of: "/live/\(session)") }
    }
  }

  @Test("A URL expires, with a tolerance for clocks that differ; a late expiry is refused")
  func expiry() throws {
    let clock = Clock()
    let keys = try Self.keys("k1 \(Self.secret)", Scratch(), clock: clock)
    let begin = clock.now
    let (path, expires) = keys.sign("/live/stage", seconds: 100)
    #expect(expires == begin + 100)
    let signature = try #require(path.split(separator: "/").dropFirst(2).first).dropFirst()
    let longest = PlaybackKeys.longest
    let cases: [(Int, Int?)] = [
      (0, 100), (99, 1), (100, 0), (130, 0), (131, nil), (100_000, nil),
      // The service's clock is slow.
      (-50, 150), (130 - longest, longest - 30), (70 - longest, longest + 30), (69 - longest, nil),
      (-begin, nil), (Int.min / 2, nil), (Int.max - begin, nil),
    ]
    for (moved, left) in cases {
      clock.now = begin &+ moved
      if let left {
        #expect(try keys.check(signature, of: "/live/stage") == left, "\(moved)")
      } else {
        let problem = #expect(throws: Problem.self) { try keys.check(signature, of: "/live/stage") }
        let detail = problem?.detail ?? ""
        #expect(
          detail.contains(moved > 0 ? "has expired" : "check the clocks"), "\(moved): \(detail)")
      }
    }
    // A clock at its limits.
    for time in [Int.min, -1, 0, Int.max] {
      clock.now = time
      #expect((0...253_402_300_799).contains(keys.sign("/live/stage", seconds: longest).expires))
    }
  }

  @Test("Keys are replaced without a restart; a file with an error keeps the previous ones")
  func rotation() throws {
    let scratch = try Scratch()
    let secrets = Secrets()
    let keys = try Self.keys("# old\n\nk1 \(Self.secret)\r\n", scratch, secrets: secrets)
    func signature() throws -> Substring {
      try #require(keys.sign("/live/a", seconds: 60).path.split(separator: "/").dropFirst(2).first)
        .dropFirst()
    }
    func write(_ text: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.path("keys")))
    }
    let old = try signature()
    try write("k2 \(Self.second)\nk1 \(Self.secret)\n")
    try keys.reload()
    #expect(try signature().contains(".k2."))
    #expect(try keys.check(old, of: "/live/a") == 60)
    let many = (0..<17).map { "a\($0) \(Self.secret)" }.joined(separator: "\n")
    for text in [
      "", "# none\n", "k1\n", "k1 short\n", "k-1 \(Self.secret)", "k1 \(Self.secret) more",
      "k1 \(Self.secret)\nk1 \(Self.second)", "\(String(repeating: "k", count: 17)) \(Self.secret)",
      many, "é \(Self.secret)",
    ] {
      try write(text)
      let error = #expect(throws: UprightError.self, "\(text)") { try keys.reload() }
      #expect(error?.code == .configuration && error?.description.contains(Self.secret) == false)
      #expect(try keys.check(old, of: "/live/a") == 60)
    }
    try FileManager.default.removeItem(atPath: scratch.path("keys"))
    #expect(throws: UprightError.self) { try keys.reload() }
    try write("k2 \(Self.second)\n")
    try keys.reload()
    #expect(throws: Problem.self) { try keys.check(old, of: "/live/a") }
    #expect(secrets.redact("\(Self.secret) \(Self.second)") == "*** ***")
  }

  // MARK: - The service

  private static func files(_ session: String, of service: RunningService) throws {
    let folder = service.scratch.folder.appendingPathComponent("data/live/\(session)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("#EXTM3U\ns1.m4s\n".utf8).write(to: folder.appendingPathComponent("index.m3u8"))
    try Data("0123456789".utf8).write(to: folder.appendingPathComponent("s1.m4s"))
  }

  private static func url(_ session: String, _ service: RunningService, seconds: Int = 100)
    async throws -> String
  {
    let answer = try await service.ask(
      "POST", "/v1/sessions/\(session)/playback-url", "{\"seconds\": \(seconds)}")
    #expect(answer.status == 200, "\(answer.text)")
    return try #require(answer.json["url"].string)
  }

  @Test("Playlist and segments of a signed session need its URL; an open session doesn't")
  func served() async throws {
    let clock = Clock()
    let service = try await RunningService { _, dependencies in dependencies.now = { clock.now } }
    for (name, playback) in [("one", "signed"), ("two", "signed"), ("free", "open")] {
      let made = try await service.session(name, ", \"playback\": \"\(playback)\"")
      #expect(made.json["playback"].string == playback)
      try Self.files(name, of: service)
    }
    let url = try await Self.url("one", service)
    let folder = String(url.dropLast("index.m3u8".count))
    let playlist = try await service.ask("GET", url, token: nil)
    #expect(playlist.status == 200 && playlist.headers["cache-control"] == "no-cache")
    // As a player resolves the relative URL in the playlist.
    let segment = try await service.ask("GET", folder + "s1.m4s", token: nil)
    #expect(segment.status == 200 && segment.text == "0123456789")
    #expect(segment.headers["cache-control"] == "public, max-age=100, immutable")
    let part = try await service.ask(
      "GET", folder + "s1.m4s", token: nil, headers: ["Range": "bytes=1-2"])
    #expect(part.status == 206 && part.text == "12")
    #expect(try await service.ask("HEAD", folder + "s1.m4s", token: nil).status == 200)
    #expect(try await service.ask("GET", folder + "none.m4s", token: nil).status == 404)
    let open = try await service.ask("GET", "/live/free/s1.m4s", token: nil)
    #expect(open.status == 200 && open.headers["cache-control"]?.contains("=31536000,") == true)
    let preflight = try await service.ask("OPTIONS", "/live/one/~x/s1.m4s", token: nil)
    #expect(preflight.status == 204)

    func refused(_ path: String, _ reason: String, _ method: String = "GET") async throws {
      let answer = try await service.ask(method, path, token: nil)
      #expect(answer.status == 403, "\(path)")
      #expect(answer.headers["content-type"] == "application/problem+json")
      #expect(answer.headers["cache-control"] == "no-store")
      #expect(answer.headers["access-control-allow-origin"] == "*")
      if method == "GET" {
        #expect(answer.json["detail"].string?.contains(reason) == true, "\(answer.text)")
      }
    }
    try await refused("/live/one/index.m3u8", "needs a signed URL")
    try await refused("/live/one/s1.m4s", "needs a signed URL", "HEAD")
    try await refused(url.replacing("/one/", with: "/two/"), "signature isn't valid")
    try await refused(url.replacing("/one/", with: "/none/"), "signature isn't valid")
    try await refused(url.replacing(".k1.", with: ".k1.x"), "signature isn't valid")
    try await refused("/live/one/~/index.m3u8", "signature isn't valid")
    try await refused("/live/free/~x/index.m3u8", "signature isn't valid")
    clock.now += 120
    #expect(try await service.ask("GET", folder + "s1.m4s", token: nil).status == 200)
    clock.now += 11
    try await refused(url, "has expired")
    try await refused(folder + "s1.m4s", "has expired")
    // Other sessions and other URLs aren't affected.
    #expect(try await service.ask("GET", "/live/free/index.m3u8", token: nil).status == 200)
    let fresh = try await Self.url("one", service)
    #expect(try await service.ask("GET", fresh, token: nil).status == 200)
    // Neither keys nor signatures are logged.
    let secret = try #require(
      try String(
        contentsOfFile: service.scratch.path("data/.upright/playback-keys"), encoding: .utf8
      )
      .split(whereSeparator: \.isWhitespace).last)
    let signature = try #require(url.split(separator: "/").first { $0.hasPrefix("~") })
    let metrics = try await service.ask("GET", "/metrics").text
    for text in [service.log.lines, metrics] {
      #expect(!text.contains(secret) && !text.contains(signature))
    }
    try await service.shutDown()
  }

  @Test(
    "A request for a URL needs the admin token and a time of up to seven days",
    arguments: [
      "{}", "{\"seconds\": 0}", "{\"seconds\": 604801}", "{\"seconds\": 1.5}",
      "{\"seconds\": \"60\"}", "{\"seconds\": 1e300}", "{\"second\": 60}", "[]",
    ])
  func wrong(_ body: String) async throws {
    let service = try await RunningService()
    let key = try #require(try await service.session("one").json["publishKey"].string)
    let path = "/v1/sessions/one/playback-url"
    #expect(try await service.ask("POST", path, body).status == 400)
    for token in [nil, key] {
      #expect(try await service.ask("POST", path, "{\"seconds\": 60}", token: token).status == 401)
    }
    #expect(try await service.ask("POST", path, "{\"seconds\": 604800}").status == 200)
    let closed = try await service.session("two", ", \"playback\": \"closed\"")
    #expect(closed.status == 400, "\(closed.text)")
  }

  @Test("The segments of a signed session stay protected when it ends, is replaced or restarted")
  func kept() async throws {
    let scratch = try Scratch()
    let service = try await RunningService(scratch: scratch)
    try await service.session("one", ", \"playback\": \"signed\"")
    try Self.files("one", of: service)
    func status(_ service: RunningService) async throws -> Int {
      try await service.ask("GET", "/live/one/s1.m4s", token: nil).status
    }
    try await service.ask("DELETE", "/v1/sessions/one")
    #expect(try await status(service) == 403)
    // The new session can't be created, and the old one has been forgotten.
    let failed = try await service.session("one", ", \"options\": {\"size\": \"huge\"}")
    #expect(failed.status == 422, "\(failed.text)")
    #expect(try await status(service) == 403)
    #expect(try await service.session("one").status == 201)
    #expect(try await status(service) == 200)
    try await service.shutDown()
    // A declared session that can't be started, with the segments of an earlier run.
    let again = try await RunningService(
      { configuration, _ in
        configuration.sessions = [
          ["name": "one", "playback": "signed", "input": ["url": "file:/etc/passwd"]]
        ]
      }, scratch: scratch)
    #expect(try await status(again) == 403)
    try await again.shutDown()
    let signed = try await RunningService(
      { configuration, _ in configuration.playback = .signed }, scratch: scratch)
    #expect(try await signed.session("other").json["playback"].string == "signed")
    try Self.files("other", of: signed)
    #expect(try await signed.ask("GET", "/live/other/s1.m4s", token: nil).status == 403)
    #expect(try await signed.ask("GET", Self.url("other", signed), token: nil).status == 200)
    try await signed.shutDown()
  }

  @Test("A playback URL as an input is shown and logged without its signature")
  func input() throws {
    let url = try #require(
      StreamURL("https://a.example/live/stage/~\(Self.vectors[0].1)/index.m3u8"))
    #expect(url.redacted == "https://a.example/live/stage/~***/index.m3u8")
    #expect(url.secrets == ["~" + Self.vectors[0].1])
    #expect(
      PlaybackKeys.redacted("/live/stage/~\(Self.vectors[0].1)/x") == "/live/stage/~***/x")
  }
}

@Suite(
  "A player of a signed URL", .enabled(if: FFmpegTool.isHere), .server, .serialized,
  .tags(.timed, .light))
struct SignedPlayerTests {
  @Test("ffmpeg plays the whole stream, over TLS too", arguments: [false, true])
  func played(isSecure: Bool) async throws {
    let scratch = try Scratch()
    let service =
      try await isSecure
      ? RunningService.secure(make: RunningService.liveSession, scratch: scratch)
      : RunningService(make: RunningService.liveSession, scratch: scratch)
    func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
      try await isSecure
        ? service.secureAsk(method, path, body) : service.ask(method, path, body)
    }
    let port = try Loopback.freeTCPPort()
    let address = "rtmp://127.0.0.1:\(port)/live/key-of-the-stage"
    let (rate, seconds) = (10, 4)
    let clip = scratch.path("clock.flv")
    try DrawnClock.clip(clip, size: .init(160, 90), rate: rate, seconds: seconds)
    let made = try await ask(
      "POST", "/v1/sessions",
      "{\"name\": \"stage\", \"playback\": \"signed\", \"input\": {\"url\": \"\(address)\"}}")
    #expect(made.status == 201, "\(made.text)")
    let publisher = try Publisher(clip: clip, to: address)
    #expect(try await RunningService.onThread { publisher.status() } == 0, "\(publisher.errors)")
    #expect(
      try await waitUntil {
        try await ask("GET", "/v1/sessions/stage").json["counters"]["framesIn"].int
          == rate * seconds
      })
    _ = try await ask("DELETE", "/v1/sessions/stage")
    let signed = try #require(
      try await ask("POST", "/v1/sessions/stage/playback-url", "{\"seconds\": 600}").json["url"]
        .string)
    #expect(signed.hasPrefix(isSecure ? "https://" : "http://"))
    // The requests of the tests have no port in their Host header.
    let url = signed.replacing("//localhost/", with: "//127.0.0.1:\(service.service.port ?? 0)/")
    let numbers = try await RunningService.onThread { try DrawnClock.read(url).map(\.number) }
    #expect(Array(numbers.prefix(rate * seconds)) == (0..<rate * seconds).map { Optional($0) })
    try await service.shutDown()
  }
}
