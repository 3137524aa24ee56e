import Foundation
import Testing
import UprightMediaIO
import UprightOrientation
import UprightMedia
import UprightTestSupport

@testable import UprightFiles

/// `--constant-rate`: frames are repeated and left out, so that each stays within half a frame of its time.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct ConstantRateTests {
  @Test(
    "A rate is a word, a number or a fraction",
    arguments: [
      ("usual", "usual"), ("30", "30"), ("29.97", "30000/1001"), ("23.98", "24000/1001"),
      ("59.94", "60000/1001"), ("12.5", "25/2"), ("30000/1001", "30000/1001"), ("50/2", "25"),
      ("30.0", "30"), ("29.5", "59/2"),
    ])
  func texts(_ text: String, _ read: String) throws {
    #expect(try ConstantRate(parsing: text).text == read)
  }

  @Test(
    "Anything else is refused",
    arguments: ["", "0", "-30", "241", "1/0", "30/", "1/2", "nan", "inf", "1e300", "constant"])
  func refused(_ text: String) {
    #expect(throws: UprightError.self) { try ConstantRate(parsing: text) }
  }

  @Test("Each place has one frame, the nearest; a frame between two places has none")
  func places() {
    func taken(_ times: [Int64], _ rate: Rational, from start: Int64 = 0) -> [Range<Int64>] {
      let milliseconds = Rational(1, 1000)
      var places = FramePlaces(rate, start: MediaTime(start, milliseconds))
      return times.map { places.take(until: MediaTime($0, milliseconds)) }
    }
    let ten = Rational(10, 1)
    #expect(taken([100, 200, 300], ten) == [0..<1, 1..<2, 2..<3])
    #expect(taken([149, 151, 400], ten) == [0..<1, 1..<2, 2..<4])
    #expect(taken([120, 130, 200], ten) == [0..<1, 1..<1, 1..<2])
    #expect(taken([600, 700], ten, from: 500) == [5..<6, 6..<7])
    // Times that step back take nothing.
    #expect(taken([100, 50, 200], ten) == [0..<1, 1..<1, 1..<2])
    var places = FramePlaces(ten, start: .zero)
    #expect(places.take(until: MediaTime(1, Rational(1, 1000)), isOnly: true) == 0..<1)
  }

  /// Encodes 50 frames whose brightness is their number, with steps of 20, 40, 33, 100 and 7 ms. Returns their times.
  private static func uneven(_ path: String, _ more: String = "-c:v libx264 -bf 2") throws
    -> [Double]
  {
    try FFmpegTool.run(
      "-f lavfi -i color=s=64x36:r=25,geq=lum=16+4*N:cb=128:cr=128 -f lavfi -i sine=d=2:r=48000 -frames:v 50"
        + " -vf settb=1/1000,setpts=floor(N/5)*200+gt(mod(N\\,5)\\,0)*20+gt(mod(N\\,5)\\,1)*40+gt(mod(N\\,5)\\,2)*33+gt(mod(N\\,5)\\,3)*100"
        + " -fps_mode passthrough -enc_time_base 1:1000 -pix_fmt yuv420p -crf 8 -c:a aac \(more)",
      [path])
    return try times(path)
  }

  private static func times(_ path: String) throws -> [Double] {
    let frames = try FFmpegTool.frames(path).compactMap(\.time)
    return frames.map { $0 - frames[0] }
  }

  /// Returns the number that is the brightness of each frame.
  private static func numbers(_ path: String, _ scratch: Scratch) throws -> [Int] {
    let file = scratch.path("\(UUID().uuidString).gray")
    try FFmpegTool.run(
      ["-i", path, "-fps_mode", "passthrough", "-vf", "extractplanes=y,scale=1:1:flags=area"]
        + ["-f", "rawvideo", file])
    return try Data(contentsOf: URL(fileURLWithPath: file)).map { (Int($0) - 16 + 2) / 4 }
  }

  /// The numbers that frames at `times` give at a rate.
  private static func expected(_ times: [Double], _ rate: Double, end: Double) -> [Int] {
    let ends = (times.dropFirst() + [end]).map { Int(($0 * rate).rounded()) }
    var numbers: [Int] = []
    for (index, end) in ends.enumerated() where numbers.count < end {
      numbers += Array(repeating: index, count: end - numbers.count)
    }
    return numbers
  }

  /// Costs 5 s in all.
  @Test(
    "Steps are equal, and each place shows its frame, in every container", .long,
    arguments: ["mov", "mp4", "mkv", "ts", "m3u8", "y4m"], [("30", 30), ("29.97", 30000 / 1001.0)])
  func steps(_ container: String, _ rate: (text: String, value: Double)) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    let times = try Self.uneven(input)
    let run = try Transcoded(input, to: scratch.path("out.\(container)")) {
      $0.constantRate = try? ConstantRate(parsing: rate.text)
      $0.size = .source
      $0.rate = .constantQuality(8)
    }
    let numbers = try Self.numbers(run.path, scratch)
    let wanted = Self.expected(times, rate.value, end: 2)
    // The last frame lasts as long as the container says.
    #expect(abs(numbers.count - wanted.count) <= 1)
    #expect(zip(numbers, wanted).allSatisfy { $0 == $1 }, "\(numbers)\n\(wanted)")
    let steps = zip(try Self.times(run.path), try Self.times(run.path).dropFirst()).map { $1 - $0 }
    #expect(steps.allSatisfy { abs($0 - 1 / rate.value) < 0.0011 }, "\(steps)")
    #expect(run.report["output"]["frames"].int == numbers.count)
    #expect(
      run.report["output"]["dropped"].array.contains { $0.string?.contains("shorter than") == true }
    )
    #expect(try FFmpegTool.streams(run.path, "video")[0]["r_frame_rate"].string?.isEmpty == false)
  }

  @Test("A part begins at a place, and turns are at their frames")
  func part() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    let times = try Self.uneven(input)
    let run = try Transcoded(
      input, to: scratch.path("out.mp4"), events: #"{"at": 1.2, "device": "landscapeLeft"}"#
    ) {
      $0.constantRate = .fixed(Rational(25, 1))
      ($0.start, $0.end, $0.frames, $0.canvas) = (0.8, 1.6, .sensor(Camera()), .follow)
      $0.rate = .constantQuality(8)
    }
    let numbers = try Self.numbers(run.path, scratch)
    #expect(numbers.count == 20)
    let whole = Self.expected(times, 25, end: 2)
    #expect(numbers == Array(whole[20..<40]))
    let sizes = try FFmpegTool.frames(run.path).map { $0.width < $0.height }
    #expect(sizes == numbers.map { times[$0] < 1.2 - 0.001 })
  }

  @Test("A playlist has the date of a turn at the place of its frame", arguments: [nil, 0.8])
  func date(_ start: Double?) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    _ = try Self.uneven(input)
    // The frame at 1.193 s has its place at 1.2 s.
    let run = try Transcoded(
      input, to: scratch.path("out.m3u8"), events: #"{"at": 1.17, "device": "landscapeLeft"}"#
    ) {
      $0.constantRate = .fixed(Rational(25, 1))
      ($0.start, $0.frames, $0.canvas) = (start, .sensor(Camera()), .follow)
    }
    let playlist = try Playlist(path: run.path)
    let segment = try #require(playlist.segments.first { $0.isDiscontinuous })
    #expect(try playlist.turns.map(\.start) == [#require(segment.date)])
    let first = try #require(playlist.segments.first?.date)
    #expect(try abs(#require(segment.date).timeIntervalSince(first) - 1.2 + (start ?? 0)) < 0.0011)
  }

  @Test("Frames that have the rate are copied; others are encoded, for that reason")
  func copied() throws {
    let scratch = try Scratch()
    let even = scratch.path("even.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x36:r=30000/1001:d=1 -c:v libx264 -pix_fmt yuv420p", [even])
    let run = try Transcoded(even, to: scratch.path("out.mov")) { $0.constantRate = .usual }
    #expect(run.report["output"]["encoded_frames"].int == 0)
    let other = try Transcoded(even, to: scratch.path("other.mov")) {
      $0.constantRate = .fixed(Rational(60, 1))
    }
    #expect(other.report["output"]["copied_frames"].int == 0)
    #expect(other.report["output"]["frames"].int == 60)
  }

  @Test("The usual rate is a standard one, if there is one beside the input's")
  func usual() throws {
    let scratch = try Scratch()
    for (rate, expected) in [
      ("30.126", "30/1"), ("24.1", "24/1"), ("27", "27/1"), ("1000", "30/1"),
    ] {
      let input = scratch.path("\(rate).mkv")
      try FFmpegTool.run(
        "-f lavfi -i testsrc2=s=64x36:r=\(rate) -frames:v 40 -c:v libx264", [input])
      let run = try Transcoded(input, to: scratch.path("\(rate).mov")) { $0.constantRate = .usual }
      let stream = try FFmpegTool.streams(run.path, "video")[0]
      #expect(stream["avg_frame_rate"].string == expected, "\(rate): \(stream)")
    }
  }

  @Test("Copying and a constant rate exclude each other; one frame is one frame")
  func limits() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    _ = try Self.uneven(input)
    for change: @Sendable (inout TranscodeOptions) -> Void in [
      { $0.upright = .metadata }, { $0.reencode = .never },
    ] {
      #expect(throws: UprightError.self) {
        try Transcoded(input, to: scratch.path("out.mp4")) {
          $0.constantRate = .fixed(Rational(30, 1))
          change(&$0)
        }
      }
    }
    let one = scratch.path("one.mkv")
    try FFmpegTool.run("-f lavfi -i testsrc2=s=64x36:r=100 -frames:v 1 -c:v libx264", [one])
    let run = try Transcoded(one, to: scratch.path("one.mp4")) {
      $0.constantRate = .fixed(Rational(10, 1))
    }
    #expect(run.report["output"]["frames"].int == 1)
  }
}
