import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightService

private let pythonWithPlaywright = ExternalTool(
  Fixtures.packageRoot.appendingPathComponent(".build/python/bin/python").path)

extension LivePublishing {
  @Suite(
    "The console in Chromium", .browser,
    .enabled(if: Player.chromium.isHere, "needs chromium"),
    .enabled(if: pythonWithPlaywright.isHere, "needs Playwright: run Scripts/python.sh"))
  struct ConsoleBrowserTests {
    /// Runs a script of `Tests/Players`. Returns what it printed, or `nil` if something is missing.
    private static func play(_ script: String) async throws -> JSON? {
      let scratch = try Scratch()
      let path = Fixtures.packageRoot.appendingPathComponent("Tests/Players/\(script)").path
      let outcome = try await RunningService.onThread {
        try pythonWithPlaywright.outcome(
          [path, CommandLineProgram.path, scratch.folder.path], timeout: 170)
      }
      if outcome.status == 77 {
        print("skipped: \(outcome.text)")
        return nil
      }
      let result = try JSONDecoder().decode(JSON.self, from: outcome.output)
      try #require(outcome.status == 0, "\(outcome.text) \(outcome.errors.suffix(2000))")
      print("\(script): \(outcome.text)")
      return result
    }

    /// `console_stage.py`, whose scenes check what a person sees.
    @Test(
      "Log in, turn the drawn phone, lock, focus, lose the input: the page shows each, and why, with the keyboard alone too"
    )
    func scenes() async throws {
      guard let result = try await Self.play("console_stage.py") else { return }
      // The preview shows a turn within one part and one second; some may be delayed by what else runs here.
      let turns = result["scenes"]["turn"].object.values.compactMap(\.double).sorted()
      try #require(turns.count == 3, "\(result)")
      #expect(turns[0] < 1.334 && turns[2] < 5, "\(result)")
      // The slate comes after two seconds without input.
      #expect(result["scenes"]["lose"]["slate"].double ?? 0 > 2, "\(result)")
    }

    /// `console_phone.py`: the publish page in a second context of the browser, with a camera.
    @Test(
      "A phone publishes by WHIP from the console's link and turns: the preview turns with it",
      .enabled(if: ExternalTool("janus").isHere, "needs janus"))
    func phone() async throws {
      guard let result = try await Self.play("console_phone.py") else { return }
      let turns = result["turns"].object
      #expect(turns.count == 3, "\(result)")
      // Through WebRTC, Janus and low latency HLS; the machine may run other tests.
      for (rotation, seconds) in turns {
        #expect(seconds.double ?? 99 < 4, "\(rotation): \(result)")
      }
      #expect(result["gravity"].double ?? 99 < 5, "\(result)")
    }
  }
}
