import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

extension LiveServiceMedia {
  /// Every kind of input from another program, from the POST to the decoded frames.
  @Suite("Inputs")
  struct LiveInputServiceTests {
    /// Checks that every frame has the orientation and size that it was sent with, and that the times increase.
    private func expectUpright(_ shown: DecodedFrames, atLeast count: Int) {
      #expect(shown.times.count >= count, "\(shown.times.count)")
      #expect(shown.corners.allSatisfy { $0 == "tl" }, "\(shown.corners)")
      #expect(shown.sizes.allSatisfy { $0 == PixelSize(160, 90) })
      #expect(shown.shortestStep > 0)
    }

    @Test("SRT listener: listens before the response is sent; an event rotates in the middle")
    func srtListener() async throws {
      let port = try Loopback.freePort()
      let trial = try await LiveServiceFixture(
        "{\"url\": \"srt://127.0.0.1:\(port)\"}", frames: .sensor(.init()))
      // The port is bound when the response arrives, without waiting.
      #expect(Loopback.isReceived(port))
      let sender = try sending(seconds: 6, ["-f", "mpegts", "srt://127.0.0.1:\(port)"])
      try await trial.shows(2)
      let turned = try await trial.service.ask(
        "POST", "/v1/sessions/trial/events", "{\"device\": \"landscapeLeft\"}")
      #expect(turned.json["decisions"][0]["decision"].string == "rotate", "\(turned.text)")
      try await trial.shows(3.5)
      _ = sender
      let shown = try await trial.playedFrames()
      let first = try #require(shown.corners.firstIndex(of: "tl"))
      // Frames of a back camera are rotated a quarter turn clockwise in portrait, and not in landscapeLeft.
      #expect(shown.times[first] > 1.9, "\(shown.times)")
      #expect(shown.corners[..<first].allSatisfy { $0 == "tr" }, "\(shown.corners)")
      #expect(shown.corners[first...].allSatisfy { $0 == "tl" }, "\(shown.corners)")
      #expect(shown.sizes[..<first].allSatisfy { $0 == PixelSize(90, 160) })
      #expect(shown.sizes[first...].allSatisfy { $0 == PixelSize(160, 90) })
    }

    @Test("SRT: a second caller is accepted after the first has disconnected")
    func srtSecondCaller() async throws {
      let port = try Loopback.freePort()
      let trial = try await LiveServiceFixture("{\"url\": \"srt://localhost:\(port)\"}")
      let target = ["-f", "mpegts", "srt://127.0.0.1:\(port)"]
      let first = try sending(seconds: 2, target)
      try await trial.shows(1)
      _ = try await RunningService.onThread { first.wait(seconds: 60) }
      #expect(try await waitUntil { try await trial.json["state"].string == "inputLost" })
      #expect(try await waitUntil { Loopback.isReceived(port) })
      let second = try sending(seconds: 3, target)
      #expect(try await waitUntil { try await trial.json["state"].string == "live" })
      _ = second
      expectUpright(try await trial.playedFrames(), atLeast: 40)
    }

    @Test(
      "The POST reports a port in use, and no session remains",
      arguments: ["srt", "udp", "sdp"])
    func takenPort(_ scheme: String) async throws {
      let service = try await RunningService(make: LiveServiceFixture.make(.metadata))
      let taken = try Loopback.Bound()
      func input(_ port: UInt16) -> String {
        scheme == "sdp"
          ? "{\"sdp\": \"v=0\\nc=IN IP4 127.0.0.1\\nm=video \(port) RTP/AVP 96\\na=rtpmap:96 H264/90000\"}"
          : "{\"url\": \"\(scheme)://127.0.0.1:\(port)\"}"
      }
      let refused = try await service.session("one", input: input(taken.port))
      #expect(refused.status == 409, "\(refused.text)")
      #expect(refused.json["detail"].string?.contains("Address already in use") == true)
      #expect(refused.json["detail"].string?.contains("\(taken.port)") == true)
      #expect(try await service.ask("GET", "/v1/sessions/one").status == 404)
      // Sessions of the service use ports as well.
      let port = try Loopback.freePort()
      #expect(try await service.session("two", input: input(port)).status == 201)
      #expect(Loopback.isReceived(port))
      #expect(try await service.session("three", input: input(port)).status == 409)
      #expect(try await service.ask("DELETE", "/v1/sessions/two").status == 200)
      // They release them when they end.
      #expect(try await waitUntil { !Loopback.isReceived(port) })
      #expect(try await service.session("four", input: input(port)).status == 201)
      try await service.shutDown()
    }

    @Test("A listener may bind to 0.0.0.0, but 0.0.0.0 isn't an address to connect to")
    func everyAddress() async throws {
      let service = try await RunningService(make: LiveServiceFixture.make(.metadata))
      for scheme in ["srt", "udp"] {
        let port = try Loopback.freePort()
        let made = try await service.session(
          scheme, input: "{\"url\": \"\(scheme)://0.0.0.0:\(port)\"}")
        #expect(made.status == 201, "\(made.text)")
        let table = try String(contentsOfFile: "/proc/net/udp", encoding: .utf8)
        #expect(table.contains(String(format: "00000000:%04X", port)))
      }
      for input in ["srt://0.0.0.0:9", "rtmp://0.0.0.0/live/one"] {
        let refused = try await service.session(
          "pulled", input: "{\"url\": \"\(input)\", \"mode\": \"pull\"}")
        #expect(refused.status == 422, "\(refused.text)")
      }
      // A udp input must be an address of this machine, and a listener can't have mode=caller.
      for url in ["udp://192.0.2.77:5000", "srt://127.0.0.1:9000?mode=caller"] {
        let refused = try await service.session("other", input: "{\"url\": \"\(url)\"}")
        #expect(refused.status == 422, "\(refused.text)")
      }
      try await service.shutDown()
    }

