import Foundation
import Testing
import UprightTestSupport

@Suite("Exit codes")
struct ExitCodeTests {
  /// Swift's runtime would run a swift-backtrace of the current folder, which may come with a clip.
  @Test("A crash starts no other program")
  func crash() throws {
    let program = try CommandLineProgram(["probe", "-"], input: .silence)
    defer { program.send(SIGKILL) }
    let deadline = Date() + 60
    while !program.has(SIGXFSZ, in: "SigIgn"), Date() < deadline { usleep(1000) }
    for signal in [SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV] {
      #expect(!program.has(signal, in: "SigCgt"), "signal \(signal)")
    }
  }

  @Test(
    "64: the error of an invalid argument names the option", .long,
    arguments: [
      (["transcode"], "<input>"),
      (["nonsense"], "nonsense"),
      (["transcode", Clip.lying, "--canvas", "round"], "--canvas"),
      (["transcode", Clip.lying, "--canvas", "round"], "use one of auto, follow, portrait"),
      (["transcode", Clip.lying, "--outptu", "x"], "Did you mean '--output'?"),
      (["transcode", Clip.lying, "--codec", "mpeg7"], "use one of h264, hevc, av1, vp9"),
      (["transcode", Clip.lying, "--encoder", "h264"], "libx264"),
      (["transcode", Clip.lying, "--encoder", "libx264@0"], "no device"),
      (["transcode", Clip.lying, "--encoder", "libx264", "--codec", "hevc"], "give one"),
      (["transcode", Clip.lying, "--encoder", "libsvtav1", "--latency", "live"], "libaom-av1"),
      (["transcode", Clip.lying, "--crf", "good"], "--crf"),
      (["transcode", Clip.lying, "--crf", "52"], "use 0 (best) to 51"),
      (["transcode", Clip.lying, "--crf", "20", "--bitrate", "1M"], "exclude each other"),
      (["transcode", Clip.lying, "--bitrate", "fast"], "--bitrate"),
      (["transcode", Clip.lying, "--speed", "warp"], "ultrafast"),
      (["transcode", Clip.lying, "--encoder-options", "tune=none"], "zerolatency"),
      (["transcode", Clip.lying, "--encoder-options", "nonsense=1"], "no option nonsense"),
      (["transcode", Clip.lying, "--encoder-options", "nonsense"], "key=value"),
      (
        [
          "transcode", Clip.lying, "--codec", "hevc", "--encoder-options", "x265-params=bframes=99",
        ], "libx265"
      ),
      (["transcode", Clip.lying, "--size", "721x1280"], "720x1280"),
      (["transcode", Clip.lying, "--size", "0x0"], "--size"),
      (["transcode", Clip.lying, "--size", "99998x99998"], "16384"),
      (["transcode", Clip.lying, "--size", "large"], "--size"),
      (["transcode", Clip.lying, "--size", "720x1280", "--capture-size", "360x640"], "capture"),
      (["transcode", Clip.lying, "--frames", "sensor:45"], "sensor:90,front"),
      (["transcode", Clip.lying, "--background", "green"], "RRGGBB"),
      (["transcode", Clip.lying, "--fit", "squeeze"], "fit, blur, fill"),
      (["transcode", Clip.lying, "--overlay", "logo.png"], "logo.png@topTrailing:24"),
      (["transcode", Clip.lying, "--overlay", "logo.png@middle"], "middle is not an anchor"),
      (["transcode", Clip.lying, "--overlay", "logo.png@top:wide"], "wide is not a margin"),
      (["transcode", Clip.lying, "--overlay", "-@top"], "standard input"),
      (["transcode", Clip.lying, "--slate", ""], "--slate"),
      (["transcode", Clip.lying, "--slate", "-"], "standard input"),
      (["transcode", Clip.lying, "--start", "-1"], "--start"),
      (["transcode", Clip.lying, "--start", "nan"], "--start"),
      (["transcode", Clip.lying, "--start", "2", "--to", "1"], "--to"),
      (["transcode", Clip.lying, "--start", "5"], "--start"),
      (["transcode", Clip.lying, "--events-offset", "inf"], "--events-offset"),
      (["transcode", Clip.lying, "--gop", "0"], "--gop"),
      (["transcode", Clip.lying, "--threads", "0"], "--threads"),
      (["transcode", Clip.lying, "--segment", "0"], "--segment"),
      (["transcode", Clip.lying, "--input-format", "nonsense"], "--input-format"),
      (["transcode", Clip.lying, "--format", "nonsense"], "mpegts".prefix(2).description),
      (["transcode", "", "-y"], "<input>"),
      (["policies", "phne"], "fullscreen-player"),
      (["explain", "--size", "3x5"], "--size"),
    ])
  func usage(_ arguments: [String], _ word: String) throws {
    let scratch = try folderWithOutput()
    let isRun = arguments.count > 1 && arguments[0] == "transcode" && arguments[1] != "a.mp4"
    let output = isRun ? ["-o", scratch.path("out.mp4"), "-y"] : []
    try refuse(64, arguments + output, word, in: scratch)
  }

