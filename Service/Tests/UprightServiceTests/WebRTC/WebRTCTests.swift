import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

extension LiveServiceMedia {
  /// Real WebRTC: ICE, DTLS and SRTP between a publisher and Janus, in a network namespace.
  @Suite("WHIP through Janus", .enabled(if: ExternalTool("janus").isHere, "needs janus"))
  struct WebRTCTests {
    private static let python = ExternalTool("/usr/bin/python3")
    private static let hasAiortc = FileManager.default.fileExists(
      atPath: "/usr/lib/python3/dist-packages/aiortc")

    /// Runs `webrtc_stage.py`. Returns what it printed, or `nil` if something is missing.
    private static func stage(_ scratch: Scratch, _ arguments: String) async throws -> JSON? {
      let script = Fixtures.packageRoot.appendingPathComponent("Tests/Players/webrtc_stage.py").path
      let outcome = try await RunningService.onThread {
        try python.outcome(
          [script, CommandLineProgram.path, scratch.path("data")] + arguments.words, timeout: 600)
      }
      if outcome.status == 77 {
        print("skipped: \(outcome.text)")
        return nil
      }
      let result = try JSONDecoder().decode(JSON.self, from: outcome.output)
      try #require(outcome.status == 0, "\(outcome.text) \(outcome.errors.suffix(2000))")
      return result
    }

    /// Decodes an output of the session, by default the recording that has each frame.
    private static func call(
      _ scratch: Scratch, _ output: String = "recordings/cam/take.ts"
    ) async throws -> ReceivedCall {
      try await RunningService.onThread {
        try ReceivedCall(scratch.path("data/" + output), scratch)
      }
    }

    @Test(
      "A publisher leaves, another comes back in another codec; a second one at a time gets 409",
      .enabled(if: hasAiortc, "needs python3-aiortc"))
    func comesBack() async throws {
      let scratch = try Scratch()
      guard
        let result = try await Self.stage(
          scratch, "--codec h264 --second vp8 --seconds 5 --rotations 0,90,270")
      else { return }
      #expect(result["conflict"].int == 409)
      #expect(result["rooms"].array.map(\.int) == [1, 0], "\(result)")
      #expect(result["session"]["state"].string == "ended")
      let states = result["states"].array.map { $0[1].string }
      #expect(
        states == ["waiting", "live", "inputLost", "live", "inputLost", "ended"], "\(result)")
      let counters = result["session"]["counters"]
      let sent = result["rotations"].ints
      #expect(counters["framesIn"].int ?? 0 >= sent.count - 8, "\(result)")
      try await Self.call(scratch).expectUpright(sent, missing: 8)
    }

    @Test(
      "Janus is killed and restarted: the input is lost, and back soon after the publisher's return",
      .enabled(if: hasAiortc, "needs python3-aiortc"))
    func restarts() async throws {
      let scratch = try Scratch()
      guard
        let result = try await Self.stage(
          scratch, "--codec vp8 --second h264 --seconds 4 --rotations 90 --restart")
      else { return }
      #expect(result["away"].int == 503, "\(result)")
      #expect(result["rooms"].array.map(\.int) == [1, 0], "\(result)")
      let sent = result["rotations"].ints
      // While Janus is away, the publisher goes on.
      try await Self.call(scratch).expectUpright(sent, missing: sent.count / 4)
    }

    @Test(
      "A front camera's mirrored frames are flipped back",
      .enabled(if: hasAiortc, "needs python3-aiortc"))
    func mirrored() async throws {
      let scratch = try Scratch()
      guard
        let result = try await Self.stage(
          scratch,
          "--codec vp8 --seconds 4 --rotations 0,90,180,270 --mirrored --loss 2 --jitter 20")
      else { return }
      // A mirrored number can't be read.
      try await Self.call(scratch).expectUpright(
        result["rotations"].ints, missing: 8, damaged: 2)
    }

    private static let conditions = [
      ("h264", 0), ("vp8", 0), ("vp9", 0), ("h264", 5), ("vp8", 5),
    ]

