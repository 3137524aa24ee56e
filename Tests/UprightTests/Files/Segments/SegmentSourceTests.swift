import Foundation
import Testing
import UprightMediaIO
import UprightOrientation
import UprightMedia
import UprightPolicy
import UprightTestSupport

@testable import UprightFiles

/// Segments that are made one by one, in any order. About three seconds a case.
@Suite(
  "Segments on demand",
  .enabled(if: Needs.ffmpeg && Needs.python, "needs ffmpeg and python3"))
struct SegmentSourceTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var source = "source.mp4"
    /// What ffmpeg makes the source from: the sample with 150 numbered frames and a beep each second.
    var make = usual
    /// Options with which ffmpeg copies that, `IN`, once more, so that an edit list hides some frames.
    var cut: String?
    var events: String?
    /// Whether segments are copied.
    var isCopied: Set<Bool> = [false]
    var formats = 1
    var hasAudio = true
    /// The frames at which the orientation of what is shown changes.
    var turns = [0]
    var configure: @Sendable (inout TranscodeOptions) -> Void = { _ in }
  }

  private static let usual =
    "-c:v libx264 -preset veryfast -bf 2 -g 30 -keyint_min 30 -c:a aac"
  /// In each GOP, a frame has the time of the one before, and so has every other keyframe.
  private static let repeating =
    "-c:v libx264 -preset veryfast -bf 0 -g 30 -keyint_min 30 -c:a aac "
    + "-bsf:v setts=ts=TS-gt(N\\,0)*(eq(mod(N\\,60)\\,0)+eq(mod(N\\,30)\\,7))"
  private static let sideways = "-vf transpose=2 "
  /// A screen that is recorded stands still now and then.
  private static let still =
    "select=not(between(n\\,40\\,70)+between(n\\,100\\,130)) -vsync vfr -c:v libx264 -c:a aac"

  static let cases = [
    Case(testDescription: "copied", isCopied: [true]) { $0.size = .source },
    Case(testDescription: "encoded", make: sideways + usual) {
      $0.sensor()
    },
    Case(
      testDescription: "Matroska, another frame rate, Opus", source: "source.mkv",
      make: sideways + "-r 24 -c:v libx264 -preset veryfast -g 24 -keyint_min 24 -c:a libopus"
    ) { $0.sensor() },
    Case(
      testDescription: "MPEG-TS, copied", source: "source.ts", isCopied: [true]
    ) { $0.size = .source },
    // libavformat can't seek in the audio alone.
    Case(
      testDescription: "FLV, copied", source: "source.flv", isCopied: [true]
    ) { $0.size = .source },
    Case(
      testDescription: "frames at one time, copied", source: "source.flv", make: repeating,
      isCopied: [true]
    ) { $0.size = .source },
    Case(
      testDescription: "frames at one time, encoded", source: "source.mkv",
      make: sideways + repeating
    ) { $0.sensor() },
    Case(
      testDescription: "uncompressed audio", source: "source.mov",
      make: "-c:v libx264 -g 30 -keyint_min 30 -c:a pcm_s16le", isCopied: [true]
    ) { $0.size = .source },
    Case(
      testDescription: "no audio, HEVC in 10 bits",
      make: sideways + "-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params "
        + "keyint=30:min-keyint=30:log-level=none:open-gop=0 -tag:v hvc1 -an", hasAudio: false
    ) { $0.sensor() },
    Case(
      testDescription: "an edit list that hides frames, the others copied", cut: "-ss 1.5 -i IN",
      isCopied: [true, false]
    ) { $0.size = .source },
    Case(
      testDescription: "an edit list that hides frames, encoded", make: sideways + usual,
      cut: "-ss 1.3 -i IN"
    ) { $0.sensor() },
    Case(
      testDescription: "an edit list that hides the keyframe of an open GOP",
      make: sideways + "-c:v libx264 -preset veryfast -c:a aac -x264-params "
        + "open-gop=1:bframes=2:b-adapt=0:keyint=3:min-keyint=1:scenecut=0",
      cut: "-ss 1.02 -i IN"
    ) { $0.sensor() },
    Case(
      testDescription: "an edit list that hides the end of the GOP before",
      make: "-an -c:v libx264 -preset veryfast -x264-params "
        + "open-gop=1:bframes=1:b-adapt=0:keyint=30:scenecut=0", cut: "-i IN -ss 1.4",
      isCopied: [true], hasAudio: false
    ) { $0.size = .source },
    Case(
      testDescription: "one GOP with B-frames",
      make: sideways + "-c:v libx264 -bf 3 -x264-params b-pyramid=normal:scenecut=0 -g 999 -c:a aac"
    ) { $0.sensor() },
    Case(
      testDescription: "one GOP of HEVC, at a frame rate that varies", source: "source.mkv",
      make: "-vf transpose=2,select=gt(mod(n\\,5)\\,0) -vsync vfr -c:v libx265 -preset ultrafast "
        + "-x265-params keyint=999:log-level=none:scenecut=0 -c:a aac"
    ) { $0.sensor() },
    Case(testDescription: "frames of a second", make: "-vf transpose=2,\(still) -g 999") {
      $0.sensor()
    },
    Case(
      testDescription: "frames of a second, copied", make: "-vf \(still) -bf 2 -g 30",
      isCopied: [true]
    ) { $0.size = .source },
    Case(
      testDescription: "one GOP with turns", make: sideways + "-c:v libx264 -g 999 -c:a aac",
      events:
        "{\"at\": 0, \"device\": \"portrait\"}\n{\"at\": 1.5, \"device\": \"landscapeLeft\"}\n"
        + "{\"at\": 3.2, \"device\": \"portrait\"}", formats: 3,
      turns: [0, 45, 96]
    ) { $0.sensor() },
  ]

  @Test("Any order and any source give the same bytes, and together they play", arguments: cases)
  func segments(_ test: Case) throws {
    let scratch = try Scratch()
    let path = scratch.path(test.source)
    try FFmpegTool.run("-v error -i \(Samples.withAudio) \(test.make)", [path])
    if let cut = test.cut {
      try FileManager.default.moveItem(atPath: path, toPath: scratch.path("whole.mp4"))
      let input = cut.replacing("IN", with: scratch.path("whole.mp4"))
      try FFmpegTool.run("-v error \(input) -c copy", [path])
    }
    var options = TranscodeOptions()
    test.configure(&options)
    let events =
      try test.events.map { EventSource.list(try RotationEvent.parse(jsonLines: Array($0.utf8))) }
      ?? .none
    func source() throws -> SegmentSource {
      try SegmentSource(input: path, options: options, events: events)
    }
    let first = try source()
    let count = first.segments.count
    // Of three seconds at least; copied segments have four.
    #expect(count >= (test.isCopied == [false] ? 3 : 1), "\(first.segments)")
    #expect(Set(first.segments.map { $0.reason == nil }) == test.isCopied, "\(first.segments)")
    #expect(first.segments.map(\.format).max() == test.formats - 1)
    let folder = scratch.path("out")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var bytes: [[UInt8]] = []
    for index in 0..<count { bytes.append(try first.segment(index)) }
    let second = try source()
    #expect(second.playlist == first.playlist)
    for index in (0..<count).reversed() {
      #expect(try second.segment(index) == bytes[index], "segment \(index)")
    }
    for index in 0..<count { try write(bytes[index], "\(folder)/\(index).m4s") }
    for format in 0..<test.formats {
      try write(second.initSegment(format), "\(folder)/init-\(format).mp4")
    }
    let playlist = "\(folder)/index.m3u8"
    try write(Array(first.playlist.utf8), playlist)
    try check(playlist, path, test)
  }

  @Test("Copied segments have four seconds, the first one has one, and begin with GOPs")
  func copied() throws {
    let scratch = try Scratch()
    let path = scratch.path("long.mp4")
    try FFmpegTool.run(
      "-v error -f lavfi -i testsrc2=s=320x180:r=30 -t 10 -c:v libx264 -bf 2 -g 30 -keyint_min 30",
      [path])
    var options = TranscodeOptions()
    options.size = .source
    let source = try SegmentSource(input: path, options: options)
    // The rest would be short.
    #expect(source.segments.map(\.start) == [0, 1, 5])
    #expect(source.segments.map(\.duration) == [1, 4, 5])
    #expect(source.duration == 10 && source.segments.allSatisfy { $0.size == PixelSize(320, 180) })
    let packets = try FFmpegTool.packets(path, "v", hashes: true)
    for (index, range) in [0..<30, 30..<150, 150..<300].enumerated() {
      let file = scratch.path("\(index).mp4")
      try write(try source.initSegment(0) + source.segment(index), file)
      let made = try FFmpegTool.packets(file, "v", hashes: true)
      #expect(made.map(\.hash) == packets[range].map(\.hash), "segment \(index)")
    }
  }

  @Test("While audio precedes the video, the first frame is shown", arguments: [true, false])
  func earlyAudio(isCopied: Bool) throws {
    let scratch = try Scratch()
    let (upright, path) = (scratch.path("upright.mp4"), scratch.path("early.mp4"))
    try FFmpegTool.run("-v error -i \(Samples.withAudio) \(Self.usual)", [upright])
    let input = "-i \(upright)"
    try FFmpegTool.run(
      "-v error \(input) -itsoffset 1 \(input) -map 1:v -map 0:a -c copy", [path])
    var options = TranscodeOptions()
    if isCopied { options.size = .source } else { options.sensor() }
    let source = try SegmentSource(input: path, options: options)
    for index in source.segments.indices {
      try write(try source.segment(index), scratch.path("\(index).m4s"))
    }
    try write(try source.initSegment(0), scratch.path("init-0.mp4"))
    let playlist = scratch.path("index.m3u8")
    try write(Array(source.playlist.utf8), playlist)
    let segments = source.segments
    #expect(segments[0].start == 0 && segments[1].start == segments[0].duration)
    #expect(abs(segments[0].duration - (isCopied ? 2 : 1.5)) < 0.001, "\(segments)")
    #expect(abs(source.duration - 6) < 0.001)
    let (status, shown) = try Player.ffmpeg.play([playlist])
    #expect(status == 0 && shown["errors"].array.isEmpty && shown["frames"].int == 150)
    let times = shown["times"].array.map { $0.double ?? -1 }
    let expected = [0] + (1..<150).map { 1 + Double($0) / 30 }
    #expect(zip(times, expected).allSatisfy { abs($0 - $1) < 0.0012 }, "\(times)")
    let (heard, usual) = (
      try FlashAndBeep(path: playlist), try FlashAndBeep(path: upright)
    )
    #expect(heard.beeps.count == usual.beeps.count)
    #expect(zip(heard.beeps, usual.beeps).allSatisfy { abs($0 - $1) < 0.003 })
  }

  @Test("What can't be rendered apart is refused, and what isn't wanted any more ends")
  func refused() throws {
    let scratch = try Scratch()
    var options = TranscodeOptions()
    options.canvas = .dual
    #expect(throws: UprightError.self) {
      try SegmentSource(input: Samples.withAudio, options: options)
    }
    let broken = scratch.path("broken.mp4")
    try write([UInt8](repeating: 7, count: 4096), broken)
    #expect(throws: UprightError.self) { try SegmentSource(input: broken) }
    let path = scratch.path("source.mp4")
    try FileManager.default.copyItem(atPath: Samples.withAudio, toPath: path)
    let source = try SegmentSource(input: path)
    #expect(throws: UprightError.self) { try source.segment(source.segments.count) }
    #expect(throws: UprightError.self) { try source.segment(-1) }
    #expect(throws: UprightError.self) { try source.segment(0) { false } }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data([0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65]))
    try handle.close()
    #expect(throws: UprightError.self) { try source.segment(0) }
  }

  @Test("A render that is cancelled harms no other", arguments: [true, false])
  func cancelled(isCopied: Bool) throws {
    var options = TranscodeOptions()
    if isCopied { options.size = .source } else { options.sensor() }
    let source = try SegmentSource(input: Samples.withAudio, options: options)
    for index in [0, source.segments.count - 1] {
      #expect(throws: UprightError.self) { try source.segment(index) { false } }
      var asked = 0
      #expect(throws: UprightError.self) {
        try source.segment(index) {
          asked += 1
          return asked < 3
        }
      }
      let other = try SegmentSource(input: Samples.withAudio, options: options)
      #expect(try source.segment(index) == other.segment(index))
    }
  }

  /// Threads of an encoder with a ceiling would take different decisions in each run.
  @Test("Segments that would have too many bits are coarser, and the same each time")
  func noise() throws {
    let scratch = try Scratch()
    let path = scratch.path("noise.mp4")
    try FFmpegTool.run(
      "-v error -f lavfi -i testsrc2=s=640x360:r=30,noise=alls=100:allf=t -t 3 -c:v libx264 -crf 12 "
        + "-preset ultrafast -g 30", [path])
    var options = TranscodeOptions()
    options.sensor()
    let source = try SegmentSource(input: path, options: options)
    let peak = try source.variant().peak
    let bytes = try source.segments.indices.map { try source.segment($0) }
    for (segment, bytes) in zip(source.segments, bytes) {
      #expect(Double(bytes.count) * 8 / segment.duration <= peak)
    }
    for _ in 0..<3 {
      let other = try SegmentSource(input: path, options: options)
      for index in source.segments.indices.reversed() {
        #expect(try other.segment(index) == bytes[index], "segment \(index)")
      }
    }
    let file = scratch.path("0.mp4")
    try write(try source.initSegment(0) + bytes[0], file)
    #expect(try FFmpegTool.frames(file).count == 15)
  }

  private func write(_ bytes: [UInt8], _ path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  private func check(_ playlist: String, _ source: String, _ test: Case) throws {
    let (status, shown) = try Player.ffmpeg.play([playlist])
    #expect(status == 0 && shown["errors"].array.isEmpty, "\(shown["errors"])")
    let (_, given) = try Player.ffmpeg.play([source, "--stored"])
    #expect(shown["frames"].int == given["frames"].int)
    #expect(shown["numbers"].array.map(\.int) == given["numbers"].array.map(\.int))
    #expect(shown["backwards"].int == 0)
    #expect(shown["lies"].array.map { $0["frame"].int } == test.turns, "\(shown["lies"])")
    #expect(shown["lies"][0]["orientation"].int == 1)
    let times = zip(shown["times"].array, given["times"].array).map {
      (($0.double ?? -1), ($1.double ?? -2))
    }
    let start = try #require(times.first)
    #expect(start.0 == 0)
    #expect(times.allSatisfy { abs($0.0 - ($0.1 - start.1)) < 0.0012 })
    // hls.js takes a segment's decoding durations for its own, so GOPs are decoded equally early.
    let packets = try FFmpegTool.packets(playlist, "v:0")
    let last = try #require(packets.last { $0.pts ?? 0 > 0 })
    let tick = try #require(last.time) / Double(try #require(last.pts))
    let keys = packets.indices.filter { packets[$0].isKey }
    let delays = try zip(keys, keys.dropFirst() + [packets.count]).map { key, next in
      let first = try #require(packets[key..<next].compactMap(\.pts).min())
      return Double(first - (try #require(packets[key].dts))) * tick
    }
    #expect(try #require(delays.max()) - (try #require(delays.min())) < 0.01, "\(delays)")
    guard test.hasAudio else { return }
    let heard = try FlashAndBeep(path: playlist)
    let usual = try FlashAndBeep(path: source)
    #expect(heard.beeps.count == usual.beeps.count)
    for (one, other) in zip(heard.beeps, usual.beeps) {
      #expect(abs(one - (other - start.1)) < 0.003, "\(heard.beeps), \(usual.beeps)")
    }
  }
}
