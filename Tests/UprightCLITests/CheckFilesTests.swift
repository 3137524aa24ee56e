import Foundation
import Testing
import UprightTestSupport

/// `upright check` of files and folders. Costs five seconds.
@Suite("Files are checked on the command line", .enabled(if: FFmpegTool.isHere, "needs ffmpeg"))
struct CheckFilesTests {
  private static func entries(_ run: Upright.Outcome) -> [String: JSON] {
    Dictionary(
      run.json["files"].array.map {
        (($0["path"].string ?? "").split(separator: "/").last.map(String.init) ?? "", $0)
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func kinds(_ entry: JSON?) -> [String] {
    (entry?["problems"].array ?? []).compactMap { $0["kind"].string }
  }

  // MARK: - Real files

  /// The clips that aren't simply upright, by hand from the manifest of the clips.
  private static let turned: [(name: String, orientation: String, more: [String])] = [
    ("iphone_rotated.mov", "right", ["location"]), ("exo_video_1_rot270.mp4", "left", ["location"]),
    ("h265_with_metadata_track.mp4", "right", ["location"]),
    ("pixel7_videoOnly_cleaned.mp4", "down", []), ("dolbyVision-hdr.MOV", "right", ["location"]),
    ("sample_edit_list.mp4", "right", []), ("rotate-buck-bunny.mp4", "right", []),
    ("mv_with_2_top_shots.mp4", "left", []), ("qt_color_matrix_90cw.mp4", "right", []),
    ("qt_color_matrix_180.mp4", "down", []), ("qt_color_matrix_270cw.mp4", "left", []),
    ("qt_color_matrix_mirrored.mp4", "upMirrored", ["mirrored"]),
    ("sample_rotate_and_reflect.mp4", "leftMirrored", ["mirrored", "location"]),
    ("four-colors-h264-bt601-rotate-90.mp4", "right", []),
    ("four-colors-h264-bt601-hflip.mp4", "upMirrored", ["mirrored"]),
    ("video-rotation-90.mp4", "right", []), ("gecko_video_rotation_90.mp4", "right", []),
    ("foreman_sei_ccw90.mp4", "left", []), ("foreman_sei_hflip.mp4", "upMirrored", ["mirrored"]),
    ("foreman_sei_180_es.h264", "down", []),
  ]
  private static let unturned: [String: [String]] = [
    "par_2_3.mp4": ["aspectRatio"], "sar_2x1.mp4": ["aspectRatio"], "test1.mp4": ["aspectRatio"],
    "no-initial-keyframe.ts": ["aspectRatio"], "sample_missing_stsd.mp4": ["location"],
    "sample_with_invalid_nalu.mp4": ["location"], "no_timescale.mp4": ["angle"],
  ]
  private static let stills = ["Landscape_6.jpg": "right", "Portrait_3.jpg": "down"]

  @Test(
    "Each real clip has the problems that its manifest says",
    .clips("rotation-real", "rotation-D4", "sei-derived", "odd-sar", "broken"))
  func real() throws {
    let folders = [
      "bframes-elst", "broken", "exif-jpeg", "flv", "hdr-10bit", "interlaced", "mkv-webm", "mpegts",
      "odd-sar", "real-footage", "res-change", "rotation-D4", "rotation-other", "rotation-real",
      "sei-derived", "vfr",
    ]
    let run = try Upright.run(
      ["check", "--json"] + folders.map { SharedFiles.url("clips/\($0)").path })
    #expect(run.status == 1 && run.errors.isEmpty, "\(run.errors)")
    let entries = Self.entries(run)
    #expect(entries.count >= 60)
    for (name, entry) in entries where entry["kind"].string == "video" {
      let expected = Self.turned.first { $0.name == name }
      #expect(entry["orientation"].string == expected?.orientation ?? "up", "\(name)")
      let problems = expected.map { ["missedTurn"] + $0.more } ?? Self.unturned[name] ?? []
      #expect(Self.kinds(entry) == problems, "\(name)")
      let isMessage = name.hasPrefix("foreman_sei")
      let verdicts = ["file", "hls", "hardware", "sei"].map { entry["classes"][$0].string }
      let missed = expected == nil ? "upright" : "wrong"
      #expect(verdicts == [isMessage ? "wrong" : "upright", missed, missed, "upright"], "\(name)")
    }
    for (name, orientation) in Self.stills {
      #expect(
        entries[name]?["orientation"].string == orientation && Self.kinds(entries[name]) == [])
    }
    #expect(entries["vp9cake_corrupt.webm"]?["kind"].string == "other")
    let schema = try JSONSchema(text: Upright.run(["schema", "check"]).text)
    #expect(schema.fault(in: run.json) == nil)
    // What is read from the index is what reading all packets says.
    let probes = try Upright.run(
      ["probe", "--json"]
        + Self.turned.map { SharedFiles.url("clips").path + "/" + Self.place($0.name) })
    for probe in probes.json.array {
      let name = (probe["input"].string ?? "").split(separator: "/").last.map(String.init) ?? ""
      #expect(probe["signals"] == entries[name]?["signals"], "\(name)")
    }
  }

  private static func place(_ name: String) -> String {
    let folders = ["rotation-real", "rotation-D4", "sei-derived"]
    return folders.map { "\($0)/\(name)" }.first { SharedFiles.has("clips/\($0)") } ?? name
  }

  // MARK: - Problems

  @Test("Contradicting signals, a turn in mid-stream, an angle between quarter turns")
  func problems() throws {
    let scratch = try Scratch()
    _ = try EncodedClip.writeSignals(in: scratch)
    let tilted = try scratch.copy(Clip.lying, as: "tilted.mp4")
    try DisplayMatrixPatch.apply(clockwiseDegrees: 30, to: tilted)
    let run = try Upright.run(["check", scratch.folder.path, "--json"])
    #expect(run.status == 1 && run.errors.isEmpty, "\(run.errors)")
    let entries = Self.entries(run)
    #expect(
      Self.kinds(entries["take.mov"]) == [
        "missedTurn", "contradiction", "midStreamTurn", "mirrored", "angle",
      ])
    #expect(Self.kinds(entries["tilted.mp4"]) == ["missedTurn", "angle"])
    let classes = entries["tilted.mp4"]?["classes"]
    #expect(classes?["file"].string == "unknown" && classes?["hls"].string == "wrong")
    #expect(run.json["summary"]["problems"]["angle"].int == 2)
    let text = try Upright.run(["check", tilted])
    #expect(text.text.hasPrefix("\(tilted): up; wrong in hls, hardware; angle: "), "\(text.text)")
    #expect(text.text.contains("unknown in file, sei\n\nclass     upright  wrong  unknown\n"))
  }

  @Test("Nothing wrong: exit status 0")
  func upright() throws {
    let scratch = try Scratch()
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:d=0.2 -pix_fmt yuv420p", [scratch.path("a.mp4")])
    let run = try Upright.run(["check", scratch.path("a.mp4"), scratch.folder.path])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(run.text.hasSuffix("\n2 files, 0 with problems\n"), "\(run.text)")
  }

  // MARK: - Folders

  @Test("Odd names, links in circles, pipes, devices, what can't be read: an answer or an error")
  func odd() throws {
    let scratch = try Scratch()
    let manager = FileManager.default
    try manager.createDirectory(atPath: scratch.path("a/b"), withIntermediateDirectories: true)
    _ = try scratch.copy(Clip.lying, as: "a/b/take one.mp4")
    _ = try scratch.copy(Clip.lying, as: ".hidden.mp4")
    _ = try scratch.file("empty.mp4", "")
    _ = try scratch.file("notes.txt", "no media")
    #expect(mkfifo(scratch.path("pipe.mp4"), 0o600) == 0)
    try manager.createSymbolicLink(atPath: scratch.path("a/b/up"), withDestinationPath: "../..")
    try manager.createSymbolicLink(
      atPath: scratch.path("zero.mp4"), withDestinationPath: "/dev/zero")
    try manager.createSymbolicLink(atPath: scratch.path("gone.mp4"), withDestinationPath: "nowhere")
    // Latin-1 for ä.
    let plain = try scratch.copy(Clip.lying, as: "b.mp4")
    let odd = (Array(scratch.path("b").utf8) + [0xE4] + Array(".mp4".utf8) + [0]).map {
      CChar(bitPattern: $0)
    }
    #expect(rename(plain, odd) == 0)
    let run = try Upright.run(["check", scratch.folder.path, "--json"])
    #expect(run.status == 66, "\(run.errors)")
    let files = run.json["files"].array
    let names = files.map { ($0["path"].string ?? "").split(separator: "/").last.map(String.init) }
    #expect(names == ["take one.mp4", "b\u{FFFD}.mp4", "empty.mp4", "gone.mp4"])
    #expect(files.map { $0["error"]["exit"].int } == [nil, 66, 65, 66])
    #expect(run.json["summary"]["failed"].int == 3 && run.lines.count == 3, "\(run.errors)")
    let schema = try JSONSchema(text: Upright.run(["schema", "check"]).text)
    #expect(schema.fault(in: run.json) == nil)
    for path in [scratch.path("pipe.mp4"), "/dev/zero"] {
      try refuse(66, ["check", path], "plain file", in: scratch, input: .nothing)
    }
  }

  @Test("Segments beside their playlist belong to it")
  func playlist() throws {
    let scratch = try Scratch()
    let output = ["-c", "copy", "-f", "hls", "-hls_playlist_type", "vod", scratch.path("a.m3u8")]
    try FFmpegTool.run(["-i", Clip.lying] + output)
    _ = try scratch.file("b.m3u8", "#EXTM3U\n#EXTINF:1.5,\na0.ts\n")
    let run = try Upright.run(["check", scratch.folder.path, "--json"])
    #expect(run.json["files"].array.map { $0["kind"].string } == ["playlist", "playlist"])
    let entries = Self.entries(run)
    #expect(
      Self.kinds(entries["a.m3u8"]).isEmpty && entries["a.m3u8"]?["orientation"].string == "up")
    #expect(Self.kinds(entries["b.m3u8"]) == ["playlist"] && run.status == 1)
    let one = try Upright.run(["check", scratch.path("a.m3u8")])
    #expect(one.text == "no violation in the playlist\n\(scratch.path("a.m3u8")): up\n")
    #expect(one.status == 0)
  }

