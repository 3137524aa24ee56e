import Testing
import UprightTestSupport

/// The samples are run as they are, and print what their documentation promises.
@Suite struct SampleTests {
  private func output(of sample: String) throws -> [Substring] {
    let program = Fixtures.buildFolder.appendingPathComponent(sample).path
    return try ExternalTool(program).run([]).text.split(separator: "\n")
  }

  @Test func `policy-only decides without video`() throws {
    #expect(
      try output(of: "policy-only") == [
        "3.2 s: rotate, the app is in landscapeRight",
        "5.0 s: refuse, the app is in landscapeRight",
        "7.5 s: rotate, the app is in portrait",
        "8.0 s: refuse, the app is in portrait",
        "from 0.0 s: encode 720x1280",
        "from 3.2 s: encode 1280x720",
        "from 7.5 s: encode 720x1280",
      ])
  }

  @Test func `frames-in-out turns a camera's frames into the caller's memory`() throws {
    #expect(
      try output(of: "frames-in-out") == [
        "frame 0: 720x1280, the stripe is right",
        "frame 60: 1280x720, the stripe is top",
        "at 2.0 s: rotate, the app is in landscapeRight",
      ])
  }
}
