import Foundation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// Files that a library plays, and what it refuses. Each service with real processes: about two seconds a test.
@Suite("A library over HTTP", .server)
struct LibraryServiceTests {
  /// The responses that these tests cover.
  static let described: Set<String> = {
    let file = "/vod/{path}"
    return Set(["200", "206", "304", "416", "429"].map { "GET \(file) \($0)" })
      .union(["GET /vod 404"])
  }()

  private static let clips = ["with-sound.mp4": 150, "display-matrix.mp4": 60]

  /// Starts a service whose library has the samples, and in a folder one whose name needs escapes.
  private static func service(
    _ change: @Sendable @escaping (inout ServiceConfiguration) -> Void = { _ in }
  ) async throws -> (RunningService, Scratch) {
    let scratch = try Scratch()
    for name in clips.keys {
      try FileManager.default.copyItem(
        atPath: Fixtures.packageRoot.appendingPathComponent("Samples/clips/\(name)").path,
        toPath: scratch.path(name))
    }
    try FileManager.default.createDirectory(
      atPath: scratch.path("a b"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("a b/100%é.mp4"), withDestinationPath: "../display-matrix.mp4")
    let service = try await RunningService { configuration, dependencies in
      configuration.library = scratch.folder.path
      configuration.openLibrary = true
      dependencies.program = ServiceProcess.program
      change(&configuration)
    }
    return (service, scratch)
  }

  private static func url(_ service: RunningService, _ path: String) -> String {
    "http://127.0.0.1:\(service.service.port ?? 0)/vod/\(path)"
  }

  private static func names(in playlist: String) -> [String] {
    playlist.split(separator: "\n").filter { $0.hasSuffix(".m4s") }.map(String.init)
  }

  @Test("Every frame is played upright, and each segment has the same bytes in another order")
  func play() async throws {
    let (service, scratch) = try await Self.service()
    var segments: [String: [UInt8]] = [:]
    for (name, count) in Self.clips {
      let url = Self.url(service, "\(name)/index.m3u8")
      let frames = try await RunningService.onThread { try FFmpegTool.frames(url) }
      #expect(frames.count == count)
      let stream = try await RunningService.onThread { try FFmpegTool.streams(url, "video") }[0]
      #expect(stream["width"].int == (name == "with-sound.mp4" ? 640 : 360))
      #expect(stream["rotation"].int == nil)
      let playlist = try await service.ask("GET", "/vod/\(name)/index.m3u8", token: nil)
      #expect(playlist.headers["cache-control"] == "no-cache")
      for segment in Self.names(in: playlist.text) {
        let answer = try await service.ask("GET", "/vod/\(name)/\(segment)", token: nil)
        #expect(answer.headers["cache-control"] == "public, max-age=31536000, immutable")
        segments["\(name)/\(segment)"] = answer.body
      }
    }
    try await service.shutDown()
    let again = try await RunningService { configuration, dependencies in
      configuration.library = scratch.folder.path
      dependencies.program = ServiceProcess.program
    }
    for (name, bytes) in segments.sorted(by: { $0.key > $1.key }) {
      #expect(try await again.ask("GET", "/vod/\(name)").body == bytes, "\(name)")
    }
    try await again.shutDown()
  }

  /// Costs ten seconds.
  @Test(
    "GStreamer and hls.js show every frame, upright", .browser,
    .enabled(if: Player.chromium.isHere && Player.gstreamer.isHere, "needs Chromium and GStreamer"),
    .enabled(if: Player.wheelOfHLSJS != nil, "needs hls.js: pip can't download gradio"))
  func players() async throws {
    let wheel = try #require(Player.wheelOfHLSJS)
    let (service, scratch) = try await Self.service()
    for (name, count) in Self.clips {
      let (width, height) = name == "with-sound.mp4" ? (640, 360) : (360, 640)
      let (base, file) = (Self.url(service, "\(name)/"), "index.m3u8")
      let gstreamer = try await RunningService.onThread { try Player.gstreamer.play([base + file]) }
      let hlsJS = try await RunningService.onThread {
        try Player.chromium.play([base, file, "--hls-js", wheel])
      }
      for (status, said) in [gstreamer, hlsJS] {
        #expect(status == 0 && said["error"].string == nil, "\(said)")
        #expect(said["sizes"].array.count == 1, "\(said)")
        #expect(said["sizes"][0]["width"].int == width && said["sizes"][0]["height"].int == height)
      }
      #expect(gstreamer.said["frames"].int == count && gstreamer.said["backwards"].int == 0)
      #expect(hlsJS.said["totalVideoFrames"].int == count, "\(hlsJS.said)")
    }
    try await service.shutDown()
    withExtendedLifetime(scratch) {}
  }

  @Test("A still is upright, ranges and conditions are honored, and a size can be chosen")
  func requests() async throws {
    let (service, scratch) = try await Self.service()
    let still = try await service.ask("GET", "/vod/a%20b/100%25%C3%A9.mp4/poster.jpg?at=1.5")
    #expect(still.status == 200 && still.headers["content-type"] == "image/jpeg")
    let picture = scratch.path("still.jpg")
    try Data(still.body).write(to: URL(fileURLWithPath: picture))
    let size = try FFmpegTool.streams(picture, "video")[0]
    #expect(size["width"].int == 360 && size["height"].int == 640)
    #expect(
      try await service.ask("GET", "/vod/display-matrix.mp4/poster.jpg?at=99").status == 404)
    #expect(try await service.ask("GET", "/vod/display-matrix.mp4/poster.jpg?at=x").status == 400)
    let playlist = try await service.ask("GET", "/vod/with-sound.mp4/index.m3u8?size=180p").text
    let path = "/vod/with-sound.mp4/\(try #require(Self.names(in: playlist).first))"
    let whole = try await service.ask("GET", path)
    let part = try await service.ask("GET", path, headers: ["Range": "bytes=4-7"])
    #expect(part.status == 206 && part.body == Array(whole.body[4...7]))
    #expect(try await service.ask("GET", path, headers: ["Range": "bytes=9999999-"]).status == 416)
    let tag = try #require(whole.headers["etag"])
    #expect(try await service.ask("GET", path, headers: ["If-None-Match": tag]).status == 304)
    let head = try await service.ask("HEAD", path)
    #expect(head.status == 200 && head.headers["content-length"] == "\(whole.body.count)")
    let first = try await service.ask("GET", path.replacing("/0.m4s", with: "/init-0.mp4"))
    let segment = scratch.path("0.mp4")
    try Data(first.body + whole.body).write(to: URL(fileURLWithPath: segment))
    #expect(try FFmpegTool.streams(segment, "video")[0]["width"].int == 320)
    #expect(try await service.ask("GET", path.replacing("/0.", with: "/99.")).status == 404)
    try await service.shutDown()
  }

