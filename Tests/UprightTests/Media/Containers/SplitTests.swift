import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// `--split`: one file per format, each of which can be played separately.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized)
struct SplitTests {
  /// Transcodes an input that turns into a file for each turn.
  static func make(
    _ name: String, from input: String, in scratch: Scratch, overwrites: Bool = false
  ) throws -> Transcoded {
    try Transcoded(input, to: scratch.path(name), events: Samples.turningEvents()) {
      $0.sensor()
      $0.size = .pair(PixelSize(180, 320))
      $0.splits = true
      $0.quick()
      if name.hasSuffix("webm") { $0.speed = nil }
      $0.overwrites = overwrites
    }
  }

  @Test(
    "One file per format, listed in the report, each with its audio",
    .long,
    arguments: Loop.cases(["a.film.mkv", "out.webm", "out.mp4", "out.ts", "out.flv"], test: 2))
  func files(_ name: String) throws {
    let scratch = try Scratch()
    let run = try Self.make(name, from: NumberedClip.Clip.variable.path(), in: scratch)
    let dot = try #require(name.lastIndex(of: "."))
    let names = (0..<3).map { "\(name[..<dot])-\($0)\(name[dot...])" }
    #expect(scratch.names == names)
    #expect(run.result.output.files == names.map { scratch.path($0) })
    #expect(run.report["output"]["files"].array.compactMap(\.string) == run.result.output.files)
    #expect(run.report["output"]["frames"].int == 300)

    let theirs = try FFmpegTool.frames(NumberedClip.Clip.variable.path()).compactMap(\.time)
    let audio = try FFmpegTool.packets(NumberedClip.Clip.variable.path(), "a:0").compactMap(\.time)
    try #require(theirs.count == 300)
    let grain = 0.0022
    var heard = 0
    for (index, file) in run.result.output.files.enumerated() {
      let packets = try FFmpegTool.packets(file, "v:0")
      #expect(packets.count == 100 && packets.first?.isKey == true)
      let times = packets.compactMap(\.time).sorted()
      let start = theirs[index * 100]
      let zero = try #require(times.first)
      // FLV and MPEG-TS have no time before zero, so reordering shifts all times.
      #expect(zero >= 0 && zero < 0.1, "\(file) begins at \(zero)")
      let errors = zip(times, theirs[(index * 100)...]).map { (ours: Double, theirs: Double) in
        abs(ours - zero - (theirs - start))
      }
      let worst = errors.max()
      #expect((worst ?? 1) <= grain, "\(file): off by \(worst ?? -1)")
      let ours = try FFmpegTool.packets(file, "a:0").compactMap(\.time)
      heard += ours.count
      // In sync with the video, each audio frame by its PTS.
      let first = try #require(ours.first) - zero
      let last = try #require(ours.last) - zero
      let end = index < 2 ? theirs[index * 100 + 100] - start : .infinity
      let frame = name.hasSuffix("webm") ? 0.02 : 1024.0 / 48000
      #expect(first < frame + grain, "\(file): audio begins at \(first)")
      #expect(index == 0 || first >= -grain, "\(file): audio begins at \(first)")
      #expect(last < end + grain, "\(file): audio ends at \(last)")
      if !name.hasSuffix("webm") {
        let moved = audio.map { (time: Double) in abs(time - start - first) }.min() ?? 9
        #expect(moved <= grain, "\(file): audio moved by \(moved)")
      }
    }
    if !name.hasSuffix("webm") { #expect(heard == audio.count) }
  }

  @Test("Flash and beep stay in sync in every file", .long)
  func together() throws {
    let scratch = try Scratch()
    var events = "{\"at\": 0, \"device\": \"portrait\"}\n"
    events +=
      "{\"at\": 1.7, \"device\": \"landscapeLeft\"}\n{\"at\": 3.2, \"device\": \"portrait\"}\n"
    let run = try Transcoded(Samples.withAudio, to: scratch.path("out.mkv"), events: events) {
      $0.size = .pair(PixelSize(360, 640))
      $0.splits = true
      $0.canvas = .follow
      $0.quick()
    }
    #expect(run.result.output.files.count == 3)
    let before = try FlashAndBeep(path: Samples.withAudio)
    let flashes = try run.result.output.files.map { path in
      let streams = try FFmpegTool.streams(path, "video")
      // `FlashAndBeep` requires a 16:9 frame. Letterboxed frames in the portrait canvas are cropped.
      guard streams.first?["width"].int == 360 else { return try FlashAndBeep(path: path) }
      let wide = scratch.path("wide.mkv")
      try FFmpegTool.run(["-i", path, "-vf", "crop=360:202:0:219", "-c:a", "copy", wide])
      return try FlashAndBeep(path: wide)
    }
    #expect(flashes.map(\.flashes.count).reduce(0, +) == before.flashes.count)
    for part in flashes {
      #expect(part.flashes.count == part.beeps.count, "\(part)")
      for (offset, old) in zip(part.offsets, before.offsets) {
        #expect(abs(offset - old) <= 1024.0 / 48000, "\(part)")
      }
    }
  }

  @Test(
    "Subtitles are in the files in which they are shown, with times from the file's start", .long)
  func subtitles() throws {
    let scratch = try Scratch()
    let text = scratch.path("s.srt")
    try """
    1
    00:00:01,000 --> 00:00:02,000
    one

    2
    00:00:04,000 --> 00:00:05,000
    two

    3
    00:00:06,000 --> 00:00:09,000
    three

    """.write(toFile: text, atomically: true, encoding: .utf8)
    let input = scratch.path("in.mkv")
    try FFmpegTool.run([
      "-i", NumberedClip.Clip.constant.path(), "-i", text, "-map", "0", "-map", "1", "-c", "copy",
      input,
    ])
    let output = try Scratch()
    let run = try Self.make("out.mkv", from: input, in: output)
    let starts = [0, 100 / 30.0, 200 / 30.0]
    let wanted = [[1.0], [4, 6], [starts[2]]]
    for (index, file) in run.result.output.files.enumerated() {
      let packets = try FFmpegTool.packets(file, "s:0")
      let zero = try FFmpegTool.frames(file).first?.time ?? 9
      #expect(packets.count == wanted[index].count)
      for (packet, time) in zip(packets, wanted[index]) {
        #expect(abs((packet.time ?? 9) - zero - (time - starts[index])) < 0.003)
      }
    }
  }

  @Test("An existing part is not overwritten without -y, and the input is never overwritten")
  func present() throws {
    let scratch = try Scratch()
    let old = scratch.path("out-1.mkv")
    try Data("old".utf8).write(to: URL(fileURLWithPath: old))
    let error = #expect(throws: UprightError.self) {
      try Self.make("out.mkv", from: NumberedClip.Clip.constant.path(), in: scratch)
    }
    #expect(error?.code == .cannotCreate && error?.location == old)
    #expect(scratch.names == ["out-1.mkv"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: old)) == Data("old".utf8))
    _ = try Self.make(
      "out.mkv", from: NumberedClip.Clip.constant.path(), in: scratch, overwrites: true)
    #expect(scratch.names == ["out-0.mkv", "out-1.mkv", "out-2.mkv"])

    try FileManager.default.copyItem(
      atPath: Samples.displayMatrix, toPath: scratch.path("take-0.mp4"))
    let input = #expect(throws: UprightError.self) {
      try Transcoded(scratch.path("take-0.mp4"), to: scratch.path("take.mp4")) {
        $0.splits = true
        $0.overwrites = true
      }
    }
    #expect(input?.message == "the output is the input")
  }

  @Test(
    "--split is rejected for outputs that can't be several files",
    arguments: ["-", "out.m3u8", "out.y4m", "srt://127.0.0.1:9", "rtmp://127.0.0.1/a/b"])
  func refused(_ name: String) throws {
    let scratch = try Scratch()
    let error = #expect(throws: UprightError.self) {
      try TranscodeSession(
        input: Samples.turning, output: name.hasPrefix("out") ? scratch.path(name) : name,
        outputFormat: name == "-" ? "mkv" : nil,
        options: {
          var options = TranscodeOptions()
          options.splits = true
          return options
        }())
    }
    #expect(error?.code == .usage && error?.location == "--split")
    #expect(scratch.names.isEmpty)
  }
}
