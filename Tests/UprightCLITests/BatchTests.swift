import Foundation
import Testing
import UprightTestSupport

@Suite("Several inputs")
struct BatchTests {
  private static let fast = ["--speed", "ultrafast"]

  /// Returns a folder with three sample files under other names.
  private static func threeClips() throws -> Scratch {
    let scratch = try Scratch()
    _ = try scratch.copy(Clip.lying, as: "b.mp4")
    _ = try scratch.copy(Clip.withAudio, as: "a.mov")
    _ = try scratch.copy(Clip.turning, as: "c.mp4")
    return scratch
  }

  @Test("The outputs are written to a new folder, with the names of the inputs, and turned")
  func files() throws {
    let scratch = try Self.threeClips()
    let run = try Upright.run(
      ["transcode", scratch.path("a.mov"), scratch.path("b.mp4"), "-o", scratch.path("out/")]
        + Self.fast)
    #expect(run.status == 0, "\(run.errors)")
    #expect(Self.names(scratch, "out") == ["a.mp4", "b.mp4"])
    #expect(try frames(scratch.path("out/a.mp4")) == 150)
    #expect(try frames(scratch.path("out/b.mp4")) == 60)
    #expect(try FFmpegTool.streams(scratch.path("out/b.mp4"), "video")[0]["width"].int == 360)
    #expect(run.lines.last?.hasPrefix("upright: 2 of 2 inputs done: 210 frames in ") == true)
  }

  @Test("A folder means its media files, sorted; hidden files, folders, old outputs are skipped")
  func folder() throws {
    let scratch = try Self.threeClips()
    for name in [".hidden.mp4", "old.upright.mp4", "old.upright-0.ts", "old.upright-init-0.mp4"] {
      _ = try scratch.copy(Clip.lying, as: name)
    }
    _ = try scratch.file("notes.txt", "no clip")
    try FileManager.default.createDirectory(
      atPath: scratch.path("deeper.mp4"), withIntermediateDirectories: false)
    // Reading the pipe would never end.
    #expect(mkfifo(scratch.path("pipe.mp4"), 0o600) == 0)
    let before = scratch.names
    // A report has the order of the inputs.
    let report = scratch.path("report")
    let run = try Upright.run(
      ["transcode", scratch.folder.path, "--report", report, "--to", "0.5"] + Self.fast)
    #expect(run.status == 0, "\(run.errors)")
    let made = ["a.upright.mp4", "b.upright.mp4", "c.upright.mp4"]
    #expect(Set(scratch.names) == Set(before + made + ["report"]))
    let inputs = try json(report).array.map { $0["input"]["path"].string }
    #expect(inputs == ["a.mov", "b.mp4", "c.mp4"].map { scratch.path($0) })
    // The next run doesn't take the outputs as inputs, and reports that they already exist.
    let again = try Upright.run(["transcode", scratch.folder.path])
    #expect(again.status == 73)
    #expect(again.lines.count { $0.contains("already exists") } == 3, "\(again.errors)")
  }

