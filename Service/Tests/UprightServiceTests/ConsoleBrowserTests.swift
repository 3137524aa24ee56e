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
          [path, CommandLineProgram.path, scratch.folder.path], timeout: 600)
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
      #expect(result["scenes"]["turn"].object.count == 3, "\(result)")
      // The slate comes after two seconds without input.
      #expect(result["scenes"]["lose"]["slate"].double ?? 0 > 2, "\(result)")
    }

    /// `console_phone.py`: the publish page in a second context of the browser, with a camera.
    @Test(
      "A phone publishes by WHIP from the console's link and turns: the preview turns with it",
      .enabled(if: ExternalTool("janus").isHere, "needs janus"))
    func phone() async throws {
      guard let result = try await Self.play("console_phone.py") else { return }
      #expect(result["turns"].object.count == 3 && result["gravity"].double != nil, "\(result)")
    }
  }
}
