import Foundation
import UprightOrientation
import UprightSignals
import UprightPolicy
import Testing
import UprightFiles
import UprightTestSupport

/// Signals outside the video bitstream: Matroska's projection, FLV's script data, Apple's timed metadata
/// track. Every frame of the output is compared with the expected rotation.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized)
struct SignalSourceTests {
  /// 24 frames of 40 ms with a presentation order of I B B P B B P B B P B P, twice. The first is shown at
  /// 40 ms.
  private static let clip = Result { try EncodedClip(.h264, frames: 24, gop: 12, bFrames: 2) }
  private static let flat = Result { try EncodedClip(.h264, frames: 24, gop: 12, bFrames: 0) }

  /// Returns the rotation letter of every frame, and the warnings.
  private static func turns(_ path: String, _ scratch: Scratch) throws -> (String, [String]) {
    let run = try Transcoded(path, to: scratch.path("\(UUID().uuidString).y4m"))
    let seen = try TurnedFrames.read(
      Y4M(path: run.path), source: TurnedFrames.stored(path, scratch))
    return (seen, run.result.warnings)
  }

  private static func letters(_ runs: (Character, Int)...) -> String {
    runs.map { String(repeating: $0.0, count: $0.1) }.joined()
  }

  // MARK: - Pictures

