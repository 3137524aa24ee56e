import Foundation
import Testing
import UprightServiceTestSupport

@Suite(
  "Ending a service during publishing", .enabled(if: FFmpegTool.isHere), .server,
  .serialized, .tags(.timed, .light))
struct SignalTests {
  private static let rate = 15
  /// The number of frames in a segment, plus a few that are still being processed.
  private static let segment = 2 * rate + 6
  private static let following = ["a.mp4", "a.mov", "a.ts", "a.flv"]
  private static let still = ["b.mkv", "b.mp4"]

  private static func session(_ name: String, _ port: Int, _ files: [String], _ canvas: String)
    -> String
  {
    let outputs =
      files.map { "{\"type\": \"file\", \"name\": \"\($0)\"}" } + ["{\"type\": \"hls\"}"]
    return """
      {"name": "\(name)", "input": {"url": "rtmp://127.0.0.1:\(port)/live/key-of-\(name)"},
       "outputs": [\(outputs.joined(separator: ", "))],
       "options": {"frames": "sensor", "canvas": "\(canvas)", "size": "90x160", "speed": "ultrafast"}}
      """
  }

  /// Checks that the file decodes without an error. Returns the number of frames.
  static func play(_ path: String) async throws -> Int {
    let outcome = try await RunningService.onThread {
      try ExternalTool("ffmpeg").outcome(
        [
          "-nostdin", "-v", "error", "-xerror", "-err_detect", "explode", "-i", path, "-map", "0:v",
          "-map", "0:a", "-fps_mode", "passthrough", "-f", "framecrc", "-",
        ], timeout: 90)
    }
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(path): \(outcome.errors)")
    return playedFrames(outcome.text)
  }

  /// Returns the number of video frames in framecrc's lines, those of stream 0.
  static func playedFrames(_ lines: String) -> Int {
    lines.split(separator: "\n").count { $0.hasPrefix("0,") }
  }

  @Test(
    "Every recording is playable: complete after SIGTERM, without the last segment after SIGKILL",
    arguments: [SIGTERM, SIGKILL])
  func ended(_ signal: CInt) async throws {
    let scratch = try Scratch()
    let port = try Loopback.freeTCPPort()
    let service = try await ServiceProcess(
      scratch,
      sessions: [
        Self.session("turning", port, Self.following, "follow"),
        Self.session("still", port, Self.still, "portrait"),
      ])
    let publishers = ["turning", "still"].map {
      LivePublisher.begin("rtmp://127.0.0.1:\(port)/live/key-of-\($0)")
    }
    func frames(_ name: String) async throws -> Int {
      try await service.session(name)["counters"]["framesOut"].int ?? 0
    }
    for (device, count) in [("landscapeLeft", 30), ("portrait", 50)] {
      #expect(try await waitUntil { try await frames("turning") >= count })
      let turned = try await service.ask(
        "POST", "/v1/sessions/turning/events", "{\"device\": \"\(device)\"}")
      #expect(turned.status == 200, "\(turned.text)")
    }
    #expect(
      try await waitUntil {
        let (turning, still) = (try await frames("turning"), try await frames("still"))
        return turning >= 110 && still >= 110
      })
    let (turning, still) = (try await frames("turning"), try await frames("still"))
    let end = try await service.end(signal)
    if signal == SIGTERM {
      #expect(end.status == 0, "\(end.errors)")
    } else {
      #expect(end.signal == Int(signal))
    }
    for publisher in publishers { _ = try await publisher.value }
    let lost = signal == SIGTERM ? 0 : Self.segment
    let recordings = scratch.path("data/recordings")
    for (name, count, files) in [
      ("turning", turning, Self.following), ("still", still, Self.still),
    ] {
      for file in files {
        let played = try await Self.play("\(recordings)/\(name)/\(file)")
        #expect(played >= count - lost, "\(file): \(played) of \(count)")
      }
      let names = try FileManager.default.contentsOfDirectory(atPath: "\(recordings)/\(name)")
      #expect(Set(names.filter { !$0.hasPrefix(".") }) == Set(files))
      // The session is restarted with the service, so its playlist has no end tag and a player would wait.
      let path = scratch.path("data/live/\(name)/index.m3u8")
      var text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(!text.contains("#EXT-X-ENDLIST"))
      text += "#EXT-X-ENDLIST\n"
      let whole = scratch.path("data/live/\(name)/whole.m3u8")
      try Data(text.utf8).write(to: URL(fileURLWithPath: whole))
      let played = try await Self.play(whole)
      #expect(played >= count - lost, "\(name), HLS: \(played) of \(count)")
    }
    for file in ["a.mp4", "a.mov"] {
      try await Self.checkTurns("\(recordings)/turning/\(file)")
    }
  }

  /// Checks the sequence of frame sizes in a recording, and that its times have no gap.
  private static func checkTurns(_ path: String) async throws {
    let frames = try await RunningService.onThread { try FFmpegTool.frames(path) }
    var sizes: [String] = []
    for frame in frames where sizes.last != "\(frame.width)x\(frame.height)" {
      sizes.append("\(frame.width)x\(frame.height)")
    }
    #expect(sizes == ["90x160", "160x90", "90x160"], "\(path): \(sizes)")
    let times = frames.compactMap(\.time)
    #expect(times.count == frames.count && (times.first ?? 1) < 0.1)
    for (one, next) in zip(times, times.dropFirst()) where next - one > 0.5 || next <= one {
      Issue.record("\(path): \(one) s is followed by \(next) s")
    }
  }
}
