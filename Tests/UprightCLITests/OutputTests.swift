import Foundation
import Testing
import UprightTestSupport

@Suite("Outputs")
struct OutputTests {
  @Test("An output that is the input is refused with any path, and the input is unchanged", .long)
  func outputIsInput() throws {
    let scratch = try Scratch()
    let input = try scratch.copy(Clip.lying, as: "in.mp4")
    try FileManager.default.linkItem(atPath: input, toPath: scratch.path("hard.mp4"))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("soft.mp4"), withDestinationPath: "in.mp4")
    let names = [
      input, scratch.path("hard.mp4"), scratch.path("soft.mp4"), scratch.path("./in.mp4"),
    ]
    for name in names {
      try refuse(
        73, ["transcode", input, "-o", name, "-y"], "the output is the input", in: scratch)
      try refuse(73, ["transcode", input, "-o", name, "--dry-run"], "is the input", in: scratch)
    }
    try refuse(
      73, ["transcode", scratch.path("soft.mp4"), "-o", input, "-y"], "is the input", in: scratch)
    #expect(try bytes(input) == bytes(Clip.lying))
  }

  @Test("A report or a trace doesn't overwrite a file that another argument names", .long)
  func sideFiles() throws {
    let scratch = try Scratch()
    let input = try scratch.copy(Clip.turning, as: "in.mp4")
    let events = try scratch.copy(Clip.turns, as: "turns.jsonl")
    let policy = try scratch.file("policy.json", "{}")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("soft.mp4"), withDestinationPath: "in.mp4")
    let output = scratch.path("out.mp4")
    let arguments = [
      "transcode", input, "--events", events, "--policy", policy, "-o", output, "-y",
    ]
    for option in ["--report", "--trace"] {
      for (path, word) in [
        (input, "the input"), (scratch.path("soft.mp4"), "the input"), (events, "the events"),
        (policy, "the policy"), (output, "the output"), (scratch.path("./out.mp4"), "the output"),
      ] {
        try refuse(64, arguments + [option, path], word, option, in: scratch)
      }
    }
    let same = scratch.path("same")
    try refuse(64, arguments + ["--report", same, "--trace", same], "the trace", in: scratch)
    for (path, word) in [(events, "the events"), (policy, "the policy")] {
      try refuse(
        64, arguments.dropLast(2) + [path, "--format", "mp4", "-y"], word, "-o", in: scratch)
    }
  }

  @Test("A pipe or a device is written to, never replaced")
  func specialFiles() throws {
    let scratch = try Scratch()
    for name in ["media", "report", "trace"] { #expect(mkfifo(scratch.path(name), 0o600) == 0) }
    let program = try CommandLineProgram([
      "transcode", Clip.lying, "-o", scratch.path("media"), "--format", "mpegts", "--to", "0.5",
      "--report", scratch.path("report"), "--trace", scratch.path("trace"), "--speed", "ultrafast",
    ])
    // The order in which they are opened.
    let (media, trace, report) = (Gathered(), Gathered(), Gathered())
    for (name, gathered) in [("media", media), ("trace", trace), ("report", report)] {
      let path = scratch.path(name)
      Thread.detachNewThread {
        gathered.finish(with: try? ExternalTool("cat").outcome([path]).output)
      }
    }
    let run = try program.wait()
    #expect(run.status == 0, "\(run.errors)")
    let copy = try scratch.file("copy.ts", media.wait())
    #expect(try frames(copy) == 15)
    let parsed = try JSONDecoder().decode(JSON.self, from: report.wait())
    #expect(parsed["output"]["frames"].int == 15)
    #expect(!trace.wait().isEmpty)
    for name in ["media", "report", "trace"] {
      var status = stat()
      #expect(stat(scratch.path(name), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }
    try refuse(
      73, ["transcode", Clip.lying, "-o", scratch.path("media"), "--format", "hls", "-y"], "pipe",
      in: Scratch())
  }

  @Test(
    "A pipe without a reader is refused as an output", .realTime,
    arguments: Loop.cases(["-o", "--report"], test: 1))
  func unreadPipe(_ option: String) throws {
    let scratch = try Scratch()
    let pipe = scratch.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let arguments =
      option == "-o"
      ? ["-o", pipe, "--format", "mpegts"] : ["-o", scratch.path("out.ts"), "--report", pipe]
    let run = try Upright.run(
      ["transcode", Clip.lying, "--to", "0.1", "--speed", "ultrafast"] + arguments)
    #expect(run.status == 73 && run.errors.contains("the pipe has no reader"), "\(run.errors)")
  }

  @Test("-y replaces an existing output; without -y it is kept")
  func replace() throws {
    let scratch = try folderWithOutput()
    let arguments = [
      "transcode", Clip.lying, "-o", scratch.path("out.mp4"), "--speed", "ultrafast",
    ]
    try refuse(73, arguments, "already exists", in: scratch)
    #expect(try Upright.run(arguments + ["-y"]).status == 0)
    #expect(try frames(scratch.path("out.mp4")) == 60)
    #expect(scratch.names == ["out.mp4"])
  }

  @Test("--dry-run prints the plan and writes nothing")
  func dryRun() throws {
    let scratch = try folderWithOutput()
    let before = scratch.contents
    let run = try Upright.run([
      "transcode", Clip.withAudio, "-o", scratch.path("new.webm"), "--dry-run", "--report",
      scratch.path("r.json"), "--trace", scratch.path("t.jsonl"),
    ])
    #expect(run.status == 0 && run.errors.isEmpty)
    for word in ["input", "h264 640x360", "output", "webm, vp9", "canvas", "re-encoded"] {
      #expect(run.text.contains(word), "\(word): \(run.text)")
    }
    #expect(scratch.contents == before)
  }

  @Test("--for names the output after the usual container, and the plan says what it chose")
  func destination() throws {
    let scratch = try Scratch()
    let clip = scratch.path("take.mp4")
    try FileManager.default.copyItem(atPath: Clip.withAudio, toPath: clip)
    let run = try Upright.run(["transcode", clip, "--for", "editors", "--dry-run"])
    #expect(run.status == 0 && run.text.contains("take.upright.mov: mov"), "\(run.text)")
    #expect(run.text.contains("for     editors: mov, one canvas"), "\(run.text)")
    let refused = try Upright.run(["transcode", clip, "--for", "browsers", "-o", "out.ts"])
    #expect(refused.status == 64 && refused.errors.contains("mpegts is not for browsers"))
  }

  @Test(
    "MP4: the final name doesn't exist before the end; HLS: the playlist is valid at any time",
    .long)
  func whileItRuns() throws {
    let scratch = try Scratch()
    let mp4 = try CommandLineProgram(
      ["transcode"] + Clip.sensorRun + ["-o", scratch.path("out.mp4")])
    var sawTemporary = false
    while mp4.isRunning {
      let names = scratch.names
      if names.contains("out.mp4"), mp4.isRunning {
        // The file was renamed when it was complete.
        #expect(try frames(scratch.path("out.mp4")) == 300)
        break
      }
      if names.contains(where: { $0.hasSuffix(".part") }) { sawTemporary = true }
      usleep(2000)
    }
    #expect(try mp4.wait().status == 0)
    #expect(sawTemporary)
    #expect(scratch.names == ["out.mp4"])

    let hls = try CommandLineProgram(
      ["transcode"] + Clip.sensorRun + ["-o", scratch.path("live.m3u8"), "--segment", "1"])
    var seen: Set<Int> = []
    while hls.isRunning {
      if let text = try? String(contentsOfFile: scratch.path("live.m3u8"), encoding: .utf8) {
        let playlist = try Playlist(text: text)
        seen.insert(playlist.segments.count)
        for file in playlist.segments.map(\.file) + playlist.maps {
          #expect(scratch.names.contains(file))
        }
      }
      usleep(2000)
    }
    #expect(try hls.wait().status == 0)
    #expect(seen.count > 2)
    #expect(try Playlist(path: scratch.path("live.m3u8")).isEnded)
    #expect(try frames(scratch.path("live.m3u8")) == 300)
    #expect(scratch.leftovers.isEmpty)
  }

  @Test("A failed HLS run leaves no files")
  func failedHLS() throws {
    let scratch = try Scratch()
    let whole = try bytes(Clip.withAudio)
    let cut = try scratch.file("cut.mp4", whole.prefix(whole.count * 7 / 10))
    try refuse(
      65,
      [
        "transcode", cut, "-o", scratch.path("x.m3u8"), "--segment", "1", "--strict", "--speed",
        "ultrafast",
      ],
      cut, in: scratch)
  }

  @Test("74: a reader that closes the pipe is an error, not a crash", .long)
  func readerLeaves() throws {
    let scratch = try Scratch()
    let long = try longClip(in: scratch)
    for format in ["mpegts", "flv", "mp4", "mkv"] {
      let run = try Upright.run(
        ["transcode", long, "-o", "-", "--format", format, "--speed", "ultrafast"],
        output: .reader(bytes: 5000))
      #expect(run.status == 74, "\(format): \(run.errors)")
      #expect(
        run.lines.count == 1 && run.errors.contains("the reader closed the pipe"), "\(run.errors)")
    }
  }

  @Test(
    "74: results that can't be written to standard output are an error",
    .enabled(if: access("/dev/full", W_OK) == 0))
  func fullDevice() throws {
    let scratch = try Scratch()
    let report = [
      "transcode", Clip.lying, "-o", scratch.path("a.mp4"), "--speed", "ultrafast", "--quiet",
      "--report", "-",
    ]
    for arguments in [
      ["policies"], ["policies", "phone"], ["explain"], ["explain", "--json"],
      ["probe", Clip.lying], report,
      ["transcode", Clip.lying, "-o", "-", "--format", "ts", "--speed", "ultrafast"],
    ] {
      let run = try Upright.run(arguments, output: .path("/dev/full"))
      #expect(run.status == 74, "\(arguments): \(run.errors)")
      #expect(run.lines.count == 1 && run.errors.contains("the disk is full"), "\(run.errors)")
    }
  }

  @Test(
    "74: with a full disk no file has the final name", .long,
    .enabled(if: SmallDisk.isAllowed, "mounting a small tmpfs is refused"))
  func fullDisk() throws {
    let disk = try SmallDisk(kilobytes: 200)
    for (name, options) in [
      ("out.mp4", []), ("out.m3u8", []), ("out.ts", []), ("out.mkv", []),
      ("out.m3u8", ["--hls-segments", "ts"]), ("out.mkv", ["--split"]),
      ("out.mp4", ["--canvas", "follow"]),
    ] {
      let run = try Upright.run(
        ["transcode"] + Clip.sensorRun + ["-o", "\(disk.path)/\(name)", "--segment", "1"]
          + options)
      #expect(run.status == 74, "\(name): \(run.errors)")
      #expect(run.lines.count == 1, "\(run.errors)")
      #expect(run.errors.contains("\(disk.path)/"), "\(run.errors)")
      #expect(run.errors.lowercased().contains("no space") || run.errors.contains("disk is full"))
      #expect(!run.errors.contains(".part"), "\(run.errors)")
      #expect(disk.names.isEmpty, "\(name): \(disk.names)")
    }
  }
}

/// The data that a thread has read.
final class Gathered: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  private var data = Data()

  func finish(with data: Data?) {
    self.data = data ?? Data()
    done.signal()
  }

  func wait() -> Data {
    _ = done.wait(timeout: .now() + 20)
    done.signal()
    return data
  }
}

/// Creates a file that takes long enough to be interrupted: a sample file, repeated 60 times.
func longClip(in scratch: Scratch) throws -> String {
  let path = scratch.path("long.mp4")
  try FFmpegTool.run(["-stream_loop", "60", "-i", Clip.withAudio, "-c", "copy", path])
  return path
}

/// A file system of a few kilobytes.
final class SmallDisk {
  private let scratch: Scratch
  var path: String { scratch.folder.path }
  var names: [String] { scratch.names }

  static let isAllowed = (try? SmallDisk(kilobytes: 64)) != nil

  init(kilobytes: Int) throws {
    scratch = try Scratch()
    try ExternalTool("mount").run(
      ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", scratch.folder.path])
  }

  deinit { _ = try? ExternalTool("umount").run([scratch.folder.path]) }
}
