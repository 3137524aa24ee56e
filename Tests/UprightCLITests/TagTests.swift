import Foundation
import Testing
import UprightTestSupport

@Suite("upright tag")
struct TagCommandTests {
  @Test(
    "All names of orientations", .long,
    arguments: [
      ("right", "right"), ("RIGHT", "right"), ("90", "right"), ("6", "right"), ("-270", "right"),
      ("450", "right"), ("down", "down"), ("180", "down"), ("3", "down"), ("left", "left"),
      ("270", "left"), ("-90", "left"), ("8", "left"), ("leftMirrored", "leftMirrored"),
      ("5", "leftMirrored"), ("upmirrored", "upMirrored"), ("2", "upMirrored"),
    ])
  func names(_ word: String, _ name: String) throws {
    let scratch = try Scratch()
    let output = scratch.path("t.mp4")
    let run = try Upright.run(["tag", Clip.lying, "-o", output, "--orientation", word])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.last?.contains(name) == true)
    let probe = try Upright.run(["probe", output, "--json"])
    #expect(probe.json["signals"].array.map { $0["orientation"].string } == [name])
    #expect(scratch.names == ["t.mp4"])
  }

  @Test("up, 0, 1 and 360 remove every signal", arguments: ["up", "0", "1", "360"])
  func up(_ word: String) throws {
    let scratch = try Scratch()
    let output = scratch.path("t.mp4")
    let run = try Upright.run(["tag", Clip.lying, "-o", output, "--orientation", word])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try Upright.run(["probe", output, "--json"]).json["signals"].array.isEmpty)
  }

  @Test("Invalid arguments and files: 64, 65, 66 and 73", .long)
  func refusals() throws {
    let scratch = try folderWithOutput()
    let existing = scratch.path("out.mp4")
    let new = scratch.path("new.mp4")
    func call(_ more: String...) -> [String] { ["tag", Clip.lying] + more }
    try refuse(64, call("-o", new), "--orientation", in: scratch)
    try refuse(64, call("--orientation", "90"), "--output", in: scratch)
    for word in ["45", "9", "sideways", "", "1.5", "99999999999999999999"] {
      try refuse(64, call("-o", new, "--orientation", word), "--orientation", in: scratch)
    }
    try refuse(64, call("-o", scratch.path("new.m3u8"), "--orientation", "6"), "hls", in: scratch)
    try refuse(64, call("-o", scratch.path("new.xyz"), "--orientation", "6"), "xyz", in: scratch)
    try refuse(64, call("-o", scratch.path("new.webm"), "--orientation", "6"), "webm", in: scratch)
    try refuse(64, call("-o", "", "--orientation", "6"), "-o", in: scratch)
    try refuse(64, call("-o", "-", "--orientation", "6"), "--format", in: scratch)
    try refuse(
      64, call("-o", new, "--report", new, "--orientation", "6"), "--report", in: scratch)
    try refuse(73, call("-o", existing, "--orientation", "6"), "already exists", in: scratch)
    try refuse(
      73, call("-o", scratch.path("none/a.mp4"), "--orientation", "6"), "make it first", in: scratch
    )
    let gone = scratch.path("gone.mp4")
    try refuse(66, ["tag", gone, "-o", new, "--orientation", "6"], gone, in: scratch)
    try refuse(65, ["tag", existing, "-o", new, "--orientation", "6"], existing, in: scratch)
    let copy = try scratch.copy(Clip.lying, as: "in.mp4")
    try refuse(
      73, ["tag", copy, "-o", copy, "-y", "--orientation", "6"], "the output is the input",
      in: scratch)
  }

  @Test("From standard input to standard output")
  func pipes() throws {
    let scratch = try Scratch()
    let run = try Upright.run(
      ["tag", "-", "-o", "-", "--format", "ts", "--orientation", "left"],
      input: .pipe(try bytes(Clip.lying)))
    #expect(run.status == 0, "\(run.errors)")
    let output = try scratch.file("t.ts", run.output)
    let probe = try Upright.run(["probe", output, "--json"])
    #expect(probe.json["signals"].array.map { $0["orientation"].string } == ["left"])
    // A projection can't be written to a pipe afterwards, so SEI messages are written.
    let matroska = try Upright.run([
      "tag", Clip.lying, "-o", "-", "--format", "mkv", "--orientation", "left",
    ])
    #expect(matroska.status == 0, "\(matroska.errors)")
    let file = try scratch.file("t.mkv", matroska.output)
    let said = try Upright.run(["probe", file, "--json"]).json["signals"].array
    #expect(said.map { $0["source"].string } == ["sei"])
    #expect(said.map { $0["orientation"].string } == ["left"])
  }

  @Test("A truncated file: its frames and a warning; with --strict: 65")
  func truncated() throws {
    let scratch = try folderWithOutput()
    let whole = try bytes(Clip.withAudio)
    let fast = scratch.path("fast.mp4")
    try FFmpegTool.run(["-i", Clip.withAudio, "-c", "copy", "-movflags", "+faststart", fast])
    let cut = try scratch.file("cut.mp4", try bytes(fast).prefix(whole.count * 2 / 3))
    let output = scratch.path("new.mp4")
    try refuse(
      65, ["tag", cut, "-o", output, "--orientation", "6", "--strict"], "--strict", in: scratch)
    let run = try Upright.run(["tag", cut, "-o", output, "--orientation", "6"])
    #expect(run.status == 0 && run.warnings.count == 1, "\(run.errors)")
    #expect(try frames(output) > 10)
  }

  @Test("The report has the form of a transcode's report")
  func report() throws {
    let scratch = try Scratch()
    let run = try Upright.run([
      "tag", Clip.withAudio, "-o", scratch.path("t.mkv"), "--orientation", "6", "--report", "-",
      "-q",
    ])
    #expect(run.status == 0 && run.errors.isEmpty)
    let count = try frames(Clip.withAudio)
    #expect(run.json["output"]["copied_frames"].int == count)
    #expect(run.json["output"]["encoded_frames"].int == 0)
    let schema = try Upright.run(["schema", "report"]).json
    #expect(try JSONSchema(schema).fault(in: run.json) == nil)
  }
}
