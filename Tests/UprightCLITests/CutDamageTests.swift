import Foundation
import Testing
import UprightTestSupport

/// `--to` in a damaged file: damage before the end of the output is reported, damage after it isn't.
@Suite("Damage and --to", .long)
struct CutDamageTests {
  /// The damaged frame, of sixty at 25 per second. Each is a keyframe.
  private static let frame = 30

  /// Creates H.264 in which the slices of one frame are zeros or damaged.
  private static func clip(_ scratch: Scratch, _ name: String, isEmpty: Bool) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=128x64:r=25:d=2.4 -c:v libx264 -preset ultrafast -g 1", [path])
    let packet = try FFmpegTool.probe(path, ["-show_packets"])["packets"][frame]
    let start = try #require(packet["pos"].string.flatMap(Int.init))
    let size = try #require(packet["size"].string.flatMap(Int.init))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let spoilt = isEmpty ? start..<start + size : start + size / 4..<start + size / 2
    bytes.replaceSubrange(spoilt, with: Data(repeating: isEmpty ? 0 : 0x5A, count: spoilt.count))
    try bytes.write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test(
    "The damage is reported if the output includes the damaged frame, and refused with --strict",
    // A Matroska block of zeros can't be detected.
    arguments: [("mp4", false), ("mp4", true), ("mkv", false)])
  func cut(_ kind: String, _ isEmpty: Bool) throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, "clip.\(kind)", isEmpty: isEmpty)
    for (last, isDamaged) in [(20, false), (29, false), (30, true), (50, true)] {
      let output = scratch.path("out-\(last).mp4")
      let arguments = [
        "transcode", input, "-o", output, "-y", "--speed", "ultrafast", "--to",
        "\(Double(last + 1) / 25)",
      ]
      let run = try Upright.run(arguments + ["--report", scratch.path("r.json")])
      #expect(run.status == 0, "\(last): \(run.errors)")
      let warnings = try json(scratch.path("r.json"))["warnings"].array.compactMap(\.string)
      #expect(warnings.contains { $0.contains("damaged") } == isDamaged, "\(last): \(warnings)")
      #expect(warnings.count == (isDamaged ? 1 : 0), "\(last): \(warnings)")
      // A frame that can't be decoded is missing. A frame whose errors are concealed isn't.
      let missing = warnings.contains {
        $0.contains("could not be decoded") || $0.contains("no frame")
      }
      #expect(try frames(output) == last + 1 - (missing ? 1 : 0), "\(last): \(warnings)")
      let strict = try Upright.run(arguments + ["--strict"])
      #expect(strict.status == (isDamaged ? 65 : 0), "\(last): \(strict.errors)")
    }
  }

  @Test("Frames before the first keyframe are reported, wherever the end is")
  func noKeyframe() throws {
    let scratch = try Scratch()
    let (whole, input) = (scratch.path("whole.ts"), scratch.path("cut.ts"))
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=128x64:r=25:d=4 -c:v libx264 -preset ultrafast -g 25 -bf 0", [whole])
    let packets = try FFmpegTool.probe(whole, ["-show_packets"])["packets"].array
    let start = try #require(packets[10]["pos"].string.flatMap(Int.init))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    // The tables, followed by the stream from the eleventh frame on.
    try (bytes.prefix(3 * 188) + bytes.dropFirst(start)).write(to: URL(fileURLWithPath: input))
    for end in ["1", "2", "100"] {
      let run = try Upright.run([
        "transcode", input, "-o", scratch.path("out.mp4"), "-y", "--speed", "ultrafast", "--to",
        end,
      ])
      #expect(run.status == 0, "\(run.errors)")
      #expect(
        run.warnings.contains { $0.contains("packets gave no frame") }, "\(end): \(run.errors)")
    }
  }
}