  @Test("A file that crashes its process has failed, and the others are checked", .server)
  func crash() throws {
    let scratch = try Scratch()
    let listener = try Loopback.Listener()
    let program = try CommandLineProgram(
      [
        "check", "--json", "--jobs", "1", "http://127.0.0.1:\(listener.port)/a.mp4", Clip.lying,
        Clip.turning,
      ], environment: ["SWIFT_BACKTRACE": "enable=no"])
    let deadline = Date(timeIntervalSinceNow: 60)
    while program.children.isEmpty {
      try #require(Date() < deadline, "no child process in a minute")
      usleep(5000)
    }
    // It waits for an answer.
    let peer = try #require(listener.accept())
    defer { close(peer) }
    #expect(kill(try #require(program.children.first), SIGSEGV) == 0)
    let run = try program.wait()
    #expect(run.status == 70, "\(run.errors)")
    #expect(run.json["files"].array.map { $0["error"]["exit"].int } == [70, nil, nil])
    #expect(run.json["files"][1]["orientation"].string == "right", "\(run.text)")
    _ = scratch
  }

  // MARK: - Fixes

  @Test("Metadata is mended in place, and restored")
  func inPlace() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 12, gop: 12, bFrames: 0)
    clip.insert(nal: EncodedClip.displayOrientation(16384), atShown: 0)
    let path = scratch.path("a.mp4")
    try clip.movie.write(to: path)
    _ = try scratch.copy(Clip.lying, as: "b.mp4")
    let before = try ["a.mp4", "b.mp4"].map { try bytes(scratch.path($0)) }
    let record = scratch.path("undo.jsonl")
    let run = try Upright.run([
      "check", scratch.folder.path, "--json", "--fix", "metadata", "--in-place", "--record", record,
    ])
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    let entries = Self.entries(run)
    #expect(entries["a.mp4"]?["classes"]["file"].string == "wrong")
    #expect(entries["a.mp4"]?["fix"]["output"].string == path)
    // A file that players of files show upright isn't touched.
    #expect(entries["b.mp4"]?["fix"] == JSON.null && run.json["summary"]["mended"].int == 1)
    #expect(try bytes(scratch.path("b.mp4")) == before[1])
    let after = try Upright.run(["check", "--json", path]).json["files"][0]
    #expect(after["classes"]["file"].string == "upright" && after["orientation"].string == "left")
    #expect(after["signals"].array.map { $0["source"].string } == ["trackMatrix"])
    #expect(try Upright.run(["tag", "--undo", record]).status == 0)
    #expect(try bytes(path) == before[0])
  }

  @Test("Frames are turned into a folder with the same names below it")
  func pixels() throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(
      atPath: scratch.path("in/one"), withIntermediateDirectories: true)
    _ = try scratch.copy(Clip.lying, as: "in/one/a.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:d=0.2 -pix_fmt yuv420p", [scratch.path("in/b.mp4")])
    // A transport stream has the guidance's size where none is asked for.
    try Self.tagged(scratch.path("in/one/c\n.ts"))
    let arguments = ["check", scratch.path("in"), "--fix", "pixels", "-o", scratch.path("out")]
    let run = try Upright.run(arguments)
    #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    #expect(run.text.contains("2 mended, 0 not mended"), "\(run.text)")
    #expect(run.text.contains("; mended: \(scratch.path("out/one/c .ts"))\n"), "\(run.text)")
    let output = scratch.path("out/one/a.mp4")
    let sizes = try [output, scratch.path("out/one/c\n.ts")].map {
      try FFmpegTool.streams($0, "video")[0]["width"].int
    }
    #expect(sizes[0] == sizes[1], "\(sizes)")
    #expect(!FileManager.default.fileExists(atPath: scratch.path("out/b.mp4")))
    #expect(try frames(output) == frames(Clip.lying))
    let after = try Upright.run(["check", "--json", output])
    #expect(after.status == 0 && after.json["files"][0]["classes"]["hls"].string == "upright")
    // Two files for one output.
    let both = try Upright.run([
      "check", scratch.path("in/one"), scratch.path("in/one/a.mp4"), "--fix", "pixels", "-o",
      scratch.path("both"),
    ])
    #expect(both.status == 64 && both.errors.contains("the same output"), "\(both.errors)")
    // A file that needs no mending has a verdict, and one that gets another container has another name.
    try FileManager.default.createDirectory(
      atPath: scratch.path("pair"), withIntermediateDirectories: true)
    _ = try scratch.copy(Clip.lying, as: "pair/a.mp4")
    for name in ["a.avi", "a.wmv"] {
      try FFmpegTool.run("-f lavfi -i testsrc2=s=64x48:d=0.2", [scratch.path("pair/\(name)")])
    }
    _ = try scratch.copy(Clip.lying, as: "pair/a.3gp")
    let pair = try Upright.run([
      "check", scratch.path("pair"), "--json", "--fix", "pixels", "-o", scratch.path("pairs"),
    ])
    #expect(pair.status == 0 && pair.json["files"].array.count == 4, "\(pair.errors)")
    #expect(pair.json["summary"]["mended"].int == 2)
    let made = try FileManager.default.contentsOfDirectory(atPath: scratch.path("pairs")).sorted()
    #expect(made == ["a.3gp.mp4", "a.mp4"])
    let again = try Upright.run(arguments)
    #expect(again.status == 73 && again.errors.contains("a.mp4"), "\(again.errors)")
  }

  @Test("What metadata can't say is named: exit status 1")
  func obstacle() throws {
    let scratch = try Scratch()
    let path = try EncodedClip.writeSignals(in: scratch)
    let before = try bytes(path)
    let run = try Upright.run(["check", path, "--fix", "metadata", "--in-place"])
    #expect(run.status == 1, "\(run.errors)")
    #expect(run.text.contains("; not mended: its orientation changes in mid-stream"))
    #expect(try bytes(path) == before)
    let stream = scratch.path("a.ts")
    try Self.tagged(stream)
    let other = try Upright.run(["check", stream, "--fix", "metadata", "--in-place", "--json"])
    #expect(other.status == 1 && other.errors.isEmpty, "\(other.errors)")
    #expect(other.json["files"][0]["fix"]["obstacle"].string?.isEmpty == false)
    #expect(other.json["summary"]["wrong"].int == 1 && other.json["summary"]["failed"].int == 0)
  }

  /// Writes a clip that lies on its side, in the container of its name.
  private static func tagged(_ path: String) throws {
    let run = try Upright.run(["tag", Clip.lying, "-o", path, "--orientation", "right"])
    try #require(run.status == 0, "\(run.errors)")
  }

  @Test("Options that contradict each other: exit status 64")
  func options() throws {
    let scratch = try Scratch()
    for (arguments, word) in [
      (["--fix", "magic", "-o", "x"], "magic"), (["--fix", "pixels", "--in-place"], "--in-place"),
      (["--fix", "metadata"], "--output"), (["-o", "x"], "--fix"),
      (["--fix", "metadata", "-o", "x", "--in-place"], "--output"),
      (["--fix", "metadata", "-o", "x", "--record", "y"], "--record"), (["--jobs", "0"], "--jobs"),
      (["--reload", "3", "b.mp4"], "--reload"),
    ] { try refuse(64, ["check", "a.mp4"] + arguments, word, in: scratch) }
    try refuse(64, ["check", "-"], "standard input", in: scratch)
  }
}
