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

    /// `console_edges.py`. Costs 40 seconds.
    @Test(
      "Names in every script, two editors of one policy, a session deleted while open, 200 sessions, a service that starts again"
    )
    func edges() async throws {
      guard let result = try await Self.play("console_edges.py") else { return }
      #expect(result["scenes"].object.count == 6, "\(result)")
      // Milliseconds for which the list of 200 does nothing else; the rest is for a busy machine.
      #expect(result["scenes"]["many"]["longest_ms"].double ?? 9999 < 1000, "\(result)")
    }

    /// `console_road.py`. Costs 40 seconds.
    @Test(
      "From an empty service to a downloaded recording, with the pointer and with the keyboard alone; what is copied publishes unchanged",
      .enabled(if: ExternalTool("janus").isHere, "needs janus"))
    func road() async throws {
      guard let result = try await Self.play("console_road.py") else { return }
      #expect(result["scenes"]["with_keys"]["all"].array.count == 2, "\(result)")
      #expect(Set(result["scenes"]["copied_fields"].object.keys) == ["srt", "srt-secret", "whip"])
    }

    /// `console_library.py`. Costs 15 seconds.
    @Test("A file of the library is found, plays upright, and is shown where one seeks")
    func library() async throws {
      guard let result = try await Self.play("console_library.py") else { return }
      #expect(result["scenes"].object.count == 4, "\(result)")
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
