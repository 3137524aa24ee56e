import Foundation
import Testing
import UprightOrientation
import UprightMedia
import UprightPolicy
import UprightTestSupport

@testable import UprightFiles

/// Inputs whose timestamps step back are encoded in one piece: the order of their times isn't the order of their
/// frames. 9 s together.
@Suite("Times that step back", .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct StepBackTests {
  struct Case: CustomTestStringConvertible, Sendable {
    /// The container, and so where times are: `flv` or `mkv`.
    var container = "flv"
    /// The first frame in file order that is earlier. There is a keyframe each 25 frames.
    var frame = 50
    /// In milliseconds. A frame is 40 long.
    var step = 1000
    var bFrames = 0
    var codec = "libx264 -preset ultrafast"

    var testDescription: String {
      "\(container), \(step) ms at frame \(frame), \(bFrames) B-frames, \(codec.prefix(10))"
    }
  }

  static let cases = [
    Case(), Case(frame: 37), Case(frame: 37, step: 240),
    Case(bFrames: 2), Case(frame: 38, bFrames: 2), Case(frame: 60, step: 120, bFrames: 3),
    Case(frame: 25, step: 5000), Case(container: "mkv"), Case(container: "mkv", bFrames: 2),
    Case(container: "mkv", step: 320), Case(container: "mkv", frame: 75, step: 2600),
    Case(container: "mkv", codec: "libvpx-vp9 -cpu-used 8 -deadline realtime"),
  ]

  /// A hundred frames, a GOP and a cluster each second.
  private static func source(_ test: Case, _ scratch: Scratch, steps: Bool = true) throws -> String
  {
    let path = scratch.path("source.\(test.container)")
    try FFmpegTool.run(
      """
      -f lavfi -i testsrc2=s=64x48:r=25:d=4 -pix_fmt yuv420p -c:v \(test.codec) -bf \(test.bFrames) -g 25 \
      -keyint_min 25 -sc_threshold 0 -cluster_time_limit 990 -write_crc32 0
      """, [path])
    guard steps else { return path }
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    if test.container == "flv" {
      var (position, frame) = (13, 0)
      while position + 15 <= bytes.count {
        let size = bytes[position + 1...position + 3].reduce(0) { $0 << 8 | Int($1) }
        if bytes[position] == 9, bytes[position + 12] == 1 {
          if frame >= test.frame { Self.lower(&bytes, position + 4..<position + 7, by: test.step) }
          frame += 1
        }
        position += size + 15
      }
    } else {
      // Each Cluster begins with its Timestamp (RFC 9559, 5.1.3.1).
      var cluster = 0
      for index in 0..<bytes.count - 16 where bytes[index..<index + 4] == [0x1F, 0x43, 0xB6, 0x75] {
        let sized = index + 4
        let time = sized + bytes[sized].leadingZeroBitCount + 1
        guard bytes[time] == 0xE7 else { continue }
        let count = Int(bytes[time + 1] & 0x7F)
        if cluster * 25 >= test.frame {
          Self.lower(&bytes, time + 2..<time + 2 + count, by: test.step)
        }
        cluster += 1
      }
      try #require(cluster == 4)
    }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  private static func lower(_ bytes: inout [UInt8], _ range: Range<Int>, by step: Int) {
    let value = bytes[range].reduce(0) { $0 << 8 | Int($1) }
    bytes.replaceSubrange(range, with: MovieWriter.be(max(0, value - step), range.count))
  }

  private static func transcode(
    _ source: String, to output: String, chunks: Bool
  ) throws -> Transcoded {
    try Transcoded(source, to: output) {
      $0.size = .pair(PixelSize(48, 64))
      $0.quick()
      if chunks { ($0.chunks, $0.chunkDuration) = (.count(2), 1) }
    }
  }

  @Test("All frames are there, in the order in which they were decoded", arguments: cases)
  func whole(_ test: Case) throws {
    let scratch = try Scratch()
    let source = try Self.source(test, scratch)
    let one = try Self.transcode(source, to: scratch.path("one.mp4"), chunks: false)
    let many = try Self.transcode(source, to: scratch.path("many.mp4"), chunks: true)
    #expect(many.result.output.frames == 100)
    #expect(
      many.result.warnings.contains { $0.contains("timestamps step back or repeat") },
      "\(many.result.warnings)")
    let hashes = try [one, many].map {
      try FFmpegTool.packets($0.path, "v:0", hashes: true).map(\.hash)
    }
    #expect(hashes[0].count == 100 && hashes[0] == hashes[1])
    let plan = try TranscodeSession(
      input: source, output: scratch.path("plan.mp4"), options: Self.planned()
    ).chunkPlan()
    #expect(plan.chunks.count == 1 && plan.warnings.contains { $0.contains("step back") })
  }

  @Test(
    "A frame at the time of the one before is a tick later, and the input is divided",
    arguments: [25, 37, 50])
  func repeated(frame: Int) throws {
    let scratch = try Scratch()
    let source = try Self.source(Case(frame: frame, step: 40), scratch)
    let plan = try TranscodeSession(
      input: source, output: scratch.path("plan.mp4"), options: Self.planned()
    ).chunkPlan()
    #expect(plan.chunks.count == 3 && plan.warnings.isEmpty)
    let one = try Self.transcode(source, to: scratch.path("one.mp4"), chunks: false)
    let many = try Self.transcode(source, to: scratch.path("many.mp4"), chunks: true)
    let frames = try [one, many].map { try FFmpegTool.packets($0.path, "v:0", hashes: true) }
    #expect(frames[0].count == 100 && frames[0].map(\.time) == frames[1].map(\.time))
    let ticks = frames[0].compactMap(\.time).map { Int(($0 * 1000).rounded()) }
    #expect(zip(ticks, ticks.dropFirst()).filter { $1 - $0 == 1 }.count == 1)
  }

  private static func planned() -> TranscodeOptions {
    var options = TranscodeOptions()
    options.size = .pair(PixelSize(48, 64))
    options.quick()
    options.chunkDuration = 1
    return options
  }

  @Test("Without a step, the same files are divided", arguments: ["flv", "mkv"])
  func divided(_ container: String) throws {
    let scratch = try Scratch()
    let source = try Self.source(Case(container: container, bFrames: 2), scratch, steps: false)
    let plan = try TranscodeSession(
      input: source, output: scratch.path("plan.mp4"), options: Self.planned()
    ).chunkPlan()
    #expect(plan.chunks.count == 4 && plan.warnings.isEmpty, "\(plan.warnings)")
  }

  /// Times within a GOP in an order that no B-frames give, no further apart than B-frames may be.
  @Test("Frames that a part has no place for are counted, in one process and in several")
  func misplaced() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 100, gop: 25, bFrames: 0)
    for index in 0..<3 {
      let (early, late) = (22 + index, 24 - index)
      clip.samples[early].pts = late * clip.frame
    }
    var track = MovieWriter.Track(handler: "vide", entry: clip.entry, samples: clip.samples)
    (track.width, track.height) = (64, 64)
    let source = scratch.path("source.mov")
    try MovieWriter(timescale: clip.timescale, lastDuration: clip.frame, tracks: [track])
      .write(to: source)
    let output = scratch.path("out.mp4")
    let made = try Self.transcode(source, to: output, chunks: true)
    let warning = "2 frames left out: the packets' timestamps are in another order"
    #expect(made.result.output.frames == 98)
    #expect(made.result.warnings.contains { $0.contains(warning) }, "\(made.result.warnings)")
    let text = Array(
      try TranscodeSession(
        input: source, output: scratch.path("joined.mp4"), options: Self.planned()
      ).chunkPlan().text().utf8)
    for chunk in 0..<4 {
      _ = try ChunkSession(plan: text).run(chunk: chunk, folder: scratch.path("parts"))
    }
    let parts = try ChunkSession(plan: text).join(folder: scratch.path("parts"))
    guard case .joined(let joined) = parts else {
      Issue.record("\(parts)")
      return
    }
    #expect(joined.output.frames == 98)
    #expect(joined.warnings.contains { $0.contains(warning) }, "\(joined.warnings)")
  }
}