  @Test("A ladder has the sizes that fit, and its renditions play")
  func renditions() async throws {
    let (service, scratch) = try await Self.service()
    try FFmpegTool.run(
      "-v error -i \(scratch.path("with-sound.mp4")) -map 0:v -map 0:a -map 0:a -c copy "
        + "-metadata:s:a:0 language=eng -metadata:s:a:1 language=fra",
      [scratch.path("two.mkv")])
    let path = "/vod/two.mkv"
    let url = Self.url(service, "two.mkv/master.m3u8?ladder=180p,1080p,360p")
    let master = try await service.ask("GET", path + "/master.m3u8?ladder=180p,1080p,360p").text
    let variants = master.split(separator: "\n").filter { $0.hasSuffix("/video.m3u8") }
    #expect(variants.map { $0.contains("-360p/") } == [true, false], "\(master)")
    #expect(master.contains("RESOLUTION=640x360") && master.contains("RESOLUTION=320x180"))
    #expect(master.contains("LANGUAGE=\"eng\"") && master.contains("LANGUAGE=\"fra\""))
    let listed = try await service.ask("GET", "/vod?find=two.mkv").json["files"][0]
    #expect(abs((listed["duration"].double ?? 0) - 5) < 0.1, "\(listed)")
    let frames = try await RunningService.onThread { try FFmpegTool.frames(url) }
    #expect(frames.count == 150)
    let streams = try await RunningService.onThread { try FFmpegTool.streams(url) }
    #expect(streams.count { $0["codec_type"].string == "audio" } == 2)
    let folder = try #require(variants.first?.split(separator: "/").first)
    let keyframes = try await service.ask("GET", "\(path)/\(folder)/keyframes.m3u8")
    #expect(keyframes.text.contains("#EXT-X-I-FRAMES-ONLY"))
    #expect(keyframes.headers["cache-control"]?.hasSuffix("immutable") == true)
    #expect(try await service.ask("GET", "\(path)/\(folder)/audio-2.m3u8").status == 415)
    let sprites = try await service.ask("GET", path + "/sprites.vtt")
    #expect(sprites.headers["content-type"] == "text/vtt")
    let sheet = try #require(sprites.text.firstMatch(of: /[^\n]*sprites-0.jpg/)).0
    let picture = try await service.ask("GET", "\(path)/\(sheet)")
    #expect(picture.status == 200 && picture.headers["content-type"] == "image/jpeg")
    try await service.shutDown()
  }

