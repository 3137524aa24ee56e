import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

/// `upright relay` with files and events. Costs about 10 seconds, most of it waiting.
@Suite("relay", .enabled(if: FFmpegTool.isHere), .tags(.waits))
struct RelayTests {
  // MARK: - Arguments

  struct Refused: Sendable, CustomTestStringConvertible {
    let arguments: String
    let status: Int
    /// A part of the message.
    let says: String
    var testDescription: String { arguments }
  }

  private static let refused = [
    Refused(arguments: "rtmp://localhost/live/cam", status: 64, says: "out"),
    Refused(
      arguments: "rtmp://localhost/live/cam RTMP://127.0.0.1:1935/live//cam?key=secret", status: 64,
      says: "the output is the input: a server would send the session its own stream"),
    Refused(
      arguments: "rtsp://h:8554/cam rtsp://h:8554/cam", status: 64, says: "the output is the input"),
    Refused(arguments: "- out.ts", status: 64, says: "standard input is not a live stream"),
    Refused(
      arguments: "rtmp://h/a/b live.m3u8", status: 64, says: "a live playlist is named index.m3u8"),
    Refused(arguments: "rtmp://h/a/b ftp://h/x", status: 64, says: "the scheme is not supported"),
    Refused(arguments: "rtmp://h/a/b out.ts out.ts", status: 64, says: "two outputs are the same"),
    Refused(arguments: "rtmp://h/a/b out.ts --reconnect -1", status: 64, says: "--reconnect"),
    Refused(arguments: "rtmp://h/a/b out.ts --reconnect nan", status: 64, says: "--reconnect"),
    Refused(arguments: "rtmp://h/a/b out.ts --start 1", status: 64, says: "--start"),
    Refused(arguments: "rtmp://h/a/b out.ts --chunks 2", status: 64, says: "--chunks"),
    Refused(
      arguments: "rtmp://h/a/b out.ts --trace out.ts", status: 64,
      says: "would overwrite the output"),
    Refused(arguments: "clip.ts clip.ts", status: 64, says: "would overwrite the input"),
    Refused(arguments: "rtmp://h/a/b clip.ts", status: 73, says: "the output already exists"),
    Refused(arguments: "none.mp4 out.ts", status: 66, says: "none.mp4"),
    Refused(arguments: "none.sdp out.ts", status: 66, says: "none.sdp"),
    Refused(arguments: "clip.sdp out.ts", status: 65, says: "SDP"),
    Refused(arguments: "rtmp://h/a/b out.ts --events none.jsonl", status: 66, says: "none.jsonl"),
    Refused(
      arguments: "rtmp://h/a/b out.ts --events unix:clip.ts", status: 73, says: "not a socket"),
    Refused(
      arguments: "rtmp://h/a/b out.ts --events unix:" + String(repeating: "x", count: 108),
      status: 64,
      says: "107 bytes"),
  ]

  @Test("Invalid arguments are refused before anything is opened", arguments: refused)
  func refusal(_ test: Refused) throws {
    let scratch = try Scratch()
    _ = try scratch.file("clip.ts", "not media")
    _ = try scratch.file("clip.sdp", "not a description")
    let words = test.arguments.words.map { word in
      ["clip.", "out.", "none.", "live."].contains { word.hasPrefix($0) }
        ? scratch.path(word) : word.replacing("unix:clip", with: "unix:" + scratch.path("clip"))
    }
    let outcome = try Upright.run(["relay"] + words)
    #expect(outcome.status == test.status, "\(outcome.errors)")
    #expect(outcome.errors.contains(test.says), "\(outcome.errors)")
    #expect(!outcome.errors.contains("secret"))
    #expect(scratch.names.sorted() == ["clip.sdp", "clip.ts"])
    #expect(try bytes(scratch.path("clip.ts")) == Data("not media".utf8))
  }

  // MARK: - Files

  private static let turned = ["--frames", "sensor", "--speed", "ultrafast", "--size", "90x160"]

