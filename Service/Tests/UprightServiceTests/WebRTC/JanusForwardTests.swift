import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

extension LiveServiceMedia {
  /// A call in a VideoRoom with the unmodified `Samples/live/janus_forward.py`. Chromium's WebRTC sends and
  /// Janus forwards; Upright only receives.
  @Suite(
    "Janus forwarding RTP", .slow("Janus forwards a browser's call"),
    .enabled(
      if: ExternalTool("janus").isHere && ExternalTool("chromium").isHere
        && ExternalTool("python3").isHere, "needs janus, chromium and python3"))
  struct JanusForwardTests {
    @Test("Every frame is upright, however the phone was turned", arguments: ["h264", "vp8"])
    func call(_ codec: String) async throws {
      let service = try await RunningService(make: LiveServiceFixture.make(.metadata))
      let root = Fixtures.packageRoot
      let python = ExternalTool("python3")
      let call = try RunningProgram(
        python,
        [
          root.appendingPathComponent("Tests/Players/janus_record.py").path,
          service.scratch.path("call"), "--room", "1234", "--seconds", "12", "--codec", codec,
        ])
      let isReady = try await waitUntil { call.said.contains("\n") || call.exitCode != nil }
      // The script exits with 77 if the machine has no network for the call.
      if call.exitCode == 77 { return print("skipped: \(call.said)") }
      let line = Data(call.said.prefix { $0 != "\n" }.utf8)
      let said = try JSONDecoder().decode(JSON.self, from: line)
      let janus = try #require(said["janus"].string, "\(isReady) \(call.said)")
      let forwarder = try RunningProgram(
        python,
        [
          root.appendingPathComponent("Samples/live/janus_forward.py").path, "1234", "--codec",
          codec,
          "--orientation-id", "\(said["orientation"].int ?? 0)",
        ],
        environment: [
          "JANUS_URL": janus, "UPRIGHT_TOKEN": RunningService.token,
          "UPRIGHT_URL": "http://127.0.0.1:\(service.service.port ?? 0)",
        ])
      let isLive = try await waitUntil {
        try await service.ask("GET", "/v1/sessions").json["sessions"][0]["state"].string == "live"
      }
      #expect(isLive, "\(call.said) \(forwarder.said) \(service.log.lines.suffix(2000))")
      _ = try await RunningService.onThread { call.wait(seconds: 90) }
      let hasEnded = try await waitUntil {
        try await service.ask("GET", "/v1/sessions").json["sessions"][0]["state"].string == "ended"
      }
      #expect(hasEnded, "\(call.said) \(forwarder.said) \(service.log.lines.suffix(2000))")
      let session = try await service.ask("GET", "/v1/sessions").json["sessions"][0]
      try await expectUpright(service, session["id"].string ?? "")
      forwarder.end()
      try await service.shutDown()
    }

    /// Checks that red is above green in every frame, in canvases of both shapes.
    private func expectUpright(_ service: RunningService, _ id: String) async throws {
      let (port, scratch) = (service.service.port ?? 0, service.scratch)
      let (sizes, pixels) = try await RunningService.onThread {
        let url = "http://127.0.0.1:\(port)/live/\(id)/index.m3u8"
        let file = scratch.path("halves.rgb")
        try FFmpegTool.run(
          ["-i", url, "-fps_mode", "passthrough", "-vf", "scale=1:2:flags=area,format=rgb24"]
            + ["-f", "rawvideo", file])
        let sizes = try FFmpegTool.frames(url).map { PixelSize($0.width, $0.height) }
        return (sizes, [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))))
      }
      #expect(Set(sizes) == [PixelSize(160, 90), PixelSize(90, 160)])
      #expect(sizes.count > 60 && pixels.count == sizes.count * 6, "\(sizes.count)")
      for frame in stride(from: 0, to: pixels.count - 5, by: 6) {
        let (above, below) = (pixels[frame..<frame + 3], pixels[frame + 3..<frame + 6])
        let isUpright =
          above[frame] > 2 * above[frame + 1] + 20 && below[frame + 4] > 2 * below[frame + 3] + 20
        #expect(isUpright, "frame \(frame / 6): \(Array(above)) over \(Array(below))")
      }
    }
  }
}
