import Foundation
import Testing
import UprightTestSupport

@Suite("Upright in another program")
struct EmbeddingTests {
  private static func host(_ mode: String) throws -> (lines: [Substring], errors: String) {
    let scratch = try Scratch()
    let program = Fixtures.buildFolder.appendingPathComponent("UprightEmbeddingHost").path
    let run = try ExternalTool(program).run([mode, Samples.displayMatrix, scratch.folder.path])
    return (run.text.split(separator: "\n"), run.errors)
  }

  /// What each run prints: the whole file, one without its index, and one that isn't there.
  private static let files = [
    "whole.mp4: 60 frames",
    "of-damaged.mp4: badData, -1094995529 Invalid data found when processing input: "
      + "not a readable media file: no index (moov); it may be truncated",
    "of-missing.mp4: noInput, -2 No such file or directory: no such file",
  ]

  @Test("The host's log callback, signal handlers and environment stay as they are")
  func ownCallback() throws {
    let (lines, errors) = try Self.host("own")
    #expect(lines.prefix(3).map(String.init) == Self.files)
    #expect(
      lines.dropFirst(3) == [
        "of-address.mp4: noInput, -111 Connection refused: cannot be read: Connection refused",
        "log callback: the host's", "changed: nothing",
      ])
    #expect(errors.isEmpty)
  }

  @Test("Without a log callback, nothing is printed: not by the encoder, not about a damaged file")
  func noCallback() throws {
    let (lines, errors) = try Self.host("none")
    #expect(lines.map(String.init) == Self.files + ["changed: nothing"])
    #expect(errors.isEmpty, "\(errors)")
  }

  @Test(
    "A host that asks for messages gets them all, and errors have the last one in their message")
  func sink() throws {
    let (lines, errors) = try Self.host("sink")
    #expect(lines.first.map(String.init) == Self.files[0])
    let refused = try #require(lines.first { $0.hasPrefix("of-address.mp4") })
    #expect(refused.contains("Connection refused (Connection to tcp://127.0.0.1:1"))
    #expect(lines.suffix(2) == ["sink: called", "changed: nothing"])
    #expect(errors.isEmpty, "\(errors)")
  }

  // 2 s: 300 frames.
  @Test("The sample transcode-async prints nothing to standard error", .long)
  func silentSample() throws {
    let scratch = try Scratch()
    let program = Fixtures.buildFolder.appendingPathComponent("transcode-async").path
    let run = try ExternalTool(program).run([
      Samples.turning, Samples.path("turning-sensor.jsonl"), scratch.path("out.m3u8"),
    ])
    #expect(run.errors.isEmpty, "\(run.errors)")
  }
}
