import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

@testable import UprightMedia

/// Data other than video frames is kept if the container supports it, and reported if it is dropped.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct MetadataTests {
  private static let chapters = """
    ;FFMETADATA1
    title=A walk
    artist=Someone
    creation_time=2024-05-06T07:08:09.000000Z
    location=+48.8577+002.2950/
    [CHAPTER]
    TIMEBASE=1/1000
    START=0
    END=1500
    title=Out
    [CHAPTER]
    TIMEBASE=1/1000
    START=1500
    END=5000
    title=Home

    """

  /// Makes a file with rotated video, two audio tracks, subtitles, chapters, tags, and a timecode in MOV.
  private static func source(_ scratch: Scratch, _ name: String) throws -> String {
    let path = scratch.path(name)
    let (chapters, subtitles) = (scratch.path("chapters.txt"), scratch.path("text.srt"))
    try Self.chapters.write(toFile: chapters, atomically: true, encoding: .utf8)
    try "1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:02,000 --> 00:00:03,000\nAgain\n\n"
      .write(toFile: subtitles, atomically: true, encoding: .utf8)
    let isMP4 = name.hasSuffix("mp4") || name.hasSuffix("mov")
    var arguments =
      ["-i", Samples.withAudio, "-i", chapters, "-i", subtitles, "-f", "lavfi", "-i", "sine=d=5"]
    arguments += "-map 0:v -map 0:a -map 3:a -map 2:s -map_metadata 1 -map_chapters 1".words
    arguments += ["-c:v", "copy", "-c:a:0", "copy", "-c:a:1", "aac"]
    arguments += ["-c:s", isMP4 ? "mov_text" : "srt"]
    arguments += ["-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=fra"]
    if name.hasSuffix("mov") { arguments += ["-timecode", "01:00:00:00"] }
    try FFmpegTool.run(arguments + [path])
    return path
  }

  @Test("A plan says that subtitles are converted to the container's format")
  func plannedSubtitles() throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.mkv")
    let plan = try TranscodeSession(input: source, output: scratch.path("out.mp4")).plan()
    #expect(plan.tracks.filter { $0.kind == .subtitle }.map(\.action) == [.convert])
  }

  private static func format(_ path: String) throws -> JSON {
    try FFmpegTool.probe(path, ["-show_format", "-show_chapters", "-show_streams"])
  }

  private static func tags(_ json: JSON) -> [String: String] {
    Dictionary(
      json["format"]["tags"].object.map { ($0.key.lowercased(), $0.value.string ?? "") },
      uniquingKeysWith: { first, _ in first })
  }

  @Test("A phone's tags are kept, with Apple's names if the file has Apple's metadata list")
  func phone() throws {
    let apple = "com.apple.quicktime."
    let said = [
      "\(apple)creationdate": "2013-12-22T15:54:25-0500", "\(apple)make": "Apple",
      "\(apple)model": "iPhone 4S",
    ]
    // The tags of a file with both kinds of names, as libavformat reads them.
    let both = said.merging(
      ["make": "Apple", "make-eng": "Apple", "date": "2013-12-22T15:54:25-0500"]) { $1 }
    let titled = said.merging(["title": "A walk"]) { $1 }
    for (container, tags, isList, written, lost) in [
      (OutputContainer.mov, said, true, said, []), (.mp4, said, true, said, []),
      (.mov, both, true, said, []), (.mp4, both, true, said, []),
      (.mov, titled, true, said.merging(["\(apple)title": "A walk"]) { $1 }, []),
      (
        .mp4, titled, false, ["title": "A walk", "date": "2013-12-22T15:54:25-0500"],
        ["\(apple)make", "\(apple)model"]
      ),
      (.matroska, titled, false, titled, []), (.mpegts, said, false, [:], said.keys.sorted()),
    ] {
      let placed = container.place(tags)
      #expect(placed.isList == isList && placed.written == written, "\(container): \(placed)")
      #expect(placed.withoutPlace == lost, "\(container): \(placed)")
    }
  }

  @Test(
    "An iPhone's file keeps its date and camera, and its positions are named as left out",
    .clips("rotation-real"))
  func iPhone() throws {
    let scratch = try Scratch()
    let source = SharedFiles.url("clips/rotation-real/iphone_rotated.mov").path
    for output in ["turned.mov", "copied.mov", "turned.mp4"] {
      let run = try Transcoded(source, to: scratch.path(output)) {
        if output == "copied.mov" { $0.upright = .metadata } else { $0.quick() }
      }
      let tags = Self.tags(try Self.format(run.path))
      #expect(tags["com.apple.quicktime.creationdate"] == "2013-12-22T15:54:25-0500", "\(tags)")
      #expect(tags["com.apple.quicktime.make"] == "Apple", "\(tags)")
      #expect(tags["com.apple.quicktime.model"] == "iPhone 4S", "\(tags)")
      // Where only the bytes of the orientation change, the positions stay, and a warning says so.
      let (dropped, warnings) = (run.result.output.dropped, run.result.warnings)
      let lines = output == "copied.mov" ? warnings : dropped
      #expect(lines.contains { $0.contains("GPS") }, "\(dropped) \(warnings)")
    }
  }

  @Test(
    "Titles, creation time, chapters, languages, subtitles and all audio are kept", .long,
    arguments: [
      ("source.mp4", "out.mp4"), ("source.mkv", "out.mkv"), ("source.mov", "out.mov"),
    ])
  func kept(_ input: String, _ output: String) throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, input)
    let run = try Transcoded(source, to: scratch.path(output)) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    #expect(run.result.output.frames == 150)
    let json = try Self.format(run.path)
    let tags = Self.tags(json)
    #expect(tags["title"] == "A walk")
    #expect(tags["artist"] == "Someone")
    #expect(tags["creation_time"] == "2024-05-06T07:08:09.000000Z")
    let chapters = json["chapters"].array
    #expect(chapters.map { $0["tags"]["title"].string } == ["Out", "Home"])
    #expect(chapters.map { Double($0["start_time"].string ?? "") } == [0, 1.5])
    let audio = json["streams"].array.filter { $0["codec_type"].string == "audio" }
    #expect(audio.map { $0["tags"]["language"].string } == ["eng", "fra"])
    let before = try FFmpegTool.packets(source, "a:1", hashes: true)
    let after = try FFmpegTool.packets(run.path, "a:1", hashes: true)
    #expect(before.map(\.hash) == after.map(\.hash))
    let text = json["streams"].array.filter { $0["codec_type"].string == "subtitle" }
    #expect(text.count == 1)
    let lines = try FFmpegTool.packets(run.path, "s:0", hashes: true).filter { $0.size > 2 }
    #expect(lines.compactMap(\.time).map { ($0 * 10).rounded() / 10 } == [0.5, 2])
  }

  @Test(
    "The location is dropped unless requested", .long, arguments: ["mp4", "mov", "mkv"])
  func location(_ kind: String) throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.\(kind)")
    let dropped = try Transcoded(source, to: scratch.path("dropped.\(kind)")) { $0.quick() }
    let tags = Self.tags(try Self.format(dropped.path))
    #expect(tags.keys.allSatisfy { !$0.contains("location") && !$0.contains("iso6709") }, "\(tags)")
    #expect(!(try Data(contentsOf: URL(fileURLWithPath: dropped.path))).contains("48.85"))
    #expect(
      dropped.report["output"]["dropped"].array.contains { $0.string?.contains("GPS") == true })

    let kept = try Transcoded(source, to: scratch.path("kept.\(kind)")) {
      $0.keepsLocation = true
      $0.quick()
    }
    let all = Self.tags(try Self.format(kept.path))
    #expect(all.values.contains { $0.hasPrefix("+48.8577+002.295") }, "\(all)")
    #expect(!kept.report["output"]["dropped"].array.contains { $0.string?.contains("GPS") == true })
  }

  @Test("Dropped streams are listed in the report")
  func named() throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.mov")
    let run = try Transcoded(source, to: scratch.path("out.flv")) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let dropped = run.report["output"]["dropped"].array.compactMap(\.string)
    let kinds = try FFmpegTool.streams(source).map { $0["codec_type"].string }
    #expect(kinds == ["video", "audio", "audio", "subtitle", "data", "data"])
    #expect(dropped.contains { $0.hasPrefix("stream 2 (audio, aac)") }, "\(dropped)")
    #expect(dropped.contains { $0.hasPrefix("stream 3 (subtitle, mov_text)") }, "\(dropped)")
    // The chapters' titles, and the timecode.
    #expect(dropped.contains { $0.hasPrefix("stream 4 (data") }, "\(dropped)")
    #expect(dropped.contains { $0.hasPrefix("stream 5 (data") }, "\(dropped)")
    #expect(try FFmpegTool.streams(run.path).count == 2)
  }

  @Test(
    "Real clips: a dropped second video track and timed metadata are reported", .long,
    .clips(
      "rotation-real/mv_with_2_top_shots.mp4", "rotation-real/h265_with_metadata_track.mp4"))
  func real() throws {
    let scratch = try Scratch()
    for (file, word) in [
      ("mv_with_2_top_shots.mp4", "video"), ("h265_with_metadata_track.mp4", "data"),
    ] {
      let run = try Transcoded(
        SharedFiles.url("clips/rotation-real/\(file)").path, to: scratch.path(file)
      ) {
        $0.size = .pair(PixelSize(90, 160))
        $0.quick()
      }
      let dropped = run.report["output"]["dropped"].array.compactMap(\.string)
      #expect(dropped.contains { $0.contains("(\(word),") }, "\(file): \(dropped)")
    }
  }

  @Test(
    "No rotation tag of the input is left in the output", arguments: ["out.mp4", "out.mkv"])
  func rotateTag(_ name: String) throws {
    let scratch = try Scratch()
    // A Matroska tag in capitals, as written by older versions of FFmpeg. This version doesn't write it, so
    // the name is patched afterwards.
    let source = scratch.path("source.mkv")
    try FFmpegTool.run([
      "-noautorotate", "-i", Samples.displayMatrix, "-c", "copy", "-metadata:s:v:0", "ROTATX=90",
      source,
    ])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
    let place = try #require(bytes.range(of: Data("ROTATX".utf8)))
    bytes.replaceSubrange(place, with: Data("ROTATE".utf8))
    try bytes.write(to: URL(fileURLWithPath: source))
    let run = try Transcoded(source, to: scratch.path(name)) { $0.quick() }
    #expect(run.report["formats"][0]["turn"].string == "right")
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(video["width"].int == 360 && video["height"].int == 640)
    #expect(video["tags"].object.keys.allSatisfy { $0.lowercased() != "rotate" })
    #expect(video["side_data_list"].array.isEmpty)
    // The output needs no rotation: a second pass changes nothing.
    let again = try Transcoded(run.path, to: scratch.path("again.y4m"))
    #expect(again.report["formats"][0]["turn"].string == "up")
  }
}

