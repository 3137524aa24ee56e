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
    #expect(run.lines.contains { $0.contains(name) })
    let probe = try Upright.run(["probe", output, "--json"])
    #expect(probe.json["signals"].array.map { $0["orientation"].string } == [name])
    #expect(scratch.names == ["t.mp4"])
  }

  @Test(
    "What VLC and mpv ignore is said",
    arguments: [
      ("t.mp4", "right", false), ("t.mp4", "upMirrored", true), ("t.mkv", "right", true),
      ("t.ts", "right", true), ("t.flv", "down", true), ("t.mkv", "up", false),
    ])
  func players(_ name: String, _ orientation: String, _ isNoted: Bool) throws {
    let scratch = try Scratch()
    let run = try Upright.run(
      ["tag", Clip.lying, "-o", scratch.path(name), "--orientation", orientation])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("VLC and mpv ignore") == isNoted, "\(run.errors)")
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
    try refuse(64, call("--orientation", "6", "--in-place", "-o", new), "--in-place", in: scratch)
    try refuse(64, call("--orientation", "6", "--in-place", "--sei"), "--sei", in: scratch)
    try refuse(
      64, call("--orientation", "6", "--record", new, "-o", new), "--in-place", in: scratch)
    try refuse(64, call("--undo", existing), "--undo", in: scratch)
    try refuse(65, ["tag", "--undo", existing], "--record", in: scratch)
    try refuse(66, ["tag", "--undo", scratch.path("none.jsonl")], "none.jsonl", in: scratch)
    try refuse(65, ["tag", existing, "--in-place", "--orientation", "6"], existing, in: scratch)
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

  // MARK: - In place

  /// Writes a folder with three clips, a text and a subfolder, and returns the bytes of its files by name.
  private func folder(_ scratch: Scratch) throws -> [String: Data] {
    for name in ["a.mp4", "b.mov", "c.M4V"] { _ = try scratch.copy(Clip.lying, as: name) }
    _ = try scratch.file("d.txt", "no video")
    return scratch.contents
  }

  @Test("A folder in place, two at a time, with its times; and back again")
  func inPlace() throws {
    let (scratch, side) = (try Scratch(), try Scratch())
    let before = try folder(scratch)
    let times = try before.keys.map { try modified(scratch.path($0)) }
    let record = side.path("undo.jsonl")
    let run = try Upright.run([
      "tag", "--in-place", scratch.folder.path, "--orientation", "left", "--keep-time", "--jobs",
      "2",
      "--record", record,
    ])
    #expect(run.status == 0, "\(run.errors)")
    let after = scratch.contents
    for (name, bytes) in before {
      let differences = zip(bytes, after[name] ?? Data()).count { $0 != $1 }
      #expect(after[name]?.count == bytes.count)
      #expect(name == "d.txt" ? differences == 0 : (1...36).contains(differences), "\(name)")
      guard name != "d.txt" else { continue }
      let probe = try Upright.run(["probe", scratch.path(name), "--json"])
      #expect(probe.json["signals"].array.map { $0["orientation"].string } == ["left"])
    }
    #expect(try before.keys.map { try modified(scratch.path($0)) } == times)
    // Once more: nothing to change, and nothing to record.
    let lines = try bytes(record)
    let again = try Upright.run([
      "tag", "--in-place", scratch.folder.path, "--orientation", "left", "--record", record, "-q",
    ])
    #expect(again.status == 0 && again.errors.isEmpty, "\(again.errors)")
    #expect(try bytes(record) == lines)
    // Another turn in the same record, without its time.
    let more = try Upright.run([
      "tag", "--in-place", scratch.path("a.mp4"), "--orientation", "down", "--record", record,
    ])
    #expect(more.status == 0, "\(more.errors)")
    let undone = try Upright.run(["tag", "--undo", record])
    #expect(undone.status == 0 && undone.lines.count == 4, "\(undone.errors)")
    #expect(scratch.contents == before)
    #expect(try before.keys.map { try modified(scratch.path($0)) } == times)
    // Once more: nothing is left to be restored.
    _ = try Upright.run(["tag", "--undo", record])
    #expect(scratch.contents == before)
  }

  private func modified(_ path: String) throws -> Date? {
    try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
  }

  @Test("--undo restores what was killed between record and write, and refuses changed files")
  func undo() throws {
    let (scratch, side) = (try Scratch(), try Scratch())
    let before = try folder(scratch)
    let record = side.path("undo.jsonl")
    func tag() throws {
      try? FileManager.default.removeItem(atPath: record)
      let run = try Upright.run([
        "tag", "--in-place", scratch.path("a.mp4"), scratch.path("b.mov"), "--orientation", "down",
        "--record", record, "--jobs", "1",
      ])
      #expect(run.status == 0, "\(run.errors)")
    }
    try tag()
    let tagged = scratch.contents
    let lines = try String(decoding: bytes(record), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 4)
    // Killed after the record, after a part of the bytes, after all bytes, and in the middle of a line.
    let first = try #require(
      zip(before["b.mov"] ?? Data(), tagged["b.mov"] ?? Data()).enumerated()
        .first { $0.element.0 != $0.element.1 }?.offset)
    for (count, tail, isHalf) in [(3, "", true), (3, "", false), (2, lines[2].prefix(40), false)] {
      for (name, bytes) in tagged {
        try bytes.write(to: scratch.folder.appendingPathComponent(name))
      }
      var partial = tagged["b.mov"] ?? Data()
      if isHalf { partial[first] = before["b.mov"]?[first] ?? 0 }
      if count == 2 { partial = before["b.mov"] ?? Data() }
      try overwrite(scratch.path("b.mov"), partial)
      // The first file was complete: its time is that of the record.
      try Data((lines.prefix(count).joined(separator: "\n") + "\n" + tail).utf8)
        .write(to: URL(fileURLWithPath: record))
      _ = try Upright.run(["tag", "--undo", record])
      #expect(scratch.contents["b.mov"] == before["b.mov"])
    }
    // Appending after a torn line.
    let more = try Upright.run([
      "tag", "--in-place", scratch.path("c.M4V"), "--orientation", "down", "--record", record,
    ])
    #expect(more.status == 0, "\(more.errors)")
    _ = try Upright.run(["tag", "--undo", record])
    #expect(scratch.contents["c.M4V"] == before["c.M4V"])
    // Changed since then: in another place, and as a whole.
    for (name, bytes) in before { try overwrite(scratch.path(name), bytes) }
    try tag()
    var changed = scratch.contents["a.mp4"] ?? Data()
    changed[changed.count - 1] ^= 0xFF
    try overwrite(scratch.path("a.mp4"), changed)
    let run = try Upright.run(["tag", "--undo", record])
    #expect(run.status == 65 && run.errors.contains("changed since"), "\(run.errors)")
    #expect(scratch.contents["a.mp4"] == changed && scratch.contents["b.mov"] == before["b.mov"])
  }

  /// Writes into a file without replacing it.
  private func overwrite(_ path: String, _ bytes: Data) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  @Test("A truncated file isn't changed in place")
  func truncatedInPlace() throws {
    let scratch = try Scratch()
    let fast = scratch.path("fast.mp4")
    try FFmpegTool.run(["-i", Clip.withAudio, "-c", "copy", "-movflags", "+faststart", fast])
    let cut = try scratch.file("cut.mp4", try bytes(fast).dropLast(100))
    try refuse(65, ["tag", cut, "--in-place", "--orientation", "6"], "-o", in: scratch)
  }

  @Test("Several files to a folder")
  func several() throws {
    let scratch = try Scratch()
    _ = try folder(scratch)
    let run = try Upright.run([
      "tag", scratch.folder.path, "-o", scratch.path("out"), "--orientation", "6",
    ])
    #expect(run.status == 0, "\(run.errors)")
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")).sorted()
    #expect(names == ["a.mp4", "b.mov", "c.M4V"])
  }
}
