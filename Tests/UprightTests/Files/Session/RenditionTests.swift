import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// Files with several renditions: a ladder, and both canvases at once.
@Suite(
  .enabled(if: Needs.ffmpeg && Needs.python, "needs ffmpeg and python3"), .serialized,
  .tags(.lengthy))
struct RenditionTests {
  /// Portrait, landscape from frame 100, portrait from frame 200.
  private static func make(
    _ name: String, in scratch: Scratch, _ configure: (inout TranscodeOptions) -> Void
  ) throws -> Transcoded {
    try Transcoded(
      NumberedClip.Clip.variable.path(), to: scratch.path(name), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.quick()
      configure(&$0)
    }
  }

  /// Checks that the playlists have the same segments and discontinuities. Returns them.
  private static func checkedAlike(_ names: [String], _ scratch: Scratch) throws -> [Playlist] {
    let playlists = try names.map { try Playlist(path: scratch.path($0)) }
    let first = try #require(playlists.first)
    for (playlist, name) in zip(playlists, names) {
      #expect(playlist.segments.map(\.duration) == first.segments.map(\.duration), "\(name)")
      #expect(
        playlist.segments.map(\.isDiscontinuous) == first.segments.map(\.isDiscontinuous),
        "\(name)")
      #expect(playlist.isEnded && playlist.type == "VOD")
    }
    return playlists
  }

  /// Checks that a player shows the first frames, `count` of them, upright.
  private static func checkFrames(
    _ path: String, count: Int = 300, changes: [Int], widths: [Int]
  ) throws {
    let (status, said) = try Player.ffmpeg.play([path])
    #expect(status == 0, "\(path): \(said["error"])")
    #expect(said["numbers"].ints == Array(0..<count), "\(path)")
    #expect(said["sizes"].array.map { $0["frame"].int } == changes, "\(path)")
    #expect(said["sizes"].array.map { $0["width"].int } == widths, "\(path)")
    #expect(said["lies"].array.map { $0["orientation"].int } == [1], "\(path)")
  }

  /// The attributes of the variants of a multivariant playlist, and its URIs.
  private static func variants(_ path: String) throws -> [(
    attributes: [String: String], uri: String
  )] {
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    return lines.indices.filter { lines[$0].hasPrefix("#EXT-X-STREAM-INF:") }.map { index in
      let text = lines[index].dropFirst("#EXT-X-STREAM-INF:".count)
      var attributes: [String: String] = [:]
      for match in text.matches(of: /([A-Z0-9-]+)=("[^"]*"|[^,]*)/) {
        attributes[String(match.1)] = match.2.filter { $0 != "\"" }
      }
      return (attributes, String(lines[index + 1]))
    }
  }

  /// Checks `CODECS` and the rates of a variant against the files.
  private static func check(
    _ attributes: [String: String], of uri: String, audio: String, _ scratch: Scratch
  ) throws {
    let stream = try FFmpegTool.probe(
      scratch.path(uri), ["-select_streams", "v:0", "-show_streams"])["streams"][0]
    #expect(stream["profile"].string == "Constrained Baseline")
    let level = String(format: "%02x", try #require(stream["level"].int))
    #expect(attributes["CODECS"] == "avc1.42c0\(level),mp4a.40.2")
    func bits(_ playlist: String) throws -> [(bits: Double, seconds: Double)] {
      try Playlist(path: scratch.path(playlist)).segments.map {
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch.path($0.file)))
        return (Double(data.count * 8), $0.duration)
      }
    }
    let (video, sound) = (try bits(uri), try bits(audio))
    let seconds = video.reduce(0) { $0 + $1.seconds }
    let average = (video + sound).reduce(0) { $0 + $1.bits } / seconds
    let written = try #require(attributes["AVERAGE-BANDWIDTH"].flatMap(Double.init))
    #expect(written >= average - 1 && written <= average * 1.011 + 1, "\(written), not \(average)")
    let peak = try #require(attributes["BANDWIDTH"].flatMap(Double.init))
    // A lower bound: the segments are as long as the target duration, or the last of their format.
    let long = zip(video, sound).filter { $0.0.seconds >= 1 }
    let least = long.map { (video, sound) in (video.bits + sound.bits) / video.seconds }.max() ?? 0
    #expect(peak >= least * 0.95 && peak <= least * 1.2, "\(peak), at least \(least)")
  }

  /// An encoder's delay of audio is the earliest time then. Four seconds.
  @Test(
    "hls.js shows the first GOP of a ladder without B-frames",
    .enabled(if: Player.chromium.isHere, "needs Chromium"))
  func firstGOP() throws {
    let wheel = try #require(Player.wheelOfHLSJS)
    let scratch = try Scratch()
    _ = try Transcoded(Samples.withAudio, to: scratch.path("a.m3u8")) {
      $0.quick()
      $0.ladder = [Rung(size: PixelSize(320, 180))]
    }
    let (status, shown) = try Player.chromium.play(
      [scratch.path(""), "a.m3u8", "--hls-js", wheel, "--rate", "4"])
    #expect(status == 0 && shown["totalVideoFrames"].int == 150, "\(shown)")
    #expect(shown["mediaTimes"][0].double ?? 1 < 0.001, "\(shown)")
  }

  @Test("A ladder: the same cuts, times and frames on each rung, and the audio once", .long)
  func ladder() throws {
    let scratch = try Scratch()
    let run = try Self.make("out.m3u8", in: scratch) {
      $0.ladder = [Rung(size: PixelSize(180, 320)), Rung(size: PixelSize(144, 256))]
      $0.segmentDuration = 2
    }
    #expect(run.result.output.frames == 300 && run.result.output.encodedFrames == 300)
    #expect(
      run.result.output.sizes.map(\.description) == [
        "180x320", "320x180", "180x320", "144x256", "256x144", "144x256",
      ])
    let names = ["out-180p.m3u8", "out-144x256.m3u8", "out-audio.m3u8"]
    let playlists = try Self.checkedAlike(names, scratch)
    #expect(playlists.allSatisfy { $0.discontinuities == 2 && $0.maps.count == 3 })
    #expect(playlists[0].segments.count == 6)

    try Self.checkFrames(scratch.path(names[0]), changes: [0, 100, 200], widths: [180, 320, 180])
    try Self.checkFrames(scratch.path(names[1]), changes: [0, 100, 200], widths: [144, 256, 144])
    let times = try names.prefix(2).map {
      try FFmpegTool.packets(scratch.path($0), "v:0").map { [$0.pts ?? -1, $0.isKey ? 1 : 0] }
    }
    #expect(times[0].count == 300 && times[0] == times[1])
    let sound = try FFmpegTool.packets(scratch.path(names[2]), "a:0")
    #expect(
      sound.count == (try FFmpegTool.packets(NumberedClip.Clip.variable.path(), "a:0")).count)
    let streams = try FFmpegTool.probe(scratch.path(names[2]), ["-show_streams"])["streams"].array
    #expect(streams.map { $0["codec_type"].string } == ["audio"])

    let variants = try Self.variants(run.path)
    #expect(variants.map(\.uri) == Array(names.prefix(2)))
    #expect(variants.map { $0.attributes["RESOLUTION"] } == ["180x320", "144x256"])
    for variant in variants {
      try Self.check(variant.attributes, of: variant.uri, audio: names[2], scratch)
      #expect(variant.attributes["AUDIO"] == "audio")
    }
    // FFmpeg's reader offers each variant as a program.
    let programs = try FFmpegTool.probe(run.path, ["-show_programs"])["programs"].array
    #expect(programs.count == 2)
    #expect(programs.allSatisfy { $0["nb_streams"].int == 2 })
  }

  @Test("A lower rung shows what the first one does, frame by frame", .long)
  func rungPixels() throws {
    let scratch = try Scratch()
    _ = try Self.make("out.m3u8", in: scratch) {
      $0.ladder = [
        Rung(size: PixelSize(180, 320), rate: .constantQuality(4)),
        Rung(size: PixelSize(90, 160), rate: .constantQuality(4)),
      ]
      $0.canvas = .landscape
      $0.fit = .blur
    }
    let ratios = try FFmpegTool.ratios(
      inputs: ["180p", "90x160"].flatMap { ["-i", scratch.path("out-\($0).m3u8")] },
      graph: "[0]scale=160:90:flags=bicubic+accurate_rnd,setsar=1[a];[1]setsar=1[b]")
    #expect(ratios.count == 300)
    figure("a lower rung: \(ratios.worst)")
    #expect(ratios.worst.luma > 32, "\(ratios.worst)")
  }

  @Test("GStreamer plays a ladder to its end", .plays(.gstreamer), .long)
  func gstreamer() throws {
    let scratch = try Scratch()
    let run = try Self.make("out.m3u8", in: scratch) {
      $0.ladder = [Rung(size: PixelSize(180, 320)), Rung(size: PixelSize(90, 160))]
      $0.canvas = .portrait
    }
    let (status, said) = try Player.gstreamer.play([run.path, "--audio"])
    #expect(status == 0, "\(said["error"])")
    #expect(said["frames"].int == 300 && said["backwards"].int == 0)
    #expect(said["audio"]["buffers"].int ?? 0 > 460)
  }

  /// A phone that turns ten times in 300 frames, to landscape and back. The scene is drawn upright in both shapes, with
  /// the frame's number as blocks, so that the next frame is far from this one.
  private enum TenTurns {
    static let frames = 300
    private static let step = 28

    static func isLandscape(_ frame: Int) -> Bool { frame / step % 2 == 1 }

    static var events: String {
      stride(from: 0, to: frames, by: step).map { frame in
        let device = isLandscape(frame) ? "landscapeLeft" : "portrait"
        return "{\"at\": \(Double(frame) / 30), \"device\": \"\(device)\"}\n"
      }.joined()
    }

    /// The scene in one of the shapes, as an input of FFmpeg.
    static func scene(isLandscape: Bool) -> [String] {
      let bits = (0..<9).map {
        "drawbox=x=\($0)*iw/9:y=ih*2/3:w=iw/9:h=ih/3:color=white:t=fill"
          + ":enable='mod(floor(n/\(1 << $0))\\,2)'"
      }
      let size = isLandscape ? "640x360" : "360x640"
      let filters =
        ["testsrc2=s=\(size):r=30:d=10", "drawbox=y=ih*2/3:h=ih/3:color=black:t=fill"] + bits
      return ["-f", "lavfi", "-i", filters.joined(separator: ",") + ",format=yuv420p"]
    }

    /// Selects the frames in one of the shapes.
    static func select(isLandscape: Bool) -> String {
      "select='eq(mod(floor(n/\(step))\\,2)\\,\(isLandscape ? 1 : 0))'"
    }

    /// Writes what the phone's sensor records: landscape frames, of which portrait ones are turned.
    static func film(_ path: String) throws {
      try FFmpegTool.run(
        scene(isLandscape: false) + scene(isLandscape: true) + [
          "-f", "lavfi", "-i", "sine=f=440:r=48000:d=10", "-filter_complex",
          "[0]transpose=cclock[tall];[1][tall]overlay=format=yuv420:"
            + "enable='eq(mod(floor(n/\(step))\\,2)\\,0)'",
          "-c:v", "libx264", "-preset", "veryfast", "-crf", "8", "-c:a", "aac", path,
        ])
    }

    /// Compares every frame of a canvas with the scene at its place.
    static func check(_ path: String, _ canvas: PixelSize, fit: Fit, above limit: Double) throws {
      for isLandscape in [false, true] {
        let placement = Placement(
          source: PixelSize(640, 360), orientation: isLandscape ? .up : .right, fit: fit,
          canvas: canvas)
        // The rectangle on the canvas, and the part of the upright frame that is in it.
        let (part, stored) = (placement.canvasRect, placement.sourceRect)
        let kept =
          isLandscape
          ? stored : PixelRect(x: 0, y: stored.x, width: stored.height, height: stored.width)
        let chosen = select(isLandscape: isLandscape)
        let ratios = try FFmpegTool.ratios(
          inputs: ["-i", path] + scene(isLandscape: isLandscape),
          graph: "[0]\(chosen),crop=\(part.width):\(part.height):\(part.x):\(part.y),setsar=1[a];"
            + "[1]\(chosen),crop=\(kept.width):\(kept.height):\(kept.x):\(kept.y),"
            + "scale=\(part.width):\(part.height):flags=bicubic+accurate_rnd,setsar=1[b]")
        #expect(ratios.count == (0..<frames).count { Self.isLandscape($0) == isLandscape })
        figure("dual \(canvas) \(fit), landscape \(isLandscape): \(ratios.worst)")
        #expect(ratios.worst.luma >= limit, "\(path), landscape \(isLandscape): \(ratios.worst)")
      }
    }
  }

  /// Costs 6 seconds.
  @Test("Both canvases over ten turns: one format each, every frame compared with the truth", .long)
  func dualFiles() throws {
    let scratch = try Scratch()
    let clip = scratch.path("clip.mp4")
    try TenTurns.film(clip)
    let run = try Transcoded(clip, to: scratch.path("take.mp4"), events: TenTurns.events) {
      $0.sensor()
      $0.quick()
      $0.canvas = .dual
      $0.size = .pair(PixelSize(180, 320))
      $0.rate = .constantQuality(10)
      $0.landscapeFit = .fill
    }
    let files = ["take-portrait.mp4", "take-landscape.mp4"]
    #expect(scratch.names == (files + ["clip.mp4"]).sorted())
    #expect(run.result.output.files == files.map { scratch.path($0) })
    #expect(run.result.output.sizes == [PixelSize(180, 320), PixelSize(320, 180)])
    #expect(run.result.formats.allSatisfy { $0.format.encodeResolution == PixelSize(180, 320) })
    for (file, size) in zip(files, [PixelSize(180, 320), PixelSize(320, 180)]) {
      let path = scratch.path(file)
      let frames = try FFmpegTool.frames(path)
      #expect(frames.count == TenTurns.frames)
      #expect(frames.allSatisfy { PixelSize($0.width, $0.height) == size }, "\(file)")
      #expect(try FFmpegTool.packets(path, "a:0").count == FFmpegTool.packets(clip, "a:0").count)
      try TenTurns.check(path, size, fit: size.isLandscape ? .fill : .blur, above: 25)
    }
  }

  @Test(
    "Both canvases as HLS: a multivariant playlist each, one of both on demand, equal cuts, one format each",
    .long, arguments: [false, true])
  func dualPlaylists(isCommon: Bool) throws {
    let scratch = try Scratch()
    let run = try Self.make("out.m3u8", in: scratch) {
      $0.canvas = .dual
      $0.hasCommonPlaylist = isCommon
      $0.size = .pair(PixelSize(180, 320))
      $0.segmentDuration = 2
    }
    let names = ["out-portrait-video.m3u8", "out-landscape-video.m3u8", "out-audio.m3u8"]
    let playlists = try Self.checkedAlike(names, scratch)
    #expect(playlists.allSatisfy { $0.discontinuities == 0 && $0.maps.count == 1 })
    #expect(playlists[0].segments.count == 5)
    try Self.checkFrames(scratch.path(names[0]), changes: [0], widths: [180])
    try Self.checkFrames(scratch.path(names[1]), changes: [0], widths: [320])
    if isCommon {
      let all = try Self.variants(run.path)
      #expect(all.map(\.uri) == Array(names.prefix(2)))
      #expect(all.map { $0.attributes["NAME"] } == ["portrait", "landscape"])
      #expect(all.map { $0.attributes["RESOLUTION"] } == ["180x320", "320x180"])
    } else {
      #expect(!scratch.names.contains("out.m3u8"))
      #expect(
        run.result.output.files
          == ["portrait", "landscape"].map { scratch.path("out-\($0).m3u8") })
    }
    for (index, canvas) in ["portrait", "landscape"].enumerated() {
      let own = try Self.variants(scratch.path("out-\(canvas).m3u8"))
      #expect(own.map(\.uri) == [names[index]])
      #expect(own[0].attributes["NAME"] == nil)
      try Self.checkFrames(
        scratch.path("out-\(canvas).m3u8"), changes: [0], widths: [index == 0 ? 180 : 320])
    }
  }

  /// Costs 5 seconds.
  @Test("Both canvases and a ladder in AV1: four encoders at once, every frame on each", .long)
  func severalInAV1() throws {
    let scratch = try Scratch()
    let run = try Self.make("out.m3u8", in: scratch) {
      $0.canvas = .dual
      $0.hasCommonPlaylist = true
      $0.codec = .av1
      $0.speed = "8"
      $0.end = 4
      $0.ladder = [Rung(size: PixelSize(180, 320)), Rung(size: PixelSize(144, 256))]
      $0.segmentDuration = 2
    }
    for (canvas, widths) in [("portrait", [180, 144]), ("landscape", [320, 256])] {
      let names = ["180p", "144x256"].map { "out-\(canvas)-\($0).m3u8" }
      _ = try Self.checkedAlike(names + ["out-audio.m3u8"], scratch)
      for (name, width) in zip(names, widths) {
        try Self.checkFrames(
          scratch.path(name), count: run.result.output.frames, changes: [0], widths: [width])
      }
    }
    #expect(run.result.output.frames > 110)
    let codecs = try Self.variants(run.path).map { $0.attributes["CODECS"] ?? "" }
    #expect(codecs.count == 4 && codecs.allSatisfy { $0.hasPrefix("av01.0.") }, "\(codecs)")
  }

  @Test("A focus moves the crop at its frame, from one edge to the other", .long)
  func focus() throws {
    let scratch = try Scratch()
    let events = try Samples.turningEvents().split(separator: "\n").map(String.init)
    let moves = [
      #"{"at": 0, "focus": [0, 0.5]}"#, #"{"at": 5, "focus": [1, 0.5]}"#,
      #"{"at": 6, "focus": [0, 0.5]}"#,
    ]
    func time(_ line: String) throws -> Double {
      try JSONDecoder().decode(JSON.self, from: Data(line.utf8))["at"].double ?? 0
    }
    let all = try (events + moves).enumerated().sorted {
      try (time($0.element), $0.offset) < (time($1.element), $1.offset)
    }
    let run = try Transcoded(
      NumberedClip.Clip.constant.path(), to: scratch.path("out.mp4"),
      events: all.map(\.element).joined(separator: "\n")
    ) {
      $0.sensor()
      $0.quick()
      $0.canvas = .portrait
      $0.size = .pair(PixelSize(180, 320))
      $0.rate = .constantQuality(8)
      $0.fit = .fill
      $0.focusEase = 0
    }
    #expect(run.report["events"].array.count == events.count + 3)
    // The landscape frames are 100 to 199: left to 149, right to 179, left to 199.
    let truth = try Samples.truth.get()[1]
    func crop(_ start: Int, _ end: Int, _ x: String) -> String {
      "trim=start_frame=\(start):end_frame=\(end),crop=ih*9/16:ih:\(x):0,scale=180:320"
        + ":flags=bicubic+accurate_rnd,format=yuv420p,setsar=1"
    }
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", run.path, "-i", truth],
      graph: "[0]trim=start_frame=100:end_frame=200,format=yuv420p,setsar=1[a];[1]split=3[x][y][z];"
        + "[x]\(crop(0, 50, "0"))[l];[y]\(crop(50, 80, "iw-ow"))[r];[z]\(crop(80, 100, "0"))[m];"
        + "[l][r][m]concat=n=3[b]")
    #expect(ratios.count == 100)
    figure("focus: \(ratios.worst)")
    #expect(ratios.worst.luma > 24, "\(ratios.worst)")
  }

  @Test("A focus where nothing is cropped is an error of the events")
  func focusWithoutFill() throws {
    let scratch = try Scratch()
    let error = #expect(throws: UprightError.self) {
      try Transcoded(
        Samples.displayMatrix, to: scratch.path("out.mp4"),
        events: "{\"at\": 0, \"focus\": [0, 0]}\n"
      ) { $0.quick() }
    }
    #expect(error?.code == .badData && error?.location == "line 1")
    #expect(error?.remedy.contains("fill") == true && scratch.names.isEmpty)
  }

  @Test("An output that can't be written leaves nothing, of either canvas")
  func neitherHalf() throws {
    let scratch = try Scratch()
    func failure(_ configure: (inout TranscodeOptions) -> Void) throws -> UprightError? {
      let error = #expect(throws: UprightError.self) {
        try Self.make("take.mp4", in: scratch) {
          $0.canvas = .dual
          $0.size = .pair(PixelSize(90, 160))
          configure(&$0)
        }
      }
      return error
    }
    let present = scratch.path("take-landscape.mp4")
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: present))
    let error = try failure { _ in }
    #expect(error?.code == .cannotCreate && error?.location == present)
    #expect(scratch.names == ["take-landscape.mp4"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: present)) == Data([1, 2, 3]))
    try FileManager.default.removeItem(atPath: present)
    // The second output can't be created: the first isn't left either.
    #expect(
      try failure { $0.landscapeOutput = scratch.path("nowhere/b.mp4") }?.code == .cannotCreate)
    #expect(scratch.names.isEmpty)
  }

  @Test("If the second file can't get its name, the first isn't left either")
  func secondName() throws {
    let scratch = try Scratch()
    var options = TranscodeOptions()
    options.canvas = .dual
    options.size = .pair(PixelSize(90, 160))
    options.quick()
    let session = try TranscodeSession(
      input: Samples.displayMatrix, output: scratch.path("take.mp4"), options: options)
    let other = URL(fileURLWithPath: scratch.path("take-landscape.mp4"))
    let error = #expect(throws: UprightError.self) {
      // Another process creates it during the run.
      try session.run { _ in try? Data([1]).write(to: other) }
    }
    #expect(error?.code == .cannotCreate, "\(String(describing: error))")
    #expect(scratch.names == ["take-landscape.mp4"])
    #expect(try Data(contentsOf: other) == Data([1]))
  }

  @Test("A rung that is larger than the input, and a square for two canvases, are usage errors")
  func tooLarge() throws {
    let scratch = try Scratch()
    let ladder = try Rung.ladder(parsing: ["720p,360p"])
    let error = #expect(throws: UprightError.self) {
      try Self.make("out.m3u8", in: scratch) { $0.ladder = ladder }
    }
    #expect(error?.code == .usage && error?.message.contains("larger than the input") == true)
    #expect(scratch.names.isEmpty)
  }

  @Test("The plan says what would be written")
  func plan() throws {
    let scratch = try Scratch()
    var options = TranscodeOptions()
    options.canvas = .dual
    options.ladder = try Rung.ladder(parsing: ["360p", "180p:300k"])
    let session = try TranscodeSession(
      input: NumberedClip.Clip.variable.path(), output: scratch.path("out.m3u8"), options: options)
    let plan = try session.plan()
    #expect(plan.lines.contains { $0.contains("portrait and landscape") }, "\(plan.lines)")
    #expect(plan.renditions.count == 4)
    #expect(plan.lines.contains { $0.contains("landscape-180p") && $0.contains("300 kbit/s") })
    #expect(plan.parts.map(\.reason) == ["there are several renditions"])
    #expect(scratch.names.isEmpty)
  }
}