  @Test("HDR is tone-mapped, unless it is to be kept")
  func dynamicRange() async throws {
    let (service, scratch) = try await Self.service()
    try FFmpegTool.run(
      "-v error -i \(scratch.path("with-sound.mp4")) -t 2 -an -c:v libx265 -preset ultrafast "
        + "-pix_fmt yuv420p10le -tag:v hvc1 -color_primaries bt2020 -color_trc arib-std-b67 "
        + "-colorspace bt2020nc -x265-params log-level=none:keyint=30",
      [scratch.path("hlg.mp4")])
    let list = try await service.ask("GET", "/vod").json["files"].array
    #expect(list.map { $0["hdr"].string } == [nil, nil, "HLG", nil])
    for (query, pixels, transfer, codec, range) in [
      ("", "yuv420p", "bt709", "CODECS=\"avc1.", false),
      ("?hdr=keep", "yuv420p10le", "arib-std-b67", "CODECS=\"hvc1.2.", true),
    ] {
      let url = Self.url(service, "hlg.mp4/master.m3u8\(query)")
      let stream = try await RunningService.onThread { try FFmpegTool.streams(url, "video") }[0]
      #expect(stream["pix_fmt"].string == pixels && stream["color_transfer"].string == transfer)
      let master = try await service.ask("GET", "/vod/hlg.mp4/master.m3u8\(query)").text
      #expect(master.contains(codec), "\(master)")
      #expect(master.contains("VIDEO-RANGE=HLG") == range)
    }
    // A still is tone-mapped as the segments are.
    let still = try await service.ask("GET", "/vod/hlg.mp4/poster.jpg?at=1")
    try Data(still.body).write(to: URL(fileURLWithPath: scratch.path("still.jpg")))
    let url = Self.url(service, "hlg.mp4/index.m3u8")
    let means = try await RunningService.onThread {
      try [(scratch.path("still.jpg"), 0), (url, 30)].map { input, frame in
        let bytes = try FFmpegTool.run(
          "-i \(input) -vf select=eq(n\\,\(frame)),scale=64:36,format=rgb24 -frames:v 1 -f rawvideo -"
        )
        return bytes.reduce(0) { $0 + Int($1) } / max(1, bytes.count)
      }
    }
    #expect(means[0] > 50 && abs(means[0] - means[1]) < 5, "\(means)")
    // A file without HDR is the same with it.
    let usual = try await service.ask("GET", "/vod/with-sound.mp4/index.m3u8").text
    #expect(try await service.ask("GET", "/vod/with-sound.mp4/index.m3u8?hdr=keep").text == usual)
    try await service.shutDown()
  }