  @Test(
    "64: an output that its container doesn't support",
    arguments: [
      (["--canvas", "follow", "-o", "NEW.mkv"], "--canvas"),
      (["--canvas", "follow", "-o", "NEW.y4m"], "--canvas"),
      (["--codec", "vp9", "-o", "NEW.flv"], "--codec vp9"),
      (["--codec", "h264", "-o", "NEW.webm"], "--codec h264"),
      (["-o", "NEW.xyz"], "xyz"),
      (["-o", "NEW"], "extension"),
      (["-o", "-"], "--format"),
      (["-o", ""], "-o"),
    ])
  func container(_ arguments: [String], _ word: String) throws {
    let scratch = try folderWithOutput()
    let output = arguments.map { $0.hasPrefix("NEW") ? scratch.path($0) : $0 }
    try refuse(64, ["transcode", Clip.lying] + output, word, in: scratch)
  }

  @Test("64: --canvas majority for an input that can't be read ahead")
  func majority() throws {
    let scratch = try folderWithOutput()
    try refuse(
      64, ["transcode", "-", "--canvas", "majority", "-o", scratch.path("new.mp4")],
      "--canvas majority", in: scratch, input: .pipe(try bytes(Clip.lying)))
  }

  @Test("64: standard input or output for two arguments")
  func standardInput() throws {
    let scratch = try folderWithOutput()
    try refuse(
      64, ["transcode", "-", "--events", "-", "-o", scratch.path("new.mp4")], "--events",
      in: scratch)
    try refuse(
      64, ["transcode", Clip.lying, "-o", "-", "--format", "ts", "--report", "-"], "--report -",
      in: scratch)
  }

  @Test("66: a missing input", .long)
  func missing() throws {
    let scratch = try folderWithOutput()
    let out = ["-o", scratch.path("out.mp4"), "-y"]
    let gone = scratch.path("gone.mp4")
    try refuse(66, ["transcode", gone] + out, "no such file", gone, in: scratch)
    try refuse(
      66, ["transcode", gone, "--trace", scratch.path("t"), "--report", scratch.path("r")] + out,
      gone, in: scratch)
    try refuse(
      66, ["transcode", Clip.lying, "--events", gone] + out, "no such file", gone, in: scratch)
    try refuse(
      66, ["transcode", Clip.lying, "--events", scratch.folder.path] + out, "no such file",
      ".jsonl", in: scratch)
    try refuse(
      66, ["transcode", Clip.lying, "--policy", "phne"] + out, "phne",
      "phone, pad, portrait, landscape, fullscreen-player, manual", in: scratch)
    try refuse(66, ["probe", gone], gone, in: scratch)
    try refuse(66, ["explain", "--events", gone], gone, in: scratch)
    try refuse(66, ["explain", "--policy", gone], gone, in: scratch)
  }

  @Test("66: an address where there is nothing", .server)
  func address() throws {
    let scratch = try folderWithOutput()
    let port = try Loopback.freeTCPPort()
    let url = "http://127.0.0.1:\(port)/gone.mp4"
    let out = ["-o", scratch.path("out.mp4"), "-y"]
    try refuse(66, ["transcode", url] + out, "cannot be read", url, in: scratch)
    let server = try RunningProgram(
      ExternalTool("python3"),
      ["-m", "http.server", "--bind", "127.0.0.1", "-d", scratch.folder.path, "\(port)"])
    defer { _ = server.end() }
    #expect(until { isListening(port) })
    try refuse(66, ["transcode", url] + out, "404", url, in: scratch)
  }

