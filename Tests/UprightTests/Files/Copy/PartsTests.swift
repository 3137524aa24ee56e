import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// `--reencode auto` on a file that is rotated for part of its duration: some GOPs are copied and others
/// are encoded, in one track.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .tags(.lengthy))
struct PartsTests {
  /// A file of six seconds at 24 frames per second, with an entry point each second and a tone. The frames
  /// are upright as stored, except those from 2.3 s to 3.4 s.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var encoder = "-c:v libx264 -preset veryfast -bf 3 -g 24 -keyint_min 24"
    var source = "source.mp4"
    var output = "out.mp4"
    /// FFmpeg's filters before the encoder.
    var filter = "null"
    /// The copied frames, in presentation order.
    var copied: [Range<Int>] = [0..<48, 96..<144]
    var follows = false
    var style: String?
    /// Whether packets have the same form in the output's container.
    var keepsForm = true
  }

  static let events = """
    {"at": 0, "device": "landscapeLeft"}
    {"at": 2.3, "device": "portrait"}
    {"at": 3.4, "device": "landscapeLeft"}
    """

  private static func source(_ test: Case, _ scratch: Scratch) throws -> String {
    let path = scratch.path(test.source)
    let audio = test.source.hasSuffix("webm") ? "libopus" : "aac"
    try FFmpegTool.run(
      """
      -f lavfi -i testsrc2=s=160x96:r=24:d=6,\(test.filter) -f lavfi -i sine=d=6:r=48000 \
      -pix_fmt yuv420p \(test.encoder) -fps_mode passthrough -c:a \(audio)
      """, [path])
    return path
  }

  private static func transcode(
    _ source: String, to path: String, _ test: Case,
    options configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Transcoded {
    let styled = test.style.map { #"{"transition": {"style": "\#($0)"}}"# }
    return try Transcoded(source, to: path, document: styled, events: events) {
      $0.sensor()
      $0.size = .source
      if test.follows { $0.canvas = .follow }
      if !test.follows { $0.canvas = .landscape }
      configure(&$0)
    }
  }

  static let cases = [
    Case(testDescription: "following", follows: true),
    Case(testDescription: "B-frames"),
    Case(
      testDescription: "a variable frame rate",
      encoder:
        "-c:v libx264 -bf 3 -g 24 -keyint_min 24 -enc_time_base 1:24000 -video_track_timescale 24000",
      filter: "settb=1/24000,setpts=PTS+mod(N*373\\,700)"),
    Case(testDescription: "held", copied: [24..<48, 96..<144], style: "hold"),
    Case(testDescription: "MPEG-TS", output: "out.ts", keepsForm: false),
    Case(
      testDescription: "HEVC",
      encoder:
        "-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=24:min-keyint=24:open-gop=0:bframes=2"
    ),
    Case(
      testDescription: "from Matroska, without decoding times", source: "source.mkv"),
    Case(testDescription: "no B-frames", encoder: "-c:v libx264 -bf 0 -g 24 -keyint_min 24"),
    Case(
      testDescription: "a pyramid of many references",
      encoder:
        "-c:v libx264 -preset slow -bf 7 -refs 5 -g 24 -keyint_min 24 -x264-params b-pyramid=normal:b-adapt=0"
    ),
    Case(
      testDescription: "baseline, which has no arithmetic coding",
      encoder: "-c:v libx264 -profile:v baseline -g 24 -keyint_min 24"),
    Case(testDescription: "QuickTime", output: "out.mov"),
    Case(testDescription: "Matroska", output: "out.mkv"),
    Case(
      testDescription: "from MPEG-TS", source: "source.ts", output: "out.mp4", keepsForm: false),
    Case(testDescription: "FLV", output: "out.flv"),
    Case(testDescription: "following, MPEG-TS", output: "out.ts", follows: true, keepsForm: false),
    Case(testDescription: "following, FLV", output: "out.flv", follows: true),
    // The app begins upright and turns with the first event. That transition is drawn too.
    Case(testDescription: "spinning", copied: [24..<48, 96..<144], style: "spin"),
    Case(testDescription: "fading", copied: [24..<48, 96..<144], style: "crossfade"),
    Case(
      testDescription: "VP9", encoder: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 24",
      source: "source.webm", output: "out.webm"),
    Case(
      testDescription: "AV1", encoder: "-c:v libsvtav1 -preset 12 -g 24", source: "source.mp4"),
  ]

  @Test(
    "Suitable GOPs are copied and the others are encoded, in one track", .long,
    arguments: Loop.cases(cases, test: 6))
  func joined(_ test: Case) throws {
    let scratch = try Scratch()
    let source = try Self.source(test, scratch)
    let run = try Self.transcode(source, to: scratch.path(test.output), test)
    let copied = test.copied.map(\.count).reduce(0, +)
    #expect(run.report["output"]["copied_frames"].int == copied)
    #expect(run.report["output"]["encoded_frames"].int == 144 - copied)
    try Self.checkPackets(source, run.path, test)
    try Self.checkStrictly(run.path)
    if !test.follows { try Self.checkFrames(source, run.path, test, scratch) }
    try Self.checkAudio(source, run.path)
  }

  /// Checks that copied packets have the source's bytes, keyframes with parameter sets in front, that times are the
  /// source's, and that decoding times increase.
  private static func checkPackets(_ source: String, _ path: String, _ test: Case) throws {
    let old = try FFmpegTool.packets(source, "v:0", hashes: true)
    let new = try FFmpegTool.packets(path, "v:0", hashes: true)
    try #require(old.count == 144 && new.count == 144)
    if test.keepsForm {
      let hasSets = ["h264", "hevc"].contains(codec(test))
      for index in test.copied.joined() {
        if hasSets, new[index].isKey {
          #expect(new[index].size > old[index].size, "keyframe \(index) has no parameter sets")
        } else if new[index].hash != old[index].hash {
          Issue.record("packet \(index) differs from the source's")
        }
      }
    }
    let dts = new.compactMap(\.dts)
    #expect(dts.count >= 142 && zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(new.allSatisfy { ($0.dts ?? 0) <= ($0.pts ?? 0) })
    let (before, after) = (old.compactMap(\.time).sorted(), new.compactMap(\.time).sorted())
    for (index, (one, other)) in zip(before, after).enumerated()
    where abs((one - before[0]) - (other - after[0])) > 0.0011 {
      Issue.record("frame \(index) is at \(other), not \(one)")
    }
  }

  /// Checks that a decoder that stops at the first error decodes every frame.
  private static func checkStrictly(_ path: String) throws {
    let sums = try FFmpegTool.run(
      "-xerror -err_detect explode -i \(path) -map 0:v -fps_mode passthrough -f framecrc -")
    let lines = String(decoding: sums, as: UTF8.self).split(separator: "\n")
    #expect(lines.count { !$0.hasPrefix("#") } == 144)
  }

  /// Checks that copied frames decode to the source's, and that encoded ones have the quality of a full
  /// encode.
  private static func checkFrames(
    _ source: String, _ path: String, _ test: Case, _ scratch: Scratch
  ) throws {
    let truth = try transcode(source, to: scratch.path("truth.y4m"), test)
    let full = try transcode(source, to: scratch.path("full-\(test.output)"), test) {
      $0.reencode = .always
      $0.codec = VideoCodec(rawValue: $0.codec?.rawValue ?? Self.codec(test))
    }
    func ratios(_ path: String) throws -> [FFmpegTool.Ratio] {
      try FFmpegTool.ratios(
        inputs: ["-i", path, "-i", truth.path], graph: "[0:v]null[a];[1:v]null[b]")
    }
    let (joined, wholly) = (try ratios(path), try ratios(full.path))
    try #require(joined.count == 144 && wholly.count == 144)
    let copied = Set(test.copied.joined())
    for index in 0..<144 where copied.contains(index) && joined[index].luma != .infinity {
      Issue.record("frame \(index) differs from the source: \(joined[index])")
    }
    let encoded = (0..<144).filter { !copied.contains($0) }
    func mean(_ ratios: [FFmpegTool.Ratio]) -> Double {
      encoded.map { ratios[$0].luma }.reduce(0, +) / Double(encoded.count)
    }
    figure("\(test.testDescription): \(mean(joined)) dB, all encoded \(mean(wholly)) dB")
    #expect(mean(joined) > mean(wholly) - 0.5)
    #expect(encoded.allSatisfy { joined[$0].luma > 25 })
  }

  private static func codec(_ test: Case) -> String {
    for (word, name) in [("x265", "hevc"), ("vpx", "vp9"), ("av1", "av1")]
    where test.encoder.contains(word) { return name }
    return "h264"
  }

  private static func checkAudio(_ source: String, _ path: String) throws {
    let (old, new) = (
      try FFmpegTool.packets(source, "a:0", hashes: true),
      try FFmpegTool.packets(path, "a:0", hashes: true)
    )
    #expect(old.count == new.count)
  }

  // MARK: - Plans and errors

  @Test(
    "Without entry points everything is encoded, and the reason is reported", .long,
    arguments: ["-c:v libx264 -g 1000", "-c:v libx264 -g 24 -x264-params open-gop=1"])
  func notEntered(_ encoder: String) throws {
    let scratch = try Scratch()
    let test = Case(testDescription: encoder, encoder: encoder)
    let source = try Self.source(test, scratch)
    let run = try Self.transcode(source, to: scratch.path("out.mp4"), test)
    #expect(run.report["output"]["copied_frames"].int == 0)
    #expect(run.report["output"]["encoded_frames"].int == 144)
    let lines = try Self.plan(source, scratch).lines
    #expect(lines.contains { $0.contains("re-encoded") && $0.contains("only entry point") })
  }

  @Test("--dry-run lists the copied and the encoded parts, with times and reasons")
  func planned() throws {
    let scratch = try Scratch()
    let source = try Self.source(Self.cases[0], scratch)
    let lines = try Self.plan(source, scratch).lines
    #expect(lines.contains("frames  96 copied, 48 re-encoded"))
    #expect(lines.contains("part    0.0 s to 2.0 s: copied"))
    #expect(
      lines.contains(
        "part    2.0 s to 4.0 s: re-encoded: at 2.333 s the frame must be turned: right"))
    #expect(lines.contains("part    4.0 s to the end: copied"))
    #expect(scratch.names == ["source.mp4"])
  }

  @Test("A plan has the copied and the encoded parts, with times, counts and reasons")
  func plannedFields() throws {
    let scratch = try Scratch()
    let source = try Self.source(Self.cases[0], scratch)
    let plan = try Self.plan(source, scratch)
    #expect(plan.input.path == source && plan.input.codec == "h264")
    #expect(plan.input.size == PixelSize(160, 96) && plan.input.duration == 6)
    #expect(plan.output.path == scratch.path("planned.mp4"))
    #expect(plan.output.container == .mp4 && plan.output.codec == "h264")
    #expect(plan.canvas == .landscape && !plan.isToneMapped && plan.concurrency == 1)
    #expect(plan.parts.map(\.start) == [0, 2, 4] && plan.parts.map(\.end) == [2, 4, nil])
    #expect(plan.parts.map(\.frames) == [48, 48, 48])
    #expect(plan.parts.map(\.isCopied) == [true, false, true])
    #expect(
      plan.parts.map(\.reason) == [
        "every frame is already upright", "at 2.333 s the frame must be turned: right",
        "every frame is already upright",
      ])
    #expect(plan.copiedFrames == 96 && plan.encodedFrames == 48)
    #expect(plan.tracks.map(\.stream) == [1] && plan.tracks.map(\.kind) == [.audio])
    #expect(plan.tracks.map(\.codec) == ["aac"] && plan.tracks.map(\.action) == [.copy])
    #expect(plan.dropped.isEmpty && plan.warnings.isEmpty)
    #expect(
      plan.json["parts"]?.compact
        == #"[{"from":0.0,"to":2.0,"frames":48,"copied":true,"reason":"every frame is already upright"},"#
        + #"{"from":2.0,"to":4.0,"frames":48,"copied":false,"reason":"at 2.333 s the frame must be turned: right"},"#
        + #"{"from":4.0,"to":null,"frames":48,"copied":true,"reason":"every frame is already upright"}]"#
    )
  }

  @Test("A plan that encodes everything has one part, or one for each chunk")
  func plannedChunks() throws {
    let scratch = try Scratch()
    let source = try Self.source(Self.cases[0], scratch)
    let whole = try Self.plan(source, scratch) {
      $0.reencode = .always
      $0.start = 1
      $0.end = 5
    }
    #expect(whole.parts.map(\.start) == [1] && whole.parts.map(\.end) == [5])
    #expect(whole.parts.map(\.reason) == ["requested"] && !whole.parts[0].isCopied)
    #expect(whole.encodedFrames == nil && whole.copiedFrames == nil)
    #expect(whole.lines.contains("frames  re-encoded: requested"))
    let chunks = try Self.plan(source, scratch) {
      $0.reencode = .always
      $0.chunks = .count(2)
    }
    #expect(chunks.parts.map(\.start) == [0, 2, 4] && chunks.parts.map(\.end) == [2, 4, nil])
    #expect(chunks.parts.allSatisfy { !$0.isCopied && $0.reason == "requested" })
    #expect(chunks.concurrency == 2 && chunks.encodedFrames == 144 && chunks.copiedFrames == 0)
    #expect(chunks.lines.contains("chunks  3, 2 in parallel"))
  }

  @Test("A plan has the tracks that are encoded or left out, and the reason to copy all frames")
  func plannedTracks() throws {
    let scratch = try Scratch()
    let source = try Self.source(Self.cases[0], scratch)
    func plan(_ name: String) throws -> TranscodePlan {
      try TranscodeSession(input: source, output: scratch.path(name)).plan()
    }
    let copy = try plan("copy.mp4")
    #expect(copy.parts.map(\.isCopied) == [true] && copy.copiedFrames == 144)
    #expect(copy.parts.map(\.reason) == ["every frame is already upright"])
    let webm = try plan("encoded.webm")
    #expect(webm.output.container == .webm && webm.output.codec == "vp9")
    #expect(webm.tracks.map(\.action) == [.encode])
    #expect(webm.lines.contains("track   stream 1: aac, re-encoded"))
    let silent = try plan("silent.y4m")
    #expect(silent.tracks.isEmpty && silent.output.codec == "raw")
    #expect(silent.dropped == ["stream 1 (audio, aac): y4m cannot carry audio"])
  }

  private static func plan(
    _ source: String, _ scratch: Scratch,
    options configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> TranscodePlan {
    var options = TranscodeOptions()
    options.sensor()
    options.canvas = .landscape
    configure(&options)
    let session = try TranscodeSession(
      input: source, output: scratch.path("planned.mp4"), options: options,
      policy: try #require(PolicyDocument.builtIn("phone")),
      events: .list(try RotationEvent.parse(jsonLines: Array(events.utf8))))
    return try session.plan()
  }

  @Test("Damage in an encoded GOP is reported, and copied GOPs are unchanged", .long)
  func damaged() throws {
    let scratch = try Scratch()
    let test = Self.cases[0]
    let source = try Self.source(test, scratch)
    let packets = try FFmpegTool.probe(source, ["-select_streams", "v:0", "-show_packets"])
    let place = try #require(packets["packets"][50]["pos"].string.flatMap(Int.init))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
    let size = try #require(packets["packets"][50]["size"].string.flatMap(Int.init))
    for index in place + 6..<place + size { bytes[index] = 0x55 }
    try bytes.write(to: URL(fileURLWithPath: source))
    let run = try Self.transcode(source, to: scratch.path("out.mp4"), test)
    #expect(run.report["warnings"].array.contains { $0.string?.contains("damaged") == true })
    #expect(run.report["output"]["copied_frames"].int == 96)
    let (old, new) = (
      try FFmpegTool.packets(source, "v:0", hashes: true),
      try FFmpegTool.packets(run.path, "v:0", hashes: true)
    )
    // Keyframes have parameter sets in front.
    let pairs = zip(old.prefix(48) + old.suffix(48), new.prefix(48) + new.suffix(48))
    #expect(pairs.allSatisfy { old, new in new.isKey || old.hash == new.hash })
    #expect(throws: UprightError.self) {
      try Self.transcode(source, to: scratch.path("strict.mp4"), test) { $0.isStrict = true }
    }
    #expect(!scratch.names.contains("strict.mp4"))
  }

  // MARK: - Players

  /// Transcodes the numbered clip with an entry point every 25 frames. Frames 100 to 199 are copied.
  private static func numbered(
    _ name: String, _ scratch: Scratch, canvas: CanvasRule
  ) throws -> Transcoded {
    let source = scratch.path("numbered.mp4")
    try FFmpegTool.run(
      """
      -i \(Samples.turning) -lavfi sine=f=440:r=48000:d=10[a];[0:v]scale=640:360[v] -map [v] -map [a] \
      -c:v libx264 -preset veryfast -crf 12 -bf 3 -g 25 -keyint_min 25 -c:a aac
      """, [source])
    let run = try Transcoded(source, to: scratch.path(name), events: Samples.turningEvents()) {
      $0.sensor()
      $0.canvas = canvas
      $0.size = .pair(PixelSize(360, 640))
    }
    #expect(run.report["output"]["copied_frames"].int == 100)
    #expect(run.report["output"]["encoded_frames"].int == 200)
    return run
  }

  static let shown: [(String, CanvasRule)] = [
    ("out.mp4", .landscape), ("out.mp4", .follow), ("out.mkv", .landscape), ("out.ts", .follow),
  ]

  @Test(
    "FFmpeg and GStreamer decode every frame once", .long, .plays(.gstreamer),
    arguments: Loop.cases(shown, test: 2))
  func played(_ name: String, _ canvas: CanvasRule) throws {
    let scratch = try Scratch()
    let run = try Self.numbered(name, scratch, canvas: canvas)
    let (status, said) = try Player.ffmpeg.play([run.path])
    #expect(status == 0, "\(said["error"])")
    #expect(said["errors"].array.isEmpty, "\(said["errors"])")
    #expect(said["frames"].int == 300)
    #expect(said["backwards"].int == 0)
    #expect(said["numbers"].array[100..<200].map { $0.int } == Array(100..<200))
    if canvas == .follow { #expect(said["numbers"].ints == Array(0..<300)) }
    let (ended, shown) = try Player.gstreamer.play([run.path, "--audio"])
    #expect(ended == 0, "\(shown["error"])")
    #expect(shown["frames"].int == 300)
    #expect(shown["backwards"].int == 0)
    #expect(shown["sizes"].array.count == (canvas == .follow ? 3 : 1))
  }

  @Test(
    "Chromium plays across the joins", .plays(.chromium), .browser,
    arguments: Loop.cases([CanvasRule.follow, .landscape], test: 1))
  func browsed(_ canvas: CanvasRule) throws {
    let scratch = try Scratch()
    let run = try Self.numbered("out.mp4", scratch, canvas: canvas)
    let times = try FFmpegTool.frames(run.path).compactMap(\.time)
    try #require(times.count == 300)
    let frames = [100, 101, 150, 198, 199]
    let middles = frames.map { "\((times[$0] + times[$0 + 1]) / 2)" }
    let pictures = try Scratch()
    let (status, said) = try Player.chromium.play([
      scratch.folder.path, "out.mp4", "--rate", "4", "--snapshot",
      middles.joined(separator: ","), "--out", pictures.folder.path,
    ])
    #expect(status == 0, "\(said["error"])")
    #expect(said["ended"].bool == true)
    #expect(said["totalVideoFrames"].int ?? 0 > 200)
    let snapshots = said["snapshots"].array
    try #require(snapshots.count == frames.count)
    for (snapshot, frame) in zip(snapshots, frames) {
      let file = try #require(snapshot["file"].string)
      let (_, read) = try Player.ffmpeg.play([
        file.hasPrefix("/") ? file : pictures.path(file)
      ])
      #expect(read["numbers"].ints.first == frame)
    }
  }
}
