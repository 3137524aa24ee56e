import Foundation
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite(
  "Inputs that try to open other resources", .enabled(if: FFmpegTool.isHere), .server,
  .serialized)
struct HostileInputTests {
  /// An attack: the origin's response by path, and the session's input.
  struct Trick: Sendable {
    var name: String
    var input: String
    var answer: @Sendable (_ path: String) -> String
  }

  private static func ok(_ body: String) -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
  }

  private static func redirect(_ target: String) -> String {
    "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
  }

  /// Returns a playlist with one segment, preceded by the lines in `before`.
  private static func playlist(_ segment: String, before: String = "") -> String {
    "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n\(before)#EXTINF:4,\n\(segment)\n#EXT-X-ENDLIST\n"
  }

  private static func variants(_ line: String) -> String {
    "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\n\(line)\n"
  }

  /// Returns playlists with forbidden URIs.
  private static func playlists(_ canary: Canary) -> [(String, String)] {
    let (file, web) = ("file://\(canary.path)", "http://127.0.0.1:\(canary.port)/x.ts")
    let key = "#EXT-X-KEY:METHOD=AES-128,IV=0x1,URI="
    let targets = [
      "file": file, "path": canary.path, "file without slashes": "file:\(canary.path)", "http": web,
      "by name": web.replacing("127.0.0.1", with: "localhost"),
      "by number": web.replacing("127.0.0.1", with: "2130706433"),
      "mapped": web.replacing("127.0.0.1", with: "[::ffff:127.0.0.1]"),
      "https": web.replacing("http:", with: "https:"), "crypto": "crypto+\(file)",
      "crypto colon": "crypto:\(file)", "crypto http": "crypto+\(web)",
      "concat": "concat:\(canary.path)|\(canary.path)", "concat file": "concat:\(file)",
      "subfile": "subfile,,start,0,end,0,,:\(canary.path)",
      "subfile http": "subfile,,start,0,end,0,,:\(web)", "async": "async:\(file)",
      "cache": "cache:\(file)", "data": "data:video/mp2t;base64,R0AREA==",
      "tcp": "tcp://127.0.0.1:\(canary.port)", "rtmp": "rtmp://127.0.0.1:\(canary.port)/a/b",
      "rtsp": "rtsp://127.0.0.1:\(canary.port)/a", "ftp": "ftp://127.0.0.1:\(canary.port)/a.ts",
      "gopher": "gopher://127.0.0.1:\(canary.port)/a.ts", "unix": "unix:\(canary.path)",
      "pipe": "pipe:0", "up": "../../../../../../../../../..\(canary.path)",
    ]
    var list = targets.sorted { $0.key < $1.key }.map { ("segment, \($0.key)", playlist($0.value)) }
    for name in ["file", "http", "crypto", "subfile", "async"] {
      let target = targets[name] ?? ""
      list += [
        ("key, \(name)", playlist("good.ts", before: "\(key)\"\(target)\"\n")),
        ("init segment, \(name)", playlist("good.ts", before: "#EXT-X-MAP:URI=\"\(target)\"\n")),
        ("variant, \(name)", variants(target)),
        (
          "rendition, \(name)",
          "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",DEFAULT=YES,URI=\"\(target)\"\n"
            + "#EXT-X-STREAM-INF:BANDWIDTH=1000,AUDIO=\"a\"\n\(target)\n"
        ),
      ]
    }
    return list
  }

  private static func tricks(_ canary: Canary) -> [Trick] {
    let (file, web) = ("file://\(canary.path)", "http://127.0.0.1:\(canary.port)/x.ts")
    var tricks = playlists(canary).map { name, text in
      Trick(name: name, input: "http://127.0.0.1:PORT/a.m3u8") {
        $0.hasSuffix("good.ts") ? ok("G@not-a-stream") : ok(text)
      }
    }
    for (name, target) in [
      ("http", web), ("file", file), ("data", "data:x"), ("concat", "concat:\(file)"),
    ] {
      tricks.append(
        Trick(name: "redirected playlist, \(name)", input: "http://127.0.0.1:PORT/a.m3u8") { _ in
          redirect(target)
        })
      tricks.append(
        Trick(name: "redirected segment, \(name)", input: "http://127.0.0.1:PORT/a.m3u8") {
          $0.hasSuffix(".ts") ? redirect(target) : ok(playlist("a.ts"))
        })
    }
    let sdp =
      "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=video \(canary.port) RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
    for (name, path, body) in [
      ("an ffconcat script", "a.ffconcat", "ffconcat version 1.0\nfile '\(canary.path)'\n"),
      ("a script named .mp4", "a.mp4", "ffconcat version 1.0\nfile '\(canary.path)'\n"),
      ("a playlist named .mp4", "a.mp4", playlist(file)),
      ("a session description", "a.sdp", sdp),
      ("a manifest", "a.mpd", "<MPD><Period><BaseURL>\(file)</BaseURL></Period></MPD>"),
    ] {
      tricks.append(
        Trick(name: name, input: "http://127.0.0.1:PORT/\(path)") { _ in ok(body) })
    }
    // The first address of the name is allowed, the second isn't.
    tricks.append(
      Trick(name: "rebinding", input: "http://rebind.example:PORT/a.m3u8") { _ in
        ok(playlist("http://rebind.example:\(canary.port)/x.ts"))
      })
    tricks.append(
      Trick(name: "RTSP redirect", input: "rtsp://127.0.0.1:PORT/cam") { _ in
        "RTSP/1.0 302 Found\r\nCSeq: 1\r\nLocation: rtsp://127.0.0.1:\(canary.port)/cam\r\n\r\n"
      })
    return tricks
  }

  @Test("Nothing else is opened: each session fails with a reason, and another session continues")
  func tricks() async throws {
    let canary = try Canary()
    // The canary detects accesses.
    _ = try Data(contentsOf: URL(fileURLWithPath: canary.path))
    #expect(canary.reads > 0)
    _ = try LocalConnection(port: canary.port)
    #expect(try await waitUntil { canary.connections == 1 })

    let tricks = Self.tricks(canary)
    let origins = try tricks.map { try EgressProxyTests.Origin($0.answer) }
    let resolver = EgressProxyTests.StubResolver([
      "rebind.example": [["127.0.0.1"], ["10.0.0.1"]], "localhost": [["127.0.0.1"]],
    ])
    let publishing = try Loopback.freeTCPPort()
    let service = try await RunningService(
      { configuration, dependencies in
        configuration.maxSessions = tricks.count + 1
        configuration.allowHosts =
          origins.map { "127.0.0.1:\($0.port)" } + ["rebind.example"]
        dependencies.resolver = resolver
      }, make: LiveServiceTests.make)
    let healthy = try await UnaffectedSession(service, port: publishing)
    for (index, trick) in tricks.enumerated() {
      let url = trick.input.replacing("PORT", with: "\(origins[index].port)")
      let made = try await service.ask(
        "POST", "/v1/sessions",
        "{\"name\": \"t\(index)\", \"input\": {\"url\": \"\(url)\"}, \"inputTimeout\": 3}")
      #expect(made.status == 201, "\(trick.name): \(made.text)")
    }
    for (index, trick) in tricks.enumerated() {
      var answer = JSON.null
      let hasEnded = try await waitUntil(90) {
        answer = try await service.ask("GET", "/v1/sessions/t\(index)").json
        return ["failed", "ended"].contains(answer["state"].string)
      }
      #expect(hasEnded && answer["state"].string == "failed", "\(trick.name): \(answer)")
      #expect((answer["reason"].string ?? "").count > 20, "\(trick.name): \(answer)")
      if trick.name.hasPrefix("RTSP") {
        #expect(answer["reason"].string?.contains("to another address") == true, "\(answer)")
      }
      #expect(!origins[index].heads.withLock { $0.isEmpty }, "\(trick.name): was never requested")
    }
    #expect(canary.reads == 0, "the file was opened")
    #expect(canary.connections == 1, "the port was reached")
    try await healthy.check()
    try await service.shutDown()
  }

  @Test(
    "Addresses that the POST rejects",
    arguments: [
      "file:///etc/passwd", "file:../secret.ts", "http://127.0.0.1:8080/a.m3u8",
      "https://[::1]/a.m3u8", "concat:a.ts|b.ts", "subfile,,start,0,end,9,,:/etc/passwd",
      "data:video/mp2t;base64,AAAA", "rtmp://169.254.169.254/live/k", "tcp://127.0.0.1:80",
      "http://evil.example/a.m3u8", "pipe:0", "/etc/passwd",
    ])
  func posted(_ url: String) async throws {
    let service = try await RunningService(make: LiveServiceTests.make)
    let answer = try await service.ask(
      "POST", "/v1/sessions", "{\"input\": {\"url\": \"\(url)\", \"mode\": \"pull\"}}")
    #expect(answer.status == 422 && answer.json["detail"].string != nil, "\(answer.text)")
    #expect(try await service.ask("GET", "/v1/sessions").json["sessions"].array.isEmpty)
  }
}

