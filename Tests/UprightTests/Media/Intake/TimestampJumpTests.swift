import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightMedia
@testable import UprightMediaIO

/// Jumps in timestamps: damaged times are repaired, pauses keep their length, and clocks that are set back
/// are continued.
@Suite struct TimestampJumpTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let times: [Int64]
    let expected: [Int64]
    var repairs = 0
  }

  /// Repairs doubtful frames like SourceStage. Times are in milliseconds, at 25 frames per second.
  private static func repaired(_ times: [Int64]) throws -> (pts: [Int64], repairs: Int) {
    var repair = TimestampRepair(timeBase: Rational(1, 1000), frameRate: Rational(25, 1))
    var out: [Int64] = []
    for (index, time) in times.enumerated() {
      var frame = try VideoFrame()
      frame.pts = time
      frame.duration = 40
      let isDoubtful = repair.isDoubtful(frame)
      repair.repair(&frame, next: isDoubtful && index + 1 < times.count ? times[index + 1] : nil)
      let pts = frame.pts
      out.append(try #require(pts))
    }
    return (out, repair.repairs)
  }

  @Test(
    "One frame of lookahead distinguishes damage from a pause",
    arguments: [
      Case(testDescription: "nothing wrong", times: [0, 40, 80, 120], expected: [0, 40, 80, 120]),
      Case(
        testDescription: "a jump ahead and back", times: [0, 40, 9_000_000, 120, 160],
        expected: [0, 40, 80, 120, 160], repairs: 1),
      Case(
        testDescription: "a small jump ahead and back", times: [0, 40, 180, 120, 160],
        expected: [0, 40, 80, 120, 160], repairs: 1),
      Case(
        testDescription: "minutes without a frame",
        times: [0, 40, 240_040, 240_080, 600_000, 600_040],
        expected: [0, 40, 240_040, 240_080, 600_000, 600_040]),
      Case(
        testDescription: "a pause, then a frame each minute",
        times: [0, 60_000, 120_000, 121_000, 180_000],
        expected: [0, 60_000, 120_000, 121_000, 180_000]),
      Case(
        testDescription: "a damaged first time", times: [5_000_000, 40, 80, 120],
        expected: [0, 40, 80, 120], repairs: 1),
      Case(
        testDescription: "a last time far ahead is kept", times: [0, 40, 70_000],
        expected: [0, 40, 70_000]),
      Case(
        testDescription: "a time before the previous one", times: [0, 40, 80, 20, 120],
        expected: [0, 40, 80, 81, 120], repairs: 1),
      Case(
        testDescription: "no time left between", times: [0, 40, 5000, 41, 81],
        expected: [0, 40, 5000, 5001, 5002], repairs: 2),
    ])
  func leaps(_ test: Case) throws {
    let result = try Self.repaired(test.times)
    #expect(result.pts == test.expected)
    #expect(result.repairs == test.repairs)
  }

  @Test("For any input, output times increase and nothing traps")
  func hostile() throws {
    var random = SeededGenerator(seed: 7)
    let extremes: [Int64] = [.max, .min + 1, 1 << 60, -(1 << 60), 0, 1, -1, 1 << 33]
    for _ in 0..<200 {
      let times = (0..<12).map { _ in
        Bool.random(using: &random)
          ? extremes.randomElement(using: &random) ?? 0
          : Int64.random(in: -500...500, using: &random)
      }
      let pts = try Self.repaired(times).pts
      #expect(zip(pts, pts.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
    }
  }

  // MARK: - Broadcast clocks

  /// Encodes an MPEG-TS of `seconds` with a tone, whose clock begins at `start`.
  private static func piece(
    _ scratch: Scratch, _ name: String, at start: Double, seconds: Double = 1
  )
    throws -> Data
  {
    let path = scratch.path(name)
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=\(seconds)", "-f", "lavfi", "-i",
      "sine=f=440:r=48000:d=\(seconds)", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2",
      "-c:a", "aac", "-output_ts_offset", "\(start)", path,
    ])
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test("A clock that is set back is continued", .long, .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
  func setBack() throws {
    let scratch = try Scratch()
    let input = scratch.path("joined.ts")
    try
      (Self.piece(scratch, "a.ts", at: 500) + Self.piece(scratch, "b.ts", at: 20)
      + Self.piece(scratch, "c.ts", at: 300))
      .write(to: URL(fileURLWithPath: input))
    let run = try Transcoded(input, to: scratch.path("out.mp4")) { $0.quick() }
    #expect(run.result.output.frames == 75)
    let frames = try FFmpegTool.frames(run.path).compactMap(\.time)
    #expect(frames.count == 75)
    // Two joins. One goes back. The other goes far ahead and is kept, because it could be a pause.
    let first = Array(frames[0..<50])
    #expect(first[0] < 0.2)
    #expect(
      zip(first, first.dropFirst()).allSatisfy { $1 - $0 > 0.015 && $1 - $0 < 0.12 }, "\(first)")
    #expect(frames[50] - frames[49] > 200)
    let audio = try FFmpegTool.packets(run.path, "a:0").compactMap(\.time)
    let theirs = try FFmpegTool.packets(input, "a:0").count
    #expect(audio.count == theirs)
    let early = audio.filter { $0 < 100 }
    #expect(zip(early, early.dropFirst()).allSatisfy { $1 - $0 < 0.12 }, "\(early)")
    // Audio and video of the second part are in sync.
    #expect(abs((early.last ?? 0) - first[49]) < 0.15)
    let late = audio.filter { $0 > 100 }
    #expect(abs((late.first ?? 0) - frames[50]) < 0.15)
  }

  @Test(
    "MPEG-TS with any start time begins at zero in the output, with audio in sync", .long,
    .enabled(if: Needs.ffmpeg, "needs ffmpeg"), arguments: ["out.mp4", "out.mkv"])
  func zero(_ name: String) throws {
    let scratch = try Scratch()
    let input = scratch.path("late.ts")
    try Self.piece(scratch, "a.ts", at: 4321).write(to: URL(fileURLWithPath: input))
    let run = try Transcoded(input, to: scratch.path(name)) { $0.quick() }
    let before = try FFmpegTool.frames(input).compactMap(\.time)
    let after = try FFmpegTool.frames(run.path).compactMap(\.time)
    #expect(after.count == 25 && after[0] < 0.1)
    let shift = after[0] - before[0]
    let grain = name == "out.mkv" ? 0.0011 : 2e-5
    #expect(zip(before, after).allSatisfy { abs($1 - $0 - shift) < grain })
    let audio = try FFmpegTool.packets(input, "a:0").compactMap(\.time)
    let heard = try FFmpegTool.packets(run.path, "a:0").compactMap(\.time)
    #expect(audio.count == heard.count)
    #expect(abs((heard.first ?? 0) - (audio.first ?? 0) - shift) < 0.0022)
  }
}
