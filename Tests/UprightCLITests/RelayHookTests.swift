import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

/// The command lines of `Samples/live`, as the server's hook would run them, against the servers that Debian
/// has. Costs about 40 seconds of waiting.
@Suite(
  "relay behind servers", .enabled(if: FFmpegTool.isHere), .server, .realTime, .serialized,
  .tags(.waits, .lengthy))
struct RelayHookTests {
  /// The landscape frames of a phone that is turned, twice: 30 frames, 30 that are stored sideways and say
  /// so in an SEI message, and 30 as before. In each upright frame the top left quarter is white.
  private static func clip(_ scratch: Scratch, rounds: Int = 1) throws -> String {
    let tall = "color=black:s=90x160:r=30,drawbox=x=0:y=0:w=45:h=80:color=white:t=fill,transpose=2"
    let coding = "-frames:v 30 -c:v libx264 -preset ultrafast -g 30 -bf 0 -pix_fmt yuv420p"
    let (wide, turned, list) = (scratch.path("a.mp4"), scratch.path("b.mp4"), scratch.path("list"))
    try FFmpegTool.run(["-f", "lavfi", "-i", DecodedFrames.source] + coding.words + [wide])
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "\(tall),format=yuv420p"] + coding.words
        + ["-bsf:v", "h264_metadata=display_orientation=insert:rotate=270", turned])
    let names = (0..<rounds).flatMap { _ in ["a.mp4", "b.mp4", "a.mp4"] }
    try Data(names.map { "file \($0)\n" }.joined().utf8).write(to: URL(fileURLWithPath: list))
    let path = scratch.path("clip.mp4")
    try FFmpegTool.run(["-f", "concat", "-i", list, "-c", "copy", path])
    return path
  }

  /// Checks that each frame is upright: one frame that is turned too early or too late is not. GStreamer gives
  /// no times to frames that arrive in a burst, so the times are checked by the tests with another server.
  private func expectUpright(_ path: String, _ scratch: Scratch, atLeast count: Int) throws {
    let shown = try DecodedFrames(path, scratch)
    #expect(shown.corners.count >= count, "\(shown.corners.count)")
    #expect(shown.corners.allSatisfy { $0 == "tl" }, "\(shown.corners)")
    #expect(Set(shown.sizes) == [PixelSize(160, 90), PixelSize(90, 160)], "\(shown.sizes)")
  }

  /// Returns the command of the first line of a sample that has `start`, up to one of `ends`.
  private static func command(_ sample: String, after start: String, ends: Set<Character> = [])
    throws
    -> String
  {
    let file = Fixtures.packageRoot.appendingPathComponent("Samples/live/\(sample)")
    let text = try String(contentsOf: file, encoding: .utf8)
    let line = try #require(
      text.split(separator: "\n").first { $0.contains(start) && !$0.contains("# ") })
    let range = try #require(line.range(of: start))
    return String(line[range.upperBound...].prefix { !ends.contains($0) })
  }

  /// Starts the relay of a command line, as a shell would.
  private static func relay(_ command: String, _ variables: [String: String]) throws
    -> RunningProgram
  {
    var line = command
    for (name, value) in variables { line = line.replacing(name, with: value) }
    var words = line.words
    try #require(words.removeFirst().hasSuffix("upright"))
    return try RunningProgram(
      ExternalTool(CommandLineProgram.path), words + ["--speed", "ultrafast", "--size", "90x160"])
  }

  // MARK: - RTSP

  private static let python = ExternalTool("/usr/bin/python3")
  private static let hasServer =
    (try? python.run(["-c", "import gi; gi.require_version('GstRtspServer', '1.0')"])) != nil

  private static func rtspServer(_ clip: String, _ port: Int, _ folder: String) throws
    -> RunningProgram
  {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let script = Fixtures.packageRoot.appendingPathComponent("Tests/Players/rtsp_server.py").path
    let server = try RunningProgram(python, [script, clip, "\(port)", folder])
    #expect(until { server.said.contains("ready") || server.exitCode != nil })
    try #require(server.exitCode == nil, "\(server.said)")
    return server
  }

  @Test(
    "The hooks of MediaMTX and go2rtc: each frame that an RTSP server gets back is upright",
    .enabled(if: hasServer, "needs python3-gi and gir1.2-gst-rtsp-server-1.0"),
    arguments: ["mediamtx", "go2rtc"])
  func rtsp(_ server: String) throws {
    let scratch = try Scratch()
    let port = try Loopback.freeTCPPort()
    let folder = scratch.path("pushed")
    let gstreamer = try Self.rtspServer(try Self.clip(scratch), port, folder)
    let address = "rtsp://127.0.0.1:\(port)"
    let relay: RunningProgram
    if server == "mediamtx" {
      relay = try Self.relay(
        Self.command("mediamtx/mediamtx.yml", after: "runOnReady: "),
        ["$RTSP_PORT": "\(port)", "$MTX_PATH": "clip"])
    } else {
      relay = try Self.relay(
        Self.command("go2rtc/go2rtc.yaml", after: "exec:", ends: ["#"]),
        [
          "rtsp://192.168.1.20:554/stream": "\(address)/clip",
          "{output}": "\(address)/upright/clip",
        ])
    }
    // The clip ends after three seconds.
    #expect(
      until { relay.said.contains("the input is lost") || relay.exitCode != nil }, "\(relay.said)")
    #expect(
      relay.end(server == "mediamtx" ? SIGINT : SIGTERM) == (server == "mediamtx" ? 130 : 143))
    #expect(!relay.said.contains("output"), "\(relay.said)")
    gstreamer.end()
    try expectUpright("\(folder)/0.ts", scratch, atLeast: 80)
    #expect(try FFmpegTool.packets("\(folder)/0.aac", "a").count > 100)
  }

  @Test(
    "An RTSP server that is not there yet, goes away and returns gets the stream each time",
    .enabled(if: hasServer, "needs python3-gi and gir1.2-gst-rtsp-server-1.0"))
  func serverReturns() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(scratch, rounds: 20)
    let port = try Loopback.freeTCPPort()
    let output = "rtsp://user:password@127.0.0.1:\(port)/upright/clip"
    let relay = try Self.relay("upright relay \(clip) \(output) \(scratch.path("take.ts"))", [:])
    #expect(until { relay.said.contains("output rtsp://127.0.0.1:\(port): ") }, "\(relay.said)")
    func size(_ folder: String) -> Int {
      (try? bytes(scratch.path("\(folder)/0.ts")).count) ?? 0
    }
    for folder in ["one", "two"] {
      let server = try Self.rtspServer(clip, port, scratch.path(folder))
      #expect(until { size(folder) > 20_000 }, "\(folder): \(relay.said)")
      server.end()
    }
    #expect(!relay.said.contains("password"), "\(relay.said)")
    #expect(relay.end() == 143, "\(relay.said)")
    for file in ["one/0.ts", "two/0.ts", "take.ts"] {
      let shown = try DecodedFrames(scratch.path(file), scratch)
      #expect(
        shown.corners.count > 30 && shown.corners.allSatisfy { $0 == "tl" },
        "\(file): \(shown.corners)")
    }
  }

  // MARK: - RTMP

  private static let hasNginx =
    FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
    && FileManager.default.fileExists(atPath: "/usr/lib/nginx/modules/ngx_rtmp_module.so")

  /// Starts nginx, which records what is pushed to the application `upright` in `folder`.
  ///
  /// - Parameter hook: A command that nginx runs for each stream of the application `live`, with `$name`.
  private static func nginx(_ port: Int, _ folder: String, hook: String? = nil) throws
    -> RunningProgram
  {
    try FileManager.default.createDirectory(
      atPath: "\(folder)/logs", withIntermediateDirectories: true)
    let execution = hook.map { "exec_push \($0); exec_kill_signal term;" } ?? ""
    let configuration = """
      load_module /usr/lib/nginx/modules/ngx_rtmp_module.so;
      daemon off;
      master_process off;
      pid nginx.pid;
      error_log stderr error;
      events {}
      rtmp { server {
        listen 127.0.0.1:\(port);
        application live { live on; \(execution) }
        application upright { live on; record all; record_path \(folder); }
      } }
      """
    let path = "\(folder)/nginx.conf"
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: path))
    let server = try RunningProgram(
      ExternalTool("/usr/sbin/nginx"), ["-p", folder, "-e", "stderr", "-c", path])
    #expect(until { isListening(port) || server.exitCode != nil })
    try #require(server.exitCode == nil, "\(server.said)")
    return server
  }

  private static func publisher(_ clip: String, _ port: Int) throws -> RunningProgram {
    try RunningProgram(
      ExternalTool("ffmpeg"),
      "-nostdin -v error -re -i \(clip) -c copy -f flv rtmp://127.0.0.1:\(port)/live/cam".words)
  }

  @Test(
    "SRS' hook: a publisher that is killed and returns is one upright stream; without one, the relay ends",
    .enabled(if: hasNginx, "needs nginx with its RTMP module"))
  func publisherReturns() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(scratch, rounds: 10)
    let port = try Loopback.freeTCPPort()
    let nginx = try Self.nginx(port, scratch.path("nginx"))
    var publisher = try Self.publisher(clip, port)
    // nginx has no virtual hosts.
    let command = try Self.command("srs/srs.conf", after: "publish ", ends: [";"])
      .replacing("[app]?vhost=upright", with: "upright")
    let relay = try Self.relay(
      command + " --reconnect 3", ["[port]": "\(port)", "[app]": "live", "[stream]": "cam"])
    for round in 1...2 {
      #expect(
        until { relay.said.split(separator: "\n").count { $0 == "upright: live" } == round },
        "\(relay.said)")
      sleep(2)
      publisher.end(SIGKILL)
      #expect(
        until { relay.said.split(separator: "\n").count { $0.contains("input is lost") } == round },
        "\(relay.said)")
      if round == 1 { publisher = try Self.publisher(clip, port) }
    }
    #expect(relay.wait(seconds: 30) == 0, "\(relay.said)")
    #expect(!relay.said.contains("output"), "\(relay.said)")
    nginx.end()
    try expectUpright(scratch.path("nginx/cam.flv"), scratch, atLeast: 100)
    #expect(try DecodedFrames(scratch.path("nginx/cam.flv"), scratch).shortestStep > 0)
  }

  @Test(
    "nginx runs the relay itself, and ends it with its publisher",
    .enabled(if: hasNginx, "needs nginx with its RTMP module"))
  func hook() throws {
    let scratch = try Scratch()
    let port = try Loopback.freeTCPPort()
    let nginx = try Self.nginx(
      port, scratch.path("nginx"),
      hook: "\(CommandLineProgram.path) relay rtmp://127.0.0.1:\(port)/live/$name "
        + "rtmp://127.0.0.1:\(port)/upright/$name --speed ultrafast --size 90x160")
    let publisher = try Self.publisher(try Self.clip(scratch, rounds: 2), port)
    #expect(publisher.wait(seconds: 60) == 0, "\(publisher.said)")
    nginx.end()
    try expectUpright(scratch.path("nginx/cam.flv"), scratch, atLeast: 100)
  }
}

/// Whether a server on the loopback interface accepts connections.
func isListening(_ port: Int) -> Bool {
  let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  address.sin_port = UInt16(port).bigEndian
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  } == 0
}