extension Data {
  fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}

/// Text subtitles in another format, covers and dispositions are written if the container supports them.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct SubtitleTests {
  private static let text =
    "1\n00:00:00,500 --> 00:00:01,500\nHello <i>you</i>\n\n2\n00:00:02,000 --> 00:00:03,000\nAgain\n\n"

  private static func source(_ scratch: Scratch, _ name: String, _ codec: String) throws -> String {
    let (path, subtitles) = (scratch.path(name), scratch.path("text.srt"))
    try text.write(toFile: subtitles, atomically: true, encoding: .utf8)
    try FFmpegTool.run([
      "-i", Samples.turning, "-i", subtitles, "-map", "0:v", "-map", "1", "-c", "copy", "-c:s",
      codec, "-metadata:s:s:0", "language=fra", "-disposition:s:0", "forced", "-t", "4", path,
    ])
    return path
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let input: String
    let form: String
    let output: String
    let expected: String
    var testDescription: String { "\(form) from \(input) to \(output)" }
  }

  @Test(
    "Text subtitles are converted to the container's format", .long,
    arguments: [
      Case(input: "a.mkv", form: "srt", output: "out.mp4", expected: "mov_text"),
      Case(input: "a.mkv", form: "ass", output: "out.mp4", expected: "mov_text"),
      Case(input: "a.mkv", form: "webvtt", output: "out.mov", expected: "mov_text"),
      Case(input: "a.mp4", form: "mov_text", output: "out.mkv", expected: "subrip"),
      Case(input: "a.mp4", form: "mov_text", output: "out.webm", expected: "webvtt"),
      Case(input: "a.mkv", form: "ass", output: "out.mkv", expected: "ass"),
    ])
  func rewritten(_ test: Case) throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch, test.input, test.form)
    let run = try Transcoded(input, to: scratch.path(test.output)) {
      $0.size = .pair(PixelSize(90, 160))
      $0.end = 3.5
    }
    let stream = try #require(try FFmpegTool.streams(run.path, "subtitle").first)
    #expect(stream["codec_name"].string == test.expected)
    #expect(stream["tags"]["language"].string == "fra")
    let said = String(
      decoding: try FFmpegTool.run(["-i", run.path, "-map", "0:s", "-f", "srt", "-"]), as: UTF8.self
    )
    #expect(said.contains("Hello <i>you</i>") && said.contains("Again"), "\(said)")
    #expect(said.contains("00:00:00,500 --> 00:00:01,500"), "\(said)")
    #expect(said.contains("00:00:02,000 --> 00:00:03,000"), "\(said)")
    #expect(run.report["output"]["dropped"].array.isEmpty)
  }

  /// Returns the times and texts of a file's subtitles, as ffmpeg reads them, in its time of a cue.
  private static func cues(_ path: String) throws -> [String] {
    let text = String(
      decoding: try FFmpegTool.run(["-i", path, "-map", "0:s", "-f", "srt", "-"]), as: UTF8.self)
    return text.split(separator: "\n\n").map {
      $0.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ")
    }
  }

  /// A sign that is shown for five seconds, and lines meanwhile.
  private static func overlapping(_ scratch: Scratch) throws -> String {
    let (path, text) = (scratch.path("signs.mkv"), scratch.path("signs.srt"))
    let cues = [
      ("01,000", "06,000", "sign"), ("02,000", "03,000", "one"), ("04,500", "05,500", "two"),
    ]
    try cues.enumerated().map { "\($0 + 1)\n00:00:\($1.0) --> 00:00:\($1.1)\n\($1.2)\n\n" }.joined()
      .write(toFile: text, atomically: true, encoding: .utf8)
    try FFmpegTool.run([
      "-i", NumberedClip.Clip.constant.path(), "-i", text, "-map", "0:v", "-map", "1", "-c", "copy",
      path,
    ])
    return path
  }

  @Test("Subtitles that overlap keep their times where one follows the other", .long)
  func overlaps() throws {
    let scratch = try Scratch()
    let run = try Transcoded(try Self.overlapping(scratch), to: scratch.path("out.mp4")) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let cues = try Self.cues(run.path)
    #expect(
      cues == [
        "00:00:01,000 --> 00:00:02,000 sign", "00:00:02,000 --> 00:00:03,000 sign one",
        "00:00:03,000 --> 00:00:04,500 sign", "00:00:04,500 --> 00:00:05,500 sign two",
        "00:00:05,500 --> 00:00:06,000 sign",
      ])
  }

  @Test("A part has the subtitles that are shown in it, from its start to its end", .long)
  func part() throws {
    let scratch = try Scratch()
    let input = try Self.overlapping(scratch)
    for (name, start, end) in [("a", 2.5, 5.0), ("b", 5.0, 8.0)] {
      let run = try Transcoded(input, to: scratch.path("\(name).mkv")) {
        $0.size = .pair(PixelSize(90, 160))
        $0.start = start
        $0.end = end
        $0.quick()
      }
      let expected =
        name == "a"
        ? [
          "00:00:00,000 --> 00:00:02,500 sign", "00:00:00,000 --> 00:00:00,500 one",
          "00:00:02,000 --> 00:00:02,500 two",
        ] : ["00:00:00,000 --> 00:00:01,000 sign", "00:00:00,000 --> 00:00:00,500 two"]
      let cues = try Self.cues(run.path)
      #expect(cues == expected)
    }
  }

  @Test("Chapters move with the part, and end with it", .long, arguments: ["mp4", "mkv"])
  func chapters(_ kind: String) throws {
    let scratch = try Scratch()
    let (list, input) = (scratch.path("c.txt"), scratch.path("in.mkv"))
    let times = [(0, 3000), (3000, 6000), (6000, 10_000)]
    try
      (";FFMETADATA1\n"
      + times.map { "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\($0)\nEND=\($1)\n" }.joined())
      .write(toFile: list, atomically: true, encoding: .utf8)
    try FFmpegTool.run([
      "-i", NumberedClip.Clip.constant.path(), "-i", list, "-map", "0:v", "-map_chapters", "1",
      "-c",
      "copy", input,
    ])
    let run = try Transcoded(input, to: scratch.path("out.\(kind)")) {
      $0.size = .pair(PixelSize(90, 160))
      $0.start = 4
      $0.end = 7
      $0.quick()
    }
    let found = try FFmpegTool.probe(
      run.path, ["-show_chapters", "-show_entries", "format=duration"])
    let chapters = found["chapters"].array.map {
      [$0["start_time"].string, $0["end_time"].string].compactMap(\.self)
    }
    #expect(chapters == [["0.000000", "2.000000"], ["2.000000", "3.000000"]])
    #expect(abs((found["format"]["duration"].string.flatMap(Double.init) ?? 0) - 3) < 0.05)
  }

  @Test("Matroska keeps fonts and covers, under their names", .long)
  func attachments() throws {
    let scratch = try Scratch()
    let (image, font, input) = (
      scratch.path("a.png"), scratch.path("a.ttf"), scratch.path("in.mkv")
    )
    try FFmpegTool.run(["-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "1", image])
    try Data((0..<3000).map { UInt8(truncatingIfNeeded: $0 * 7) }).write(to: URL(filePath: font))
    try FFmpegTool.run([
      "-i", Samples.turning, "-map", "0:v", "-c", "copy", "-attach", font, "-metadata:s:t:0",
      "mimetype=font/ttf", "-attach", image, "-metadata:s:t:1", "mimetype=image/png",
      "-metadata:s:t:1", "filename=poster.png", input,
    ])
    let run = try Transcoded(input, to: scratch.path("out.mkv")) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    #expect(run.report["output"]["dropped"].array.isEmpty)
    let written = try FFmpegTool.streams(run.path).dropFirst()
    #expect(written.map { $0["tags"]["filename"].string } == ["a.ttf", "poster.png"])
    #expect(written.last?["disposition"]["attached_pic"].int == 1)
    let copy = scratch.path("copy.ttf")
    _ = try? FFmpegTool.run([
      "-dump_attachment:t:0", copy, "-i", run.path, "-t", "0", "-f", "null", "-",
    ])
    #expect(try Data(contentsOf: URL(filePath: copy)) == Data(contentsOf: URL(filePath: font)))
    let picture = try FFmpegTool.run([
      "-i", run.path, "-map", "0:v:1", "-c", "copy", "-f", "image2pipe", "-",
    ])
    #expect(picture == (try Data(contentsOf: URL(filePath: image))))
  }

  /// Writes the sample with a cover.
  private static func covered(_ scratch: Scratch) throws -> String {
    let (image, input) = (scratch.path("cover.png"), scratch.path("source.mp4"))
    try FFmpegTool.run(["-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "1", image])
    try FFmpegTool.run([
      "-i", Samples.withAudio, "-i", image, "-map", "0", "-map", "1", "-c", "copy",
      "-disposition:v:1", "attached_pic", input,
    ])
    return input
  }

  @Test("A cover picture is kept, or named", .long, arguments: ["mp4", "mkv", "mov"])
  func cover(_ kind: String) throws {
    let scratch = try Scratch()
    let input = try Self.covered(scratch)
    let run = try Transcoded(input, to: scratch.path("out.\(kind)")) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    #expect(run.result.output.frames == 150)
    let streams = try FFmpegTool.streams(run.path)
    let covers = streams.filter { $0["disposition"]["attached_pic"].int == 1 }
    let dropped = run.report["output"]["dropped"].array.compactMap(\.string)
    guard kind != "mov" else {
      #expect(covers.isEmpty && dropped.count == 1, "\(dropped)")
      return
    }
    let theirs = try FFmpegTool.packets(input, "v:1", hashes: true).map(\.hash)
    #expect(try FFmpegTool.packets(run.path, "v:1", hashes: true).map(\.hash) == theirs)
    #expect(covers.count == 1 && dropped.isEmpty)
  }

  @Test("Each file of a split output has the cover", .long, arguments: ["mp4", "mkv"])
  func splitCover(_ kind: String) throws {
    let scratch = try Scratch()
    let input = try Self.covered(scratch)
    let run = try SplitTests.make("out.\(kind)", from: input, in: scratch)
    let theirs = try FFmpegTool.packets(input, "v:1", hashes: true).map(\.hash)
    #expect(run.result.output.files.count == 2)
    for file in run.result.output.files {
      #expect(try FFmpegTool.packets(file, "v:1", hashes: true).map(\.hash) == theirs, "\(file)")
      #expect(try FFmpegTool.packets(file, "v:0").first?.time ?? 1 < 0.1)
    }
  }
}