  @Test("An input that is named twice counts once, also as a file of a folder")
  func twice() throws {
    let scratch = try Self.threeClips()
    let clip = scratch.path("b.mp4")
    let run = try Upright.run(
      ["transcode", clip, scratch.path("./b.mp4"), scratch.folder.path, "--dry-run"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.text.split(separator: "\n").count { $0.hasPrefix("input ") } == 3)
  }

  @Test("--format selects the container, and HLS outputs in one folder share no files", .long)
  func containers() throws {
    let scratch = try Self.threeClips()
    let arguments = ["transcode", scratch.path("a.mov"), scratch.path("b.mp4")] + Self.fast
    let run = try Upright.run(
      arguments + ["--format", "hls", "-o", scratch.path("hls"), "--segment", "1"])
    #expect(run.status == 0, "\(run.errors)")
    for (name, count) in [("a", 150), ("b", 60)] {
      let path = scratch.path("hls/\(name).m3u8")
      #expect(try Playlist(path: path).isEnded)
      #expect(try frames(path) == count)
    }
    let beside = try Upright.run(arguments + ["--format", "mkv"])
    #expect(beside.status == 0, "\(beside.errors)")
    #expect(try frames(scratch.path("a.upright.mkv")) == 150)
  }

  @Test("The output of one input can be a folder too", arguments: ["there", "new/"])
  func single(folder: String) throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(
      atPath: scratch.path("there"), withIntermediateDirectories: false)
    let path = scratch.folder.path + "/" + folder
    let run = try Upright.run(["transcode", Clip.lying, "-o", path] + Self.fast)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      Self.names(scratch, folder) == [URL(fileURLWithPath: Clip.lying).lastPathComponent])
  }

  @Test(
    "--jobs doesn't change the frames, nor the bytes if the encoder has the same threads", .long
  )
  func jobs() throws {
    let scratch = try Self.threeClips()
    let inputs = ["a.mov", "b.mp4", "c.mp4"].map { scratch.path($0) }
    for jobs in ["1", "3"] {
      for (folder, options) in [
        ("pictures", ["--format", "y4m"]),
        ("bytes", ["--encoder-options", "threads=1"] + Self.fast),
      ] {
        let run = try Upright.run(
          ["transcode"] + inputs + options
            + ["--to", "1", "--jobs", jobs, "-o", scratch.path(folder + jobs)])
        #expect(run.status == 0, "\(run.errors)")
      }
    }
    for name in ["a", "b", "c"] {
      for (folder, ending) in [("pictures", "y4m"), ("bytes", "mp4")] {
        let (one, three) = (
          try bytes(scratch.path("\(folder)1/\(name).\(ending)")),
          try bytes(scratch.path("\(folder)3/\(name).\(ending)"))
        )
        #expect(!one.isEmpty && one == three, "\(folder) \(name): \(one.count), \(three.count)")
      }
    }
  }

  @Test("--events FOLDER: each input has its events; only the input without events fails", .long)
  func events() throws {
    let scratch = try Scratch()
    let clips = try ["one", "two", "three"].map { try scratch.copy(Clip.turning, as: "\($0).mp4") }
    _ = try scratch.copy(Clip.turns, as: "one.jsonl")
    _ = try scratch.file("two.jsonl", #"{"at": 1, "device": "landscapeRight"}"# + "\n")
    let report = scratch.path("report")
    let run = try Upright.run(
      ["transcode"] + clips + [
        "--frames", "sensor", "--events", scratch.folder.path, "-o", scratch.path("out"), "--to",
        "4", "--report", report,
      ] + Self.fast)
    #expect(run.status == 66)
    #expect(run.lines.contains { $0.contains("error") && $0.contains("three.jsonl") })
    let targets = try json(report).array.map { $0["events"].array.map { $0["to"].string } }
    #expect(targets == [["landscapeRight"], ["landscapeLeft"], []] || !targets[0].isEmpty)
    #expect(targets[0] != targets[1])
    #expect(Self.names(scratch, "out") == ["one.mp4", "two.mp4"])
  }

  // MARK: - Failures

  @Test("One of three is damaged: the others are complete, the error names it, the report has all")
  func broken() throws {
    let scratch = try Self.threeClips()
    let broken = try scratch.file("broken.mp4", "no clip at all")
    let report = scratch.path("report")
    let run = try Upright.run(
      ["transcode", scratch.path("a.mov"), broken, scratch.path("b.mp4"), "--jobs", "1"] + [
        "--report", report, "-o", scratch.path("out"),
      ] + Self.fast)
    #expect(run.status == 65)
    let errors = run.lines.filter { $0.hasPrefix("upright: error: ") }
    #expect(errors.count == 1 && errors[0].contains(broken), "\(run.errors)")
    #expect(run.lines.last?.hasPrefix("upright: 2 of 3 inputs done, 1 failed: 210 frames") == true)
    #expect(Self.names(scratch, "out") == ["a.mp4", "b.mp4"])
    #expect(try frames(scratch.path("out/a.mp4")) == 150)
    let entries = try json(report)
    #expect(entries.array.map { $0["output"]["frames"].int } == [150, nil, 60])
    #expect(entries[1]["error"]["exit"].int == 65)
    #expect(entries[1]["input"]["path"].string == broken)
    let schema = try JSONSchema(text: Upright.run(["schema", "report"]).text)
    #expect(schema.fault(in: entries) == nil)
  }

  @Test("The exit status is that of the first failed input in their order, not in time")
  func status() throws {
    let scratch = try Self.threeClips()
    let broken = try scratch.file("broken.mp4", "no clip at all")
    let missing = scratch.path("missing.mp4")
    for (inputs, status) in [([missing, broken], 66), ([broken, missing], 65)] {
      let run = try Upright.run(
        ["transcode"] + inputs + ["-o", scratch.path("out"), "--json-errors", "--quiet"])
      #expect(run.status == status)
      let errors = try run.lines.map { try JSONDecoder().decode(JSON.self, from: Data($0.utf8)) }
      #expect(Set(errors.compactMap { $0["exit"].int }) == [65, 66], "\(run.errors)")
      // A new folder that stays empty is removed.
      #expect(!scratch.names.contains("out"))
    }
  }

  @Test("64, before any input is read: arguments that are invalid for several inputs", .long)
  func refused() throws {
    let scratch = try Self.threeClips()
    _ = try scratch.file("out.mp4", "what was there before")
    let inputs = [scratch.path("a.mov"), scratch.path("b.mp4")]
    for (arguments, word) in [
      (["-o", scratch.path("out.mp4")], "one output"), (["-o", scratch.path("new.mp4")], "out/"),
      (["-o", "-", "--format", "ts"], "one output"),
      (["-o", "rtmp://127.0.0.1/x/y"], "one output"),
      (["-"], "standard input"), (["--audio", "x.mjr"], "--audio"),
      (["--events", "-"], "--events"),
      (["--trace", scratch.path("trace")], "--trace"), (["--jobs", "0"], "--jobs"),
      (["--jobs", "-2"], "--jobs"), (["--report", scratch.path("a.mov")], "the input"),
      (["--report", scratch.path("b.upright.mp4")], "the output"), (["--crf", "99"], "--crf"),
    ] {
      try refuse(64, ["transcode"] + inputs + arguments, word, in: scratch)
    }
  }

  @Test("64: two inputs with the same output, in one folder or beside each other")
  func collisions() throws {
    let scratch = try Self.threeClips()
    try FileManager.default.createDirectory(
      atPath: scratch.path("deep"), withIntermediateDirectories: false)
    _ = try scratch.copy(Clip.lying, as: "deep/a.mp4")
    _ = try scratch.copy(Clip.lying, as: "c.mov")
    let out = scratch.path("out")
    try refuse(
      64, ["transcode", scratch.path("a.mov"), scratch.path("deep/a.mp4"), "-o", out], "a.mov",
      "deep/a.mp4", "out/a.mp4", in: scratch)
    try refuse(
      64, ["transcode", scratch.folder.path], "c.mov", "c.mp4", "c.upright.mp4", in: scratch)
  }

  @Test("73: an output that is another input, even with -y")
  func overInput() throws {
    let scratch = try Self.threeClips()
    let other = try scratch.copy(Clip.lying, as: "b.upright.mp4")
    try refuse(
      73, ["transcode", scratch.path("b.mp4"), other, "-y"], "is an input", other, in: scratch)
    try refuse(
      73, ["transcode", scratch.folder.path, "-y", "-o", scratch.folder.path], "is an input",
      in: scratch)
  }

  @Test("73: a folder that can't be written, before any input is read")
  func unwritable() throws {
    let scratch = try Self.threeClips()
    let inputs = [scratch.path("a.mov"), scratch.path("b.mp4")]
    for folder in ["/proc", "/proc/new/", scratch.path("no/where/")] {
      try refuse(73, ["transcode"] + inputs + ["-o", folder], folder, in: scratch)
    }
    try refuse(
      73, ["transcode"] + inputs + ["--report", scratch.folder.path, "-o", scratch.path("o")],
      "Is a directory", in: scratch)
  }

  @Test("66: a folder without media files")
  func empty() throws {
    let scratch = try Scratch()
    try refuse(66, ["transcode", scratch.folder.path], "no media files", in: scratch)
    _ = try scratch.file("notes.txt", "no clip")
    try refuse(66, ["transcode", Clip.lying, scratch.folder.path], "no media files", in: scratch)
  }

  @Test("74: a full disk", .enabled(if: SmallDisk.isAllowed))
  func fullDisk() throws {
    let disk = try SmallDisk(kilobytes: 64)
    let run = try Upright.run(
      ["transcode", Clip.turning, Clip.withAudio, "-o", disk.path, "--reencode", "always"]
        + Self.fast)
    #expect(run.status == 74, "\(run.errors)")
    let errors = run.lines.filter { $0.hasPrefix("upright: error: ") }
    #expect(errors.count == 2 && errors.allSatisfy { $0.contains(disk.path) }, "\(run.errors)")
    #expect(disk.names.isEmpty)
  }

  // MARK: - Plans and progress

  @Test("--dry-run prints the plan of each input, and the errors of the others")
  func dryRun() throws {
    let scratch = try Self.threeClips()
    let broken = try scratch.file("0.mp4", "no clip at all")
    let before = scratch.contents
    let run = try Upright.run(
      ["transcode", scratch.folder.path, "-o", scratch.path("out"), "--dry-run"])
    #expect(run.status == 65)
    #expect(run.lines.count == 1 && run.lines[0].contains(broken))
    for name in ["a", "b", "c"] { #expect(run.text.contains("out/\(name).mp4: mp4")) }
    #expect(scratch.contents == before)
  }

  @Test("--progress names the input", .long, arguments: ["json", "plain"])
  func progress(style: String) throws {
    let scratch = try Self.threeClips()
    let inputs = [scratch.path("a.mov"), scratch.path("b.mp4")]
    let run = try Upright.run(
      ["transcode"] + inputs + ["--progress", style, "-o", scratch.path("out")] + Self.fast)
    #expect(run.status == 0)
    if style == "json" {
      let lines = run.lines.compactMap {
        try? JSONDecoder().decode(JSON.self, from: Data($0.utf8))
      }
      #expect(Set(lines.compactMap { $0["input"].string }) == Set(inputs))
      #expect(lines.last { $0["input"].string == inputs[0] }?["frames"].int == 150)
    } else {
      for (input, count) in zip(inputs, [150, 60]) {
        #expect(run.lines.contains { $0.hasPrefix("\(input): \(count) frames, ") }, "\(run.errors)")
      }
    }
  }

  private static func names(_ scratch: Scratch, _ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: scratch.path(folder))) ?? []).sorted()
  }
}
