import Foundation
import Testing
import UprightServiceTestSupport

@Suite(
  "Restarts of the service", .enabled(if: FFmpegTool.isHere), .server, .serialized,
  .tags(.timed, .light))
struct RestartTests {
  /// The position of a live playlist.
  private struct Place {
    var sequence = -1
    var segments: [String] = []
    var discontinuities = 0
    var isEnded = false

    init(_ text: String) {
      for line in text.split(separator: "\n") {
        if line.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") { sequence = Int(line.dropFirst(22)) ?? -1 }
        if line == "#EXT-X-DISCONTINUITY" { discontinuities += 1 }
        if line.hasPrefix("#EXT-X-ENDLIST") { isEnded = true }
        if !line.hasPrefix("#") { segments.append(String(line)) }
      }
    }

    /// The sequence number of the last segment.
    var last: Int { sequence + segments.count - 1 }
  }

  @Test(
    "A declared session is restarted: its playlist and players continue after a discontinuity",
    arguments: [SIGTERM, SIGKILL])
  func again(_ signal: CInt) async throws {
    let scratch = try Scratch()
    let port = try Loopback.freeTCPPort()
    let url = "rtmp://127.0.0.1:\(port)/live/stage-key"
    let session = """
      {"name": "stage", "input": {"url": "\(url)"},
       "outputs": [{"type": "hls"}, {"type": "file", "name": "take.mp4"}],
       "options": {"frames": "sensor", "size": "90x160", "speed": "ultrafast", "segment": 1}}
      """
    func place(_ service: ServiceProcess) async throws -> Place {
      Place(try await service.ask("GET", "/live/stage/index.m3u8").text)
    }
    let first = try await ServiceProcess(scratch, sessions: [session])
    _ = try await first.ask(
      "POST", "/v1/sessions",
      "{\"name\": \"passing\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/p\"}}")
    let publisher = LivePublisher.begin(url)
    #expect(try await waitUntil { try await place(first).segments.count >= 3 })
    let start = try await place(first).sequence
    let playlist = scratch.path("data/live/stage/index.m3u8")
    async let played = RunningService.onThread {
      try ExternalTool("ffmpeg").outcome(
        [
          "-nostdin", "-v", "error", "-dts_delta_threshold", "1", "-live_start_index", "0", "-i",
          playlist, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framecrc", "-",
        ], timeout: 240)
    }
    #expect(try await waitUntil { try await place(first).last >= start + 7 })
    let before = try await place(first)
    let shown = try await first.session("stage")["counters"]["framesOut"].int ?? 0
    #expect(FileManager.default.fileExists(atPath: scratch.path("data/live/passing")))
    _ = try await first.end(signal)
    _ = try await publisher.value

    let second = try await ServiceProcess(scratch, sessions: [session])
    #expect(try await second.session("stage")["state"].string == "waiting")
    #expect(try await second.ask("GET", "/v1/sessions/passing").status == 404)
    #expect(!FileManager.default.fileExists(atPath: scratch.path("data/live/passing")))
    let waiting = try await place(second)
    #expect(waiting.last >= before.last && !waiting.isEnded)
    let again = LivePublisher.begin(url)
    #expect(try await waitUntil { try await place(second).last >= waiting.last + 4 })
    let after = try await place(second)
    #expect(after.sequence > before.sequence)
    #expect(after.discontinuities >= 1 && !after.isEnded)
    #expect(Set(after.segments).count == after.segments.count)
    let ended = try await second.ask("DELETE", "/v1/sessions/stage")
    #expect(ended.json["state"].string == "ended", "\(ended.text)")
    #expect(try await place(second).isEnded)
    _ = try await again.value

    let player = try await played
    #expect(player.status == 0, "\(player.errors)")
    // The player continues. Where the timestamps restart, ffmpeg's reader skips a segment or two.
    let all = shown + (ended.json["counters"]["framesOut"].int ?? 0)
    let frames = SignalTests.playedFrames(player.text)
    #expect(frames > shown && frames >= all - 60, "\(frames) of \(shown) and \(all)")
    let recordings = try FileManager.default.contentsOfDirectory(
      atPath: scratch.path("data/recordings/stage")
    ).filter { !$0.hasPrefix(".") }
    #expect(recordings.sorted() == ["take-2.mp4", "take.mp4"])
    for name in recordings {
      #expect(try await SignalTests.play(scratch.path("data/recordings/stage/\(name)")) > 30)
    }
    #expect(try await second.end(SIGTERM).status == 0)
  }

  @Test("Two services can't use one data folder")
  func two() async throws {
    let scratch = try Scratch()
    let first = try await ServiceProcess(scratch, sessions: [])
    await #expect(throws: ServiceProcess.Late.self) {
      try await ServiceProcess(scratch, sessions: [])
    }
    #expect(try await first.ask("GET", "/healthz").status == 200)
  }
}