  // 1 s.
  @Test("Pictures are turned by what their bytes say", arguments: ["png", "webp", "avif"])
  func pictures(_ kind: String) throws {
    let scratch = try Scratch()
    let plain = scratch.path("plain.\(kind)")
    let coding = ["webp": "-lossless 1", "avif": "-c:v libaom-av1 -still-picture 1 -cpu-used 8"]
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x64:d=0.04 -pix_fmt \(kind == "png" ? "rgb24" : "yuv420p") "
        + "-frames:v 1 \(coding[kind] ?? "")", [plain])
    let stored = try Transcoded(plain, to: scratch.path("stored.y4m"))
    for orientation in [ImageOrientation.right, .down, .leftMirrored] {
      let path = scratch.path("\(orientation).\(kind)")
      _ = try TagSession(input: plain, output: path, options: .init(orientation: orientation)).run()
      let run = try Transcoded(path, to: scratch.path("\(orientation).y4m"))
      let seen = try TurnedFrames.read(Y4M(path: run.path), source: Y4M(path: stored.path))
      #expect(TurnedFrames.orientation(seen.first ?? "?") == orientation, "\(kind): \(seen)")
      #expect(run.result.warnings.isEmpty, "\(run.result.warnings)")
      #expect(try Probe(input: path).signals.map(\.signal?.orientation) == [orientation])
    }
    #expect(try Probe(input: plain).signals.isEmpty)
  }

  @Test(
    "What is cropped at the left isn't shown",
    arguments: [("h264", 2), ("h264", 40), ("hevc", 8), ("hevc", 40)])
  func croppedColumns(_ codec: String, _ left: Int) throws {
    let scratch = try Scratch()
    let (whole, cropped) = (scratch.path("whole.mp4"), scratch.path("cropped.mp4"))
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=\(64 + left)x84:d=0.12 -pix_fmt yuv420p "
        + "-c:v \(codec == "h264" ? "libx264" : "libx265")", [whole])
    try FFmpegTool.run(
      ["-i", whole] + "-c copy -metadata:s:v rotate=90".words
        + ["-bsf:v", "\(codec)_metadata=crop_left=\(left):crop_top=20", cropped])
    let source = scratch.path("source.y4m")
    try FFmpegTool.run(["-i", whole, "-vf", "crop=64:64:\(left):20", source])
    let run = try Transcoded(cropped, to: scratch.path("out.y4m"))
    let seen = try TurnedFrames.read(Y4M(path: run.path), source: Y4M(path: source))
    #expect(seen == "LLL")
  }

  // MARK: - Matroska

  private static func matroska(_ scratch: Scratch, _ tags: [String] = []) throws -> String {
    let (movie, path) = (scratch.path("clip.mp4"), scratch.path("\(UUID().uuidString).mkv"))
    try flat.get().movie.write(to: movie)
    try FFmpegTool.run(["-i", movie, "-frames:v", "3", "-c", "copy"] + tags + [path])
    return path
  }

  @Test("Matroska's roll is counter-clockwise, and a yaw of 180 degrees mirrors before it", .long)
  func projection() throws {
    // RFC 9559, 5.1.4.1.28.47: roll is counter-clockwise; table 8: yaw 180 mirrors.
    let table: [(roll: Double, yaw: Double, letter: Character)] = [
      (0, 0, "U"), (90, 0, "L"), (-90, 0, "R"), (180, 0, "D"), (-180, 0, "D"), (0, 180, "u"),
      (0, -180, "u"), (90, 180, "l"), (-90, 180, "r"), (180, 180, "d"), (80, 0, "L"),
    ]
    let scratch = try Scratch()
    for row in table {
      let path = try Self.matroska(scratch)
      try EBMLPatch.addToVideo(EBMLPatch.projection(roll: row.roll, yaw: row.yaw), to: path)
      let (seen, warnings) = try Self.turns(path, scratch)
      #expect(seen == Self.letters((row.letter, 3)), "roll \(row.roll), yaw \(row.yaw)")
      #expect(warnings.count == (row.roll == 80 ? 1 : 0), "\(warnings)")
    }
  }

  @Test("Projections that are not a rotation of the frame are ignored", .long)
  func noProjection() throws {
    let scratch = try Scratch()
    for projection in [
      EBMLPatch.projection(roll: 90, pitch: 30), EBMLPatch.projection(roll: 90, yaw: 45),
      EBMLPatch.projection(roll: .nan), EBMLPatch.projection(roll: .infinity),
    ] {
      let path = try Self.matroska(scratch)
      try EBMLPatch.addToVideo(projection, to: path)
      #expect(try Self.turns(path, scratch).0 == "UUU")
    }
  }

  // MARK: - FLV

  private static func flv(
    _ clip: Result<EncodedClip, any Error>, _ scratch: Scratch,
    _ edit: (inout FLVPatch) throws -> Void
  ) throws -> String {
    let (movie, path) = (scratch.path("clip.mp4"), scratch.path("\(UUID().uuidString).flv"))
    try clip.get().movie.write(to: movie)
    try FFmpegTool.run(["-i", movie, "-c", "copy", "-f", "flv", path])
    var patch = try FLVPatch(path: path)
    try edit(&patch)
    try patch.write(to: path)
    return path
  }

  @Test("onMetaData applies from the frame at its time on, also with B-frames")
  func script() throws {
    let scratch = try Scratch()
    // Frame n is shown at 40 + 40 n. The file's frame 8 is decoded at 320, when frames before and after it
    // in the file have not been shown yet.
    let path = try Self.flv(Self.clip, scratch) {
      try $0.insert([("orientation", .number(6))], beforeFrame: 0)
      try $0.insert([("orientation", .text("leftMirrored"))], beforeFrame: 8, time: 400)
      try $0.insert([("rotation", .number(180))], beforeFrame: 16, time: 690)
    }
    let (seen, warnings) = try Self.turns(path, scratch)
    // 690 is between frames 16 (680) and 17 (720).
    #expect(seen == Self.letters(("R", 9), ("l", 8), ("D", 7)))
    #expect(warnings.isEmpty, "\(warnings)")
  }

  @Test("A tag whose time has passed applies from the next frame of the file on")
  func timeless() throws {
    let scratch = try Scratch()
    let path = try Self.flv(Self.flat, scratch) {
      try $0.insert([("orientation", .number(8))], beforeFrame: 5, time: 0)
      try $0.insert([("orientation", .number(3))], beforeFrame: 11, time: 40)
      // A tag without an orientation changes nothing.
      try $0.insert([("width", .number(64))], beforeFrame: 15)
      try $0.insert([("orientation", .number(1))], beforeFrame: 23)
    }
    #expect(
      try Self.turns(path, scratch).0 == Self.letters(("U", 5), ("L", 6), ("D", 12), ("U", 1)))
  }

  @Test("Invalid values cause one warning, and the value before them stays in effect")
  func senseless() throws {
    let scratch = try Scratch()
    let path = try Self.flv(Self.flat, scratch) {
      try $0.insert([("orientation", .number(6))], beforeFrame: 0)
      try $0.insert([("orientation", .text("sideways"))], beforeFrame: 5)
      try $0.insert([("rotation", .flag(true))], beforeFrame: 9)
      try $0.insert([("orientation", .number(-1e300))], beforeFrame: 12)
    }
    let (seen, warnings) = try Self.turns(path, scratch)
    #expect(seen == Self.letters(("R", 24)))
    #expect(warnings.count == 1 && warnings[0].contains("\"sideways\""), "\(warnings)")
  }

  @Test("Script data is not copied to the output as subtitles")
  func scriptIsNoTrack() throws {
    let scratch = try Scratch()
    let path = try Self.flv(Self.flat, scratch) {
      try $0.insert([("orientation", .number(6))], beforeFrame: 9)
    }
    let run = try Transcoded(path, to: scratch.path("out.mkv")) { $0.quick() }
    #expect(try FFmpegTool.streams(run.path).count == 1)
    #expect(try FFmpegTool.frames(run.path).count == 24)
  }

  // MARK: - Apple's timed track

  /// Returns a movie with a timed orientation track, from frame indices and orientations. The first sample
  /// is at 0, before the first frame.
  private static func timed(
    _ values: [(frame: Int, exif: Int?)], _ edit: (inout MovieWriter) -> Void = { _ in }
  ) throws -> MovieWriter {
    let clip = try clip.get()
    let start = clip.samples.map(\.pts).min() ?? 0
    var movie = clip.movie
    movie.tracks.append(
      .orientation(
        values.map { (at: $0.frame == 0 ? 0 : $0.frame * clip.frame + start, exif: $0.exif) },
        key: 3))
    edit(&movie)
    return movie
  }

  @Test("Each value applies from its time on, wherever its sample is in the file")
  func mebx() throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.mov")
    // The track's samples follow all video samples. An empty sample ends the value before it.
    try Self.timed([(0, 6), (5, 8), (6, 2), (16, nil), (20, 3), (23, 1)]) {
      $0.tracks[1].describes = [1]
      $0.tracks[0].matrix = DisplayMatrixPatch.numbers(.downMirrored)
    }.write(to: path)
    let (seen, warnings) = try Self.turns(path, scratch)
    #expect(
      seen == Self.letters(("R", 5), ("L", 1), ("u", 10), ("d", 4), ("D", 3), ("U", 1)))
    #expect(warnings.isEmpty, "\(warnings)")
    let run = try Transcoded(path, to: scratch.path("out.mov")) { $0.quick() }
    #expect(try FFmpegTool.streams(run.path).count == 1)
    #expect(run.report["output"]["dropped"].array.contains { $0.string?.contains("data") == true })
  }

  @Test("A value between two frames, an invalid value, and one of another track")
  func mebxOdd() throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.mov")
    let between = try Self.timed([(0, 6), (4, 8), (8, 9), (12, 0)]) {
      $0.tracks[1].samples[1].dts += 1
      $0.tracks[1].samples[1].pts += 1
    }
    try between.write(to: path)
    let (seen, warnings) = try Self.turns(path, scratch)
    #expect(seen == Self.letters(("R", 5), ("L", 3), ("U", 16)))
    #expect(warnings.count == 1 && warnings[0].contains("orientation 9"), "\(warnings)")
    try Self.timed([(0, 6)]) { $0.tracks[1].describes = [2] }.write(to: path)
    #expect(try Self.turns(path, scratch).0 == Self.letters(("U", 24)))
  }

  @Test("The majority canvas is determined from the timed track")
  func mebxCanvas() throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.mov")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=96x64:r=25", "-frames:v", "24", "-c:v", "libx264",
      "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-bf", "0", path,
    ])
    #expect(try Self.size(path, scratch) == [96, 64])
    for (turned, expected) in [(8, [64, 96]), (16, [96, 64])] {
      try Self.timed([(0, 1), (turned, 6)]).write(to: scratch.path("square.mov"))
      let square = try Transcoded(
        scratch.path("square.mov"), to: scratch.path("\(turned).mkv")
      ) {
        $0.size = .pair(PixelSize(64, 96))
        $0.quick()
      }
      let video = try #require(try FFmpegTool.streams(square.path, "video").first)
      #expect([video["width"].int, video["height"].int] == expected)
    }
  }

  private static func size(_ path: String, _ scratch: Scratch) throws -> [Int] {
    let run = try Transcoded(path, to: scratch.path("\(UUID().uuidString).y4m"))
    let file = try Y4M(path: run.path)
    return [file.width, file.height]
  }

  // MARK: - Precedence

  /// The names of two signals, by precedence.
  private struct Pair {
    let stronger: String
    let weaker: String
  }

  /// The value of each source. Those that are compared with each other are distinct, so that none can be
  /// mistaken for another or for a combination of two.
  private static let says: [String: ImageOrientation] = [
    "sei": .right, "frameMatrix": .rightMirrored, "mebx": .left, "flv": .leftMirrored,
    "trackMatrix": .down, "projection": .downMirrored, "rotateTag": .right,
  ]

  private static func clip(_ pair: Set<String>, _ scratch: Scratch) throws -> String {
    func number(_ source: String) -> Int { says[source]?.exif ?? 1 }
    var clip = try EncodedClip(
      pair.contains("frameMatrix") ? .mjpeg : .h264, frames: 3, gop: 3, bFrames: 0)
    if pair.contains("sei") {
      clip.insert(
        nal: DisplayOrientationMessage(standing: says["sei"] ?? .up).nal(for: .h264), atShown: 0)
    }
    if pair.contains("frameMatrix") { clip.insert(exif: number("frameMatrix")) }
    var movie = clip.movie
    if pair.contains("trackMatrix") {
      movie.tracks[0].matrix = DisplayMatrixPatch.numbers(says["trackMatrix"] ?? .up)
    }
    if pair.contains("mebx") {
      movie.tracks.append(.orientation([(at: 0, exif: number("mebx"))]))
    }
    let mov = scratch.path("\(pair.sorted().joined(separator: "-")).mov")
    try movie.write(to: mov)
    if pair.contains("flv") {
      let path = mov + ".flv"
      try FFmpegTool.run(["-i", mov, "-c", "copy", path])
      var patch = try FLVPatch(path: path)
      try patch.insert([("orientation", .number(Double(number("flv"))))], beforeFrame: 0)
      try patch.write(to: path)
      return path
    }
    guard !pair.isDisjoint(with: ["projection", "rotateTag"]) else { return mov }
    let path = mov + ".mkv"
    // This FFmpeg writes no tag of that name. It is patched afterwards.
    try FFmpegTool.run(
      ["-i", mov, "-c", "copy"]
        + (pair.contains("rotateTag") ? ["-metadata:s:v:0", "ROTATX=90"] : []) + [path])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    if let place = bytes.range(of: Data("ROTATX".utf8)) {
      bytes.replaceSubrange(place, with: Data("ROTATE".utf8))
      try bytes.write(to: URL(fileURLWithPath: path))
    }
    if pair.contains("projection") {
      try EBMLPatch.addToVideo(EBMLPatch.projection(roll: 180, yaw: 180), to: path)
    }
    return path
  }

  @Test(
    "Of two signals only the stronger applies: every pair that a container supports", .long,
    arguments: [
      ("sei", "mebx"), ("sei", "flv"), ("sei", "trackMatrix"), ("sei", "projection"),
      ("sei", "rotateTag"), ("frameMatrix", "mebx"), ("frameMatrix", "trackMatrix"),
      ("frameMatrix", "projection"), ("frameMatrix", "rotateTag"), ("mebx", "trackMatrix"),
      ("projection", "rotateTag"),
    ])
  func precedence(_ stronger: String, _ weaker: String) throws {
    let scratch = try Scratch()
    let path = try Self.clip([stronger, weaker], scratch)
    let run = try Transcoded(path, to: scratch.path("out.y4m"))
    #expect(run.report["formats"].array.map { $0["turn"].string } == [Self.says[stronger]?.name])
    // Both are listed, with the one that applies first.
    let probe = try Probe(input: path)
    let json = try JSONDecoder().decode(JSON.self, from: Data(probe.json.compact.utf8))
    let signals = json["signals"].array
    #expect(signals.map { $0["source"].string } == [stronger, weaker])
    #expect(
      signals.map { $0["orientation"].string } == [stronger, weaker].map { Self.says[$0]?.name })
    #expect(signals.map { $0["applies"].bool } == [true, false])
    #expect(signals.map { $0["frame"].int } == [0, 0])
  }
}
