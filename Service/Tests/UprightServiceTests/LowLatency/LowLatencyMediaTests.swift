import Foundation
import UprightOrientation
import Synchronization
import Testing
import UprightServiceTestSupport

@testable import UprightService

/// Low latency with real media and players.
extension LivePublishing {
  @Suite("Low latency", .serialized)
  struct LowLatencyMediaTests {
    private static let rate = 25

    /// A service with a published session, whose frames show the wall clock or their number.
    private final class Stage: Sendable {
      let service: RunningService
      let publisher: Publisher
      let scratch: Scratch
      private let turned = Atomic(false)

      init(showsTime: Bool, seconds: Int) async throws {
        scratch = try Scratch()
        let port = try Loopback.freeTCPPort()
        service = try await RunningService(make: RunningService.liveSession)
        let address = try await service.session("stage", at: port, more: ", \"latency\": \"low\"")
        if showsTime {
          // One graph: ffmpeg reads two inputs on threads, eight frames ahead, so that frames would show an earlier time.
          publisher = try Publisher(
            [
              "-f", "lavfi", "-i",
              DrawnClock.source(PixelSize(320, 180), rate: rate, showsTime: true)
                + "[out0];sine=f=440:r=48000[out1]",
              "-c:a", "aac",
            ] + "-t \(seconds) -c:v libx264 -preset ultrafast -tune zerolatency -g 50 -bf 0".words,
            to: address)
        } else {
          let clip = scratch.path("clock.flv")
          try DrawnClock.clip(clip, seconds: seconds)
          publisher = try Publisher(clip: clip, to: address)
        }
        try #require(
          try await waitUntil {
            // With less, hls.js begins at the start of the stream and then seeks.
            try await self.service.ask("GET", "/live/stage/index.m3u8", token: nil).text
              .matches(of: /index-\d+\.m4s\n/).count >= 2
          }, "\(publisher.errors) \(service.log.lines.suffix(500))")
      }

      var url: String { "http://127.0.0.1:\(service.service.port ?? 0)/live/stage/index.m3u8" }

      /// Turns the phone to the other of two orientations.
      func turn() async throws {
        let isTurned = turned.exchange(true, ordering: .relaxed)
        if isTurned { turned.store(false, ordering: .relaxed) }
        _ = try await service.turn("stage", isTurned ? "portrait" : "landscapeLeft")
      }
    }

    /// What a reader that follows parts has seen.
    private struct Seen: Sendable {
      var parts: [String: [UInt8]] = [:]
      /// The parts of each complete segment.
      var segments: [String: [String]] = [:]
      var loads = 0
      var list: Playlist
    }

    /// Loads the playlist as a player with low latency does until it ends, with alternating delta updates, checks each
    /// against all rules, and loads all parts.
    private static func follow(_ service: RunningService) async throws -> Seen {
      var (whole, deltas) = (PlaylistChecker(), PlaylistChecker())
      let path = "/live/stage/index.m3u8"
      let first = try await service.ask("GET", path, token: nil).text
      var seen = Seen(list: try Playlist(text: first, checker: &whole))
      while !seen.list.isEnded {
        let next = seen.list.nextPart
        let query = "?_HLS_msn=\(next.segment)&_HLS_part=\(next.index)"
        let hint = seen.list.hint
        async let hinted = service.ask("GET", "/live/stage/\(hint ?? "none.m4s")", token: nil)
        let answer = try await service.ask("GET", path + query, token: nil)
        let part = try await hinted
        if let hint { #expect(part.status == 200, "\(hint)") }
        guard answer.status == 200 else {
          Issue.record("\(answer.status) \(answer.text)")
          break
        }
        seen.loads += 1
        if seen.loads % 4 == 0 {
          let delta = try await service.ask("GET", path + query + "&_HLS_skip=YES", token: nil)
          _ = try Playlist(text: delta.text, checker: &deltas)
        }
        seen.list = try Playlist(text: answer.text, checker: &whole)
        for file in seen.list.segments.flatMap(\.parts) + seen.list.openParts
        where seen.parts[file.file] == nil {
          let answer = try await service.ask("GET", "/live/stage/\(file.file)", token: nil)
          #expect(answer.status == 200 && !answer.body.isEmpty, "\(file.file)")
          seen.parts[file.file] = answer.body
        }
        for segment in seen.list.segments where !segment.parts.isEmpty {
          seen.segments[segment.file] = segment.parts.map(\.file)
        }
      }
      return seen
    }

    /// Also, segments have the bytes of their parts. Costs 12 seconds in `make test`, two minutes in `make check-slow`.
    @Test(
      "Parts over turns: all rules at every reload, and every frame in FFmpeg and GStreamer",
      .plays(.gstreamer))
    func parts() async throws {
      let turns = Loop.cases([2, 10], check: 1, test: 1).last ?? 2
      let stage = try await Stage(showsTime: false, seconds: 400)
      let (url, copy) = (stage.url, stage.scratch.path("copy.ts"))
      async let following = Self.follow(stage.service)
      async let copied = RunningService.onThread {
        try FFmpegTool.run(["-i", url, "-map", "0:v", "-c", "copy", copy])
      }
      async let played = RunningService.onThread {
        try Player.gstreamer.play([url, "--timeout", "140"])
      }
      for _ in 0..<turns {
        try await Task.sleep(for: .milliseconds(Loop.current == .slow ? 11_100 : 3100))
        try await stage.turn()
      }
      try await Task.sleep(for: .seconds(3))
      stage.publisher.kill()
      let ended = try await stage.service.ask("DELETE", "/v1/sessions/stage")
      #expect(ended.json["counters"]["dropped"].object.isEmpty, "\(ended.text)")
      let seen = try await following
      #expect(
        seen.list.isEnded && seen.list.discontinuities + seen.list.discontinuitySequence == turns)
      #expect(seen.loads > 20 * turns / 2, "\(seen.loads)")
      for segment in seen.list.segments {
        guard let names = seen.segments[segment.file] else { continue }
        let file = try await stage.service.ask("GET", "/live/stage/\(segment.file)", token: nil)
        #expect(names.flatMap { seen.parts[$0] ?? [] } == file.body, "\(segment.file)")
      }
      _ = try await copied
      try Self.check(try DrawnClock.read(copy), turns: turns)
      let (status, said) = try await played
      let (frames, times) = (said["frames"].int ?? 0, said["times"].array.compactMap(\.double))
      #expect(status == 0 && said["errors"].array.isEmpty && said["backwards"].int == 0, "\(said)")
      try #require(times.count == 2, "\(said)")
      #expect(said["sizes"].array.count == turns + 1, "\(said)")
      let expected = Int((Double(Self.rate) * (times[1] - times[0])).rounded()) + 1
      #expect(frames > Self.rate * turns && frames == expected, "\(said)")
      if turns < 5 {
        let (path, _) = try await stage.service.fetch("stage", into: stage.scratch)
        try Self.check(try DrawnClock.read(path), turns: turns)
      }
      try await stage.service.shutDown()
    }