  @Test("HEVC that is copied has a rendition in H.264 beside it, for browsers that have no HEVC")
  func codecs() async throws {
    let (service, scratch) = try await Self.service()
    try FFmpegTool.run(
      "-v error -i \(scratch.path("with-sound.mp4")) -t 2 -c:v libx265 -preset ultrafast "
        + "-tag:v hvc1 -x265-params log-level=none:keyint=30 -c:a copy", [scratch.path("hevc.mp4")])
    let list = try await service.ask("GET", "/vod").json["files"].array
    #expect(list.compactMap { $0["codec"].string } == ["h264", "h264", "hevc", "h264"])
    let master = try await service.ask("GET", "/vod/hevc.mp4/master.m3u8").text
    for codec in ["hvc1.", "avc1."] { #expect(master.contains("CODECS=\"\(codec)"), "\(master)") }
    for (query, codec) in [("", "hevc"), ("?codec=h264", "h264")] {
      let url = Self.url(service, "hevc.mp4/index.m3u8\(query)")
      let (streams, frames) = try await RunningService.onThread {
        (try FFmpegTool.streams(url, "video"), try FFmpegTool.frames(url))
      }
      #expect(streams[0]["codec_name"].string == codec && frames.count == 60)
    }
    // H.264 is the same with it.
    for name in ["index", "master"] {
      let usual = try await service.ask("GET", "/vod/with-sound.mp4/\(name).m3u8").text
      let asked = try await service.ask("GET", "/vod/with-sound.mp4/\(name).m3u8?codec=h264").text
      #expect(asked == usual && !usual.contains("-h264"))
    }
    for query in ["codec=vp9", "codec=h264&hdr=keep"] {
      #expect(try await service.ask("GET", "/vod/hevc.mp4/index.m3u8?\(query)").status == 400)
    }
    try await service.shutDown()
  }

  @Test("What isn't a video in the folder is refused, and a file that changes is another one")
  func refusals() async throws {
    let (service, scratch) = try await Self.service()
    try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.path("broken.mp4")))
    let outside = try Scratch()
    let clip = scratch.path("with-sound.mp4")
    try FileManager.default.copyItem(atPath: clip, toPath: outside.path("out.mp4"))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("out.mp4"), withDestinationPath: outside.path("out.mp4"))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("away"), withDestinationPath: outside.folder.path)
    #expect(mkfifo(scratch.path("pipe.mp4"), 0o600) == 0)
    for name in [".hidden.mp4", "~tilde.mp4", "note.txt"] {
      try FileManager.default.copyItem(atPath: clip, toPath: scratch.path(name))
    }
    for path in [
      "out.mp4", "away/out.mp4", "pipe.mp4", "none.mp4", ".hidden.mp4", "~tilde.mp4", "note.txt",
      "../out.mp4", "%2e%2e/out.mp4", "a%20b/../with-sound.mp4", "a%20b%2F100%25%C3%A9.mp4",
      "/with-sound.mp4", "with-sound.mp4%00", "with-sound.mp4/x", "%zz.mp4", "a%20b",
    ] {
      let answer = try await service.ask("GET", "/vod/\(path)/index.m3u8")
      #expect(answer.status == 404, "\(path): \(answer.text)")
    }
    let broken = try await service.ask("GET", "/vod/broken.mp4/index.m3u8")
    #expect(broken.status == 415 && broken.json["detail"].string?.hasPrefix("broken.mp4: ") == true)
    #expect(!broken.text.contains("/proc/"))
    // Pages of any origin can read why.
    #expect(broken.headers["access-control-allow-origin"] == "*")
    let list = try await service.ask("GET", "/vod").json["files"].array
    #expect(
      list.map { $0["path"].string } == [
        "a b/100%é.mp4", "broken.mp4", "display-matrix.mp4", "with-sound.mp4",
      ])
    #expect(list[1]["problem"].string != nil && list[1]["size"].object.isEmpty)
    #expect(list[2]["size"]["height"].int == 640 && list[2]["orientation"].string == "right")
    let page = try await service.ask("GET", "/vod?limit=1").json
    let next = try #require(page["next"].string).replacing("%", with: "%25")
    let rest = try await service.ask("GET", "/vod?after=\(next)").json
    #expect(rest["files"].array.map { $0["path"] } == list.dropFirst().map { $0["path"] })
    for (text, count) in [
      ("WITH-", 1), ("%C3%89", 1), ("b/1", 1), (".mp4", 4), ("none", 0), ("", 4),
    ] {
      let found = try await service.ask("GET", "/vod?find=\(text)").json["files"].array
      #expect(found.count == count, "\(text)")
    }

    // Another orientation in a file of the same size and time.
    let first = try await service.ask("GET", "/vod/with-sound.mp4/index.m3u8").text
    var tag = TagSession.Options(orientation: .down)
    tag.keepsTime = true
    _ = try TagSession(inPlace: clip, options: tag).run()
    let playlist = try await service.ask("GET", "/vod/with-sound.mp4/index.m3u8").text
    #expect(playlist != first)
    let segment = "/vod/with-sound.mp4/\(try #require(Self.names(in: playlist).first))"
    try FileManager.default.removeItem(atPath: clip)
    try FileManager.default.copyItem(atPath: scratch.path("display-matrix.mp4"), toPath: clip)
    #expect(try await service.ask("GET", segment).status == 410)
    #expect(try await service.ask("GET", "/vod/with-sound.mp4/index.m3u8").text != playlist)
    try FileManager.default.removeItem(atPath: clip)
    #expect(try await service.ask("GET", segment).status == 404)
    try await service.shutDown()
  }

  @Test("Without --open-library, the admin token or a signature of that file is needed")
  func access() async throws {
    let (service, scratch) = try await Self.service { $0.openLibrary = false }
    let path = "/vod/a%20b/100%25%C3%A9.mp4"
    for path in ["/vod", "/vod/", path + "/index.m3u8"] {
      #expect(try await service.ask("GET", path, token: nil).status == 401)
      #expect(try await service.ask("GET", path).status == 200)
    }
    let signed = try await service.ask(
      "POST", "/v1\(path)/playback-url", "{\"seconds\": 60}"
    ).json["url"].string
    let url = try #require(signed).replacing(
      "http://localhost", with: "http://127.0.0.1:\(service.service.port ?? 0)")
    let frames = try await RunningService.onThread { try FFmpegTool.frames(url) }
    #expect(frames.count == 60)
    let own = try #require(url.firstRange(of: "/vod/")).lowerBound
    let other = String(url[own...]).replacing(path, with: "/vod/with-sound.mp4")
    #expect(try await service.ask("GET", String(url[own...]), token: nil).status == 200)
    #expect(try await service.ask("GET", other, token: nil).status == 403)
    #expect(try await service.ask("HEAD", other, token: nil).status == 403)
    // A signature in another place is none.
    for path in [
      "/vod/~1.k1.x", "/vod/~1.k1.x/with-sound.mp4/index.m3u8", "/vod/~1.k1.x/index.m3u8",
    ] {
      #expect(try await service.ask("GET", path, token: nil).status == 404)
    }
    try await service.shutDown()
    let none = try await RunningService()
    #expect(try await none.ask("GET", "/vod").status == 404)
    try await none.shutDown()
    withExtendedLifetime(scratch) {}
  }

  @Test("A file that crashes its process costs the requests that it has")
  func crash() async throws {
    let (service, scratch) = try await Self.service()
    let playlist = try await service.ask("GET", "/vod/with-sound.mp4/index.m3u8").text
    let names = Self.names(in: playlist)
    for child in Self.workers { kill(child, SIGSEGV) }
    let answers = try await withThrowingTaskGroup(of: Int.self) { group in
      for name in names {
        group.addTask { try await service.ask("GET", "/vod/with-sound.mp4/\(name)").status }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(answers.isSubset(of: [200, 415]))
    for name in names {
      #expect(try await service.ask("GET", "/vod/with-sound.mp4/\(name)").status == 200)
    }
    withExtendedLifetime(scratch) {}
    try await service.shutDown()
  }

  @Test("Many files at once have few processes")
  func processes() async throws {
    let (service, scratch) = try await Self.service()
    let files = 24
    for index in 0..<files {
      try FileManager.default.copyItem(
        atPath: scratch.path("display-matrix.mp4"), toPath: scratch.path("copy\(index).mp4"))
    }
    let most = try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<files {
        group.addTask {
          let path = "/vod/copy\(index).mp4"
          let playlist = try await service.ask("GET", "\(path)/index.m3u8?size=180p").text
          let first = try #require(Self.names(in: playlist).first)
          #expect(try await service.ask("GET", "\(path)/\(first)").status == 200)
          return Self.workers.count
        }
      }
      return try await group.reduce(0) { max($0, $1) }
    }
    // Eight that are kept, those in use, the one that describes files, and one that is started ahead.
    #expect(most <= 8 + ProcessInfo.processInfo.activeProcessorCount + 2)
    try await service.shutDown()
  }

  /// The processes of libraries that this process has started.
  private static var workers: [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap(pid_t.init).filter { id in
      guard CommandLineProgram.isRunning(id, parent: getpid()),
        let words = FileManager.default.contents(atPath: "/proc/\(id)/cmdline")
      else { return false }
      return String(decoding: words, as: UTF8.self).contains(LibraryWorker.option)
    }
  }
}