    @Test(
      "Chromium publishes and turns ten times: every frame is upright at its frame, in every output",
      .slow("a browser's WebRTC"), .enabled(if: ExternalTool("chromium").isHere, "needs chromium"),
      .tags(.alone), arguments: conditions)
    func browser(_ codec: String, _ loss: Int) async throws {
      let scratch = try Scratch()
      let turns = "0,90,180,270,0,270,180,90,0,90,270"
      guard
        let result = try await Self.stage(
          scratch,
          "--client chromium --codec \(codec) --seconds 22 --rotations \(turns) --all-outputs"
            + " --loss \(loss) --jitter \(loss * 6)\(codec == "vp9" ? " --restart-ice" : "")")
      else { return }
      let sent = result["rotations"].ints
      #expect(result["rooms"].ints == [0], "\(result)")
      #expect(codec != "vp9" || result["restarted"].bool == true, "\(result)")
      #expect(loss == 0 || result["lost"].int ?? 0 > 20, "\(result)")
      // Some are lost while ICE restarts.
      let missing = loss == 0 && codec != "vp9" ? 8 : sent.count / 10
      for output in [
        "recordings/cam/take.ts", "recordings/cam/take.mp4", "live/cam/index.m3u8", "rtmp.flv",
      ] {
        let call = try await Self.call(scratch, output)
        // HLS has the last segments only.
        let isWhole = !output.hasPrefix("live")
        call.expectUpright(sent, missing: isWhole ? missing : sent.count, damaged: loss)
        let distances = call.distances(result["flashes"].ints)
        #expect(distances.count >= (isWhole ? 14 : 2), "\(output): \(distances)")
        #expect(distances.allSatisfy { abs($0) <= 0.045 }, "\(output): \(distances)")
        let milliseconds = distances.map { Int(($0 * 1000).rounded()) }
        print(
          "\(codec), loss \(loss) %, \(output): \(call.frames.count) frames of \(sent.count), "
            + "audio after video: \(milliseconds) ms")
      }
    }

    /// The unmodified `Samples/live/webrtc/run.sh`.
    @Test(
      "Behind nginx with TLS, the sample prints a link whose page opens and whose code works once",
      .enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
          && ExternalTool("openssl").isHere, "needs nginx and openssl"))
    func sample() async throws {
      let script = Fixtures.packageRoot.appendingPathComponent("Samples/live/webrtc/run.sh").path
      let secure = try Loopback.freeTCPPort()
      let demo = try RunningProgram(
        ExternalTool("bash"), [script],
        environment: [
          "UPRIGHT": CommandLineProgram.path, "HOST": "127.0.0.1", "HTTPS_PORT": "\(secure)",
          "HTTP_PORT": "\(try Loopback.freeTCPPort())",
          "JANUS_PORT": "\(try Loopback.freeTCPPort())",
        ])
      try #require(
        try await waitUntil { demo.said.contains("webrtc: UPRIGHT_TOKEN") || demo.exitCode != nil },
        "\(demo.said)")
      try #require(demo.exitCode == nil, "\(demo.said)")
      let client = """
        import json, ssl, sys, urllib.request
        trust = ssl._create_unverified_context()
        base, code = sys.argv[1].split("#")
        page = urllib.request.urlopen(base, context=trust)
        print(page.headers["Content-Security-Policy"])
        for part in ("style.css", "publish.js"):
            urllib.request.urlopen(base.rsplit("/", 2)[0] + "/console/" + part, context=trust).read()
        for turn in range(2):
            request = urllib.request.Request(base, method="POST", headers={"Authorization": "Bearer " + code})
            try: print(len(json.load(urllib.request.urlopen(request, context=trust))["token"]))
            except urllib.error.HTTPError as error: print(error.code)
        """
      let link = try #require(demo.said.split(separator: " ").first { $0.hasPrefix("https://") })
      let outcome = try await RunningService.onThread {
        try Self.python.outcome(["-c", client, String(link)], timeout: 60)
      }
      let lines = outcome.text.split(separator: "\n")
      #expect(lines.count == 3 && lines[0].contains("script-src 'self'"), "\(outcome)")
      #expect(lines.dropFirst() == ["43", "401"], "\(outcome.text)")
      #expect(try await RunningService.onThread { demo.end() } == 143, "\(demo.said)")
    }
  }
}