    @Test("SRT caller")
    func srtCaller() async throws {
      let port = try Loopback.freePort()
      let sender = try sending(
        seconds: 5, ["-f", "mpegts", "srt://127.0.0.1:\(port)?mode=listener"])
      let trial = try await LiveServiceFixture(
        "{\"url\": \"srt://127.0.0.1:\(port)\", \"mode\": \"pull\"}")
      try await trial.shows(2)
      _ = sender
      expectUpright(try await trial.playedFrames(), atLeast: 30)
    }

    @Test("MPEG-TS over UDP, received on the given address only")
    func udp() async throws {
      let port = try Loopback.freePort()
      let trial = try await LiveServiceFixture("{\"url\": \"udp://127.0.0.1:\(port)\"}")
      let table = try String(contentsOfFile: "/proc/net/udp", encoding: .utf8)
      #expect(table.contains(String(format: "0100007F:%04X", port)))
      let sender = try sending(
        seconds: 5, ["-f", "mpegts", "udp://127.0.0.1:\(port)?pkt_size=1316"])
      try await trial.shows(2)
      _ = sender
      expectUpright(try await trial.playedFrames(), atLeast: 30)
    }

    /// Debian's Python, which finds GStreamer's modules if they are installed.
    private static let python = ExternalTool("/usr/bin/python3")
    private static let hasServer =
      (try? python.run(["-c", "import gi; gi.require_version('GstRtspServer', '1.0')"])) != nil

    @Test(
      "RTSP, from GStreamer's server",
      .enabled(if: hasServer, "needs python3-gi and gir1.2-gst-rtsp-server-1.0"))
    func rtsp() async throws {
      let scratch = try Scratch()
      let clip = scratch.path("clip.mp4")
      try FFmpegTool.run(
        ["-f", "lavfi", "-i", DecodedFrames.source]
          + "-t 8 -c:v libx264 -preset ultrafast -g 15 -bf 0".words
          + [clip])
      let port = try Loopback.freeTCPPort()
      let script = Fixtures.packageRoot.appendingPathComponent("Tests/Players/rtsp_server.py")
        .path
      let server = try RunningProgram(Self.python, [script, clip, "\(port)"])
      _ = try await waitUntil { server.said.contains("ready") || server.exitCode != nil }
      try #require(server.exitCode == nil, "\(server.said)")
      let trial = try await LiveServiceFixture("{\"url\": \"rtsp://127.0.0.1:\(port)/clip\"}")
      try await trial.shows(2)
      expectUpright(try await trial.playedFrames(), atLeast: 30)
    }

    @Test("A file is read in real time and rotated by its metadata, then the session ends")
    func file() async throws {
      let begun = ContinuousClock.now
      let trial = try await LiveServiceFixture("{\"url\": \"file:clip.mp4\"}") { service in
        let path = service.scratch.path("data/clip.mp4")
        let plain = service.scratch.path("plain.mp4")
        try FFmpegTool.run(
          ["-f", "lavfi", "-i", DecodedFrames.source]
            + "-t 3 -c:v libx264 -preset ultrafast -g 15 -bf 0".words
            + [plain])
        // FFmpeg's "rotate" is counter-clockwise here: the frames must be rotated clockwise.
        try FFmpegTool.run(["-i", plain, "-c", "copy", "-metadata:s:v", "rotate=270", path])
      }
      #expect(try await waitUntil { try await trial.json["state"].string == "ended" })
      #expect(ContinuousClock.now - begun > .seconds(2.9))
      let shown = try await trial.service.playedFrames("trial")
      let dropped = try await trial.json["counters"]["dropped"]
      let left = ["late", "queue"].reduce(0) { $0 + (dropped[$1].int ?? 0) }
      #expect(shown.times.count + left == 90, "\(shown.times.count)")
      #expect(shown.sizes.allSatisfy { $0 == PixelSize(90, 160) })
      #expect(Set(shown.corners).count == 1 && shown.corners[0] == "tr", "\(shown.corners)")
      try await trial.service.shutDown()
    }

    @Test("HLS over HTTP from an allowed host", .enabled(if: ExternalTool("python3").isHere))
    func hls() async throws {
      let scratch = try Scratch()
      let port = try Loopback.freeTCPPort()
      let server = try RunningProgram(
        ExternalTool("python3"),
        ["-m", "http.server", "--bind", "127.0.0.1", "-d", scratch.folder.path, "\(port)"])
      let sender = try sending(
        seconds: 20,
        ["-f", "hls", "-hls_time", "1", "-hls_flags", "delete_segments", scratch.path("cam.m3u8")])
      #expect(
        try await waitUntil { FileManager.default.fileExists(atPath: scratch.path("cam.m3u8")) })
      let trial = try await LiveServiceFixture(
        "{\"url\": \"http://127.0.0.1:\(port)/cam.m3u8?viewer=1\"}", allowHosts: ["127.0.0.1"])
      try await trial.shows(3)
      _ = (server, sender)
      expectUpright(try await trial.playedFrames(), atLeast: 45)
    }
  }
}