  private static func clip(_ scratch: Scratch, seconds: Int) throws -> String {
    let path = scratch.path("clip.mp4")
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", DecodedFrames.source]
        + "-t \(seconds) -c:v libx264 -preset ultrafast -g 15 -bf 0".words + [path])
    return path
  }

  @Test(
    "Events on standard input turn at their frames, bad lines are ignored, and the input's end is status 0",
    .realTime)
  func standardInput() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(scratch, seconds: 2)
    let lines = [
      "{\"device\": \"portrait\"}", "{\"device\": \"sideways\"}", "what?", "",
      "{\"at\": 1, \"device\": \"landscapeLeft\"}",
    ]
    let outputs = [scratch.path("take.ts"), scratch.path("live") + "/"]
    let outcome = try Upright.run(
      ["relay", clip] + outputs + "--events - --trace -".words + Self.turned,
      input: .pipe(Data(lines.joined(separator: "\n").utf8)))
    #expect(outcome.status == 0, "\(outcome.errors)")
    try #require(outcome.warnings.count == 2, "\(outcome.errors)")
    #expect(outcome.warnings[0].contains("standard input, line 2: ignored"))
    #expect(outcome.warnings[1].contains("standard input, line 3: ignored"))
    #expect(outcome.lines.contains("upright: live"), "\(outcome.errors)")
    #expect(outcome.text.contains("\"rotate\""), "\(outcome.text)")
    for path in ["take.ts", "live/index.m3u8"] {
      let shown = try DecodedFrames(scratch.path(path), scratch)
      #expect(shown.times.count > 30, "\(path): \(shown.times.count)")
      for (index, time) in shown.times.enumerated() {
        let isTurned = time >= 1 - 0.001
        #expect(shown.sizes[index] == (isTurned ? PixelSize(160, 90) : PixelSize(90, 160)))
        #expect(shown.corners[index] == (isTurned ? "tl" : "tr"), "\(path): frame \(index)")
      }
    }
  }

  @Test(
    "A Unix socket takes events of several programs; SIGTERM closes the file and removes the socket",
    .realTime)
  func unixSocket() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(scratch, seconds: 60)
    let (path, trace) = (scratch.path("events"), scratch.path("trace"))
    // A socket that nobody listens on.
    close(try Self.bound(path))
    let relay = try RunningProgram(
      ExternalTool(CommandLineProgram.path),
      ["relay", clip, scratch.path("take.mp4"), "--canvas", "follow", "--events", "unix:\(path)"]
        + ["--trace", trace] + Self.turned)
    #expect(until { relay.said.contains("upright: live") }, "\(relay.said)")
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
    func rotations() throws -> Int {
      try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").count {
        $0.contains("\"rotate\"")
      }
    }
    let (one, other) = (try Self.connected(path), try Self.connected(path))
    Self.send("nonsense\n{\"device\": \"landsc", to: one)
    Self.send("{\"device\": \"landscapeRight\"}\n", to: other)
    #expect(until { (try? rotations()) == 1 }, "\(relay.said)")
    Self.send("apeLeft\"}\n", to: one)
    #expect(until { (try? rotations()) == 2 }, "\(relay.said)")
    close(one)
    close(other)
    let third = try Self.connected(path)
    // The last line needs no line break.
    Self.send("{\"device\": \"portrait\"}", to: third)
    close(third)
    #expect(until { (try? rotations()) == 3 }, "\(relay.said)")
    #expect(relay.said.contains("events, line 1: ignored"), "\(relay.said)")
    // A second relay doesn't take the socket of the first.
    let second = try Upright.run(
      ["relay", clip, scratch.path("second.ts"), "--events", "unix:\(path)"] + Self.turned)
    #expect(
      second.status == 73 && second.errors.contains("another process uses"), "\(second.errors)")
    #expect(relay.end(SIGTERM) == 143, "\(relay.said)")
    #expect(!scratch.names.contains("events"))
    let shown = try DecodedFrames(scratch.path("take.mp4"), scratch)
    var corners: [String] = []
    for corner in shown.corners where corners.last != corner { corners.append(corner) }
    #expect(corners == ["tr", "br", "tl", "tr"], "\(corners)")
  }

  private static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return address
  }

  private static func opened(
    _ path: String, _ call: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) throws -> CInt {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    var address = address(path)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0, "\(errno)")
    return descriptor
  }

  private static func bound(_ path: String) throws -> CInt { try opened(path, bind) }

  private static func connected(_ path: String) throws -> CInt { try opened(path, connect) }

  private static func send(_ text: String, to socket: CInt) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  // MARK: - Other ends

  @Test("A playlist that has ended is read once", .realTime, .server)
  func endedPlaylist() throws {
    let scratch = try Scratch()
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", DecodedFrames.source]
        + "-t 2 -c:v libx264 -preset ultrafast -g 15 -bf 0 -f hls -hls_time 1 -hls_list_size 0"
        .words
        + [scratch.path("cam.m3u8")])
    let port = try Loopback.freeTCPPort()
    let server = try RunningProgram(
      ExternalTool("python3"),
      ["-m", "http.server", "--bind", "127.0.0.1", "-d", scratch.folder.path, "\(port)"])
    defer { _ = server.end() }
    #expect(until { isListening(port) })
    let outcome = try Upright.run(
      ["relay", "http://127.0.0.1:\(port)/cam.m3u8", scratch.path("take.ts"), "--size", "90x160"]
        + ["--speed", "ultrafast"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.contains("upright: ended: the input ended"), "\(outcome.errors)")
    #expect(try DecodedFrames(scratch.path("take.ts"), scratch).times.count <= 61)
  }

  @Test("If every output fails, the error names each reason", .realTime)
  func failedOutputs() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(scratch, seconds: 5)
    _ = try scratch.file("folder", "not a folder")
    let both = try Upright.run(
      ["relay", clip, scratch.path("none/one.ts"), scratch.path("folder/live") + "/"] + Self.turned)
    #expect(both.status == 74, "\(both.errors)")
    let last = both.lines.last ?? ""
    #expect(last.contains("one.ts") && last.contains("folder"), "\(both.errors)")
  }
}

/// Waits until `isTrue` returns `true`. Returns `false` if it doesn't within a minute.
func until(_ isTrue: () -> Bool) -> Bool {
  let deadline = Date(timeIntervalSinceNow: 60)
  while Date() < deadline {
    if isTrue() { return true }
    usleep(20_000)
  }
  return false
}