/// A session with a publisher, to check that attacks on other sessions don't affect it.
final class UnaffectedSession: Sendable {
  private let service: RunningService
  private let publisher: Task<Int, any Error>

  init(_ service: RunningService, port: Int, seconds: Int = 150) async throws {
    self.service = service
    let made = try await service.ask(
      "POST", "/v1/sessions",
      "{\"name\": \"healthy\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/healthy-key\"}}"
    )
    guard made.status == 201 else { throw ServiceProcess.Late(description: made.text) }
    publisher = LivePublisher.begin(
      "rtmp://127.0.0.1:\(port)/live/healthy-key", seconds: seconds)
    guard try await waitUntil(60, { try await self.frames > 0 }) else {
      throw ServiceProcess.Late(description: "the healthy session did not start")
    }
  }

  private var session: JSON {
    get async throws { try await service.ask("GET", "/v1/sessions/healthy").json }
  }

  private var frames: Int {
    get async throws { try await session["counters"]["framesOut"].int ?? 0 }
  }

  /// Checks that the session wasn't affected: its frames continue, and none was dropped by the decoder or an
  /// output. Ignores frames dropped because the machine is too busy.
  func check() async throws {
    let before = try await frames
    #expect(
      try await waitUntil { try await self.frames >= before + 15 },
      "its frames stopped: \(service.log.lines.split(separator: "\n").filter { $0.contains("healthy") })"
    )
    let session = try await session
    #expect(session["state"].string == "live")
    let dropped = session["counters"]["dropped"].object
    #expect(dropped["decode"] == nil && dropped["output"] == nil, "\(session)")
    _ = try await service.ask("DELETE", "/v1/sessions/healthy")
    _ = try await publisher.value
  }
}