    /// Checks that no frame is missing and that the frames change their shape as often as the phone turned. The last
    /// frame may be repeated.
    private static func check(_ frames: [DrawnClock.Reading], turns: Int) throws {
      let numbers = frames.compactMap(\.number)
      let last = try #require(numbers.last)
      let real = Array(numbers.prefix { $0 != last }) + [last]
      #expect(numbers.count == frames.count && real == Array(real[0]...last), "\(real)")
      #expect(zip(frames, frames.dropFirst()).count { $0.size != $1.size } == turns)
    }

    /// Costs 20 seconds in `make test`, two minutes in `make check-slow`.
    @Test(
      "hls.js plays parts over turns: it never starts anew, and waits for each playlist", .browser,
      .plays(.chromiumLatency),
      .enabled(if: Player.wheelOfHLSJS != nil, "needs hls.js: pip can't download gradio"),
      .tags(.alone))
    func hlsJS() async throws {
      let wheel = try #require(Player.wheelOfHLSJS)
      let isLong = Loop.current == .slow
      let (turns, seconds) = isLong ? (10, 110) : (2, 14)
      let stage = try await Stage(showsTime: true, seconds: seconds + 60)
      let url = stage.url
      // As docs/service.md recommends. Each turn costs Chromium a tenth of a second, which hls.js else never catches up.
      let options = ["--hls-js", wheel, "--catch-up", "1.5"]
      async let played = RunningService.onThread {
        try Player.chromiumLatency.play([url, "\(seconds)"] + options, timeout: 600)
      }
      for _ in 0..<turns {
        try await Task.sleep(for: .seconds(Double(seconds) / Double(turns + 1)))
        try await stage.turn()
      }
      let (status, said) = try await played
      let behind = said["latencies"].array.compactMap(\.double).sorted()
      try #require(status == 0 && !behind.isEmpty, "\(said)")
      let (median, p99) = (behind[behind.count / 2], behind[behind.count * 99 / 100])
      #expect(said["restarts"].int == 0, "\(said["events"])")
      #expect(said["sizes"].array.count == turns + 1, "\(said["sizes"])")
      // The first request for a playlist can't wait, nor the one after it if no segment was complete.
      let (loads, blocked) = (said["loads"].int ?? 0, said["blocked"].int ?? 0)
      #expect(loads > turns && blocked >= loads - 2, "\(blocked) of \(loads)")
      print(
        "hls.js \(said["version"].string ?? ""): median \(median) s, p99 \(p99) s behind, "
          + "\(said["stalls"].int ?? 0) stalls")
      stage.publisher.kill()
      try await stage.service.shutDown()
    }
  }
}