  @Test("69: an unknown protocol")
  func protocols() throws {
    let scratch = try folderWithOutput()
    try refuse(
      69, ["transcode", "nonsense://a/b", "-o", scratch.path("new.mp4")], "nonsense://a/b",
      in: scratch)
    try refuse(
      69, ["transcode", Clip.lying, "-o", "nonsense://a/b.mp4"], "nonsense://a/b.mp4", in: scratch)
  }

  @Test(
    "69: the error of hardware that isn't there names the device",
    arguments: ["h264_vaapi@/nowhere", "hevc_nvenc@99", "h264_qsv@/nowhere"])
  func hardware(_ encoder: String) throws {
    let scratch = try folderWithOutput()
    try refuse(
      69, ["transcode", Clip.lying, "--encoder", encoder, "-o", scratch.path("new.mp4")], encoder,
      in: scratch)
  }

  @Test("73: an output that can't be created", .long)
  func output() throws {
    let scratch = try folderWithOutput()
    try refuse(
      73, ["transcode", Clip.lying, "-o", scratch.path("out.mp4")], "already exists",
      "add --overwrite",
      in: scratch)
    for name in ["a.mp4", "a.m3u8", "a.ts"] {
      try refuse(
        73, ["transcode", Clip.lying, "-o", scratch.path("none/\(name)")], "none", "make it first",
        in: scratch)
      // The only folder that root can't write to.
      try refuse(
        73, ["transcode", Clip.lying, "-o", "/proc/\(name)"], "/proc/\(name)", in: scratch)
    }
    try refuse(
      73, ["transcode", Clip.lying, "-o", scratch.path("n.mp4"), "--report", "/proc/r.json"],
      "/proc/r.json", in: scratch)
    try refuse(
      73, ["transcode", Clip.lying, "-o", scratch.path("n.mp4"), "--trace", "/proc/t.jsonl"],
      "/proc/t.jsonl", in: scratch)
    try refuse(
      73, ["transcode", Clip.lying, "-o", "rtmp://127.0.0.1:1/live/x"], "rtmp://127.0.0.1:1/live/x",
      "check the address", in: scratch)
  }

  @Test(
    "Every kind of error is printed as one line, or as JSON with the same parts", .long,
    arguments: [
      (64, ["transcode"]), (65, ["probe", "JUNK"]), (66, ["probe", "GONE"]),
      (69, ["transcode", "nonsense://a/b", "-o", "NEW"]),
      (73, ["transcode", Clip.lying, "-o", "JUNK"]),
    ])
  func told(_ status: Int, _ words: [String]) throws {
    let scratch = try Scratch()
    let junk = try scratch.file("junk.mp4", "what was there before")
    let names = ["JUNK": junk, "GONE": scratch.path("gone.mp4"), "NEW": scratch.path("new.mp4")]
    let arguments = words.map { names[$0] ?? $0 }
    let plain = try Upright.run(arguments)
    #expect(plain.status == status && plain.lines.count == 1 && plain.output.isEmpty)
    let machine = try Upright.run(arguments + ["--json-errors"])
    let error = try JSONDecoder().decode(JSON.self, from: Data(machine.errors.utf8))
    #expect(machine.status == status && machine.lines.count == 1 && machine.output.isEmpty)
    #expect(Set(error.object.keys) == ["error", "where", "remedy", "code", "exit"])
    #expect(error["exit"].int == status)
    for part in ["error", "where"] {
      #expect(plain.errors.contains(error[part].string ?? "?"), "\(part) in \(plain.errors)")
    }
    #expect(scratch.names == ["junk.mp4"])
  }

  @Test("The default output is beside the input")
  func defaultName() throws {
    let scratch = try Scratch()
    let input = try scratch.copy(Clip.lying, as: "take.one.mp4")
    let run = try Upright.run(["transcode", input, "--speed", "ultrafast"])
    #expect(run.status == 0)
    #expect(scratch.names == ["take.one.mp4", "take.one.upright.mp4"])
    let streams = try FFmpegTool.streams(scratch.path("take.one.upright.mp4"), "video")
    #expect(streams[0]["width"].int == 360 && streams[0]["height"].int == 640)
  }
}
