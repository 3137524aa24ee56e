import Foundation
import Testing
import UprightTestSupport

@Suite("Report, trace and explain")
struct ReportTests {
  private struct Run {
    let report: JSON
    let trace: [JSON]
    let scratch: Scratch
  }

  private static func run(_ output: String) throws -> Run {
    let scratch = try Scratch()
    let run = try Upright.run(
      ["transcode"] + Clip.sensorRun + [
        "-o", scratch.path(output), "--report", scratch.path("r.json"), "--trace",
        scratch.path("t.jsonl"),
      ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.isEmpty)
    let trace = try String(contentsOfFile: scratch.path("t.jsonl"), encoding: .utf8)
    return Run(
      report: try json(scratch.path("r.json")),
      trace: try trace.split(separator: "\n").map {
        try JSONDecoder().decode(JSON.self, from: Data($0.utf8))
      }, scratch: scratch)
  }

  @Test("The report has exactly the documented keys", .long)
  func keys() throws {
    let report = try Self.run("out.m3u8").report
    func keys(_ value: JSON) -> Set<String> { Set(value.object.keys) }
    #expect(keys(report) == ["input", "output", "formats", "events", "warnings", "timing"])
    #expect(keys(report["input"]) == ["path", "codec", "width", "height", "frames", "duration"])
    #expect(
      keys(report["output"]) == [
        "path", "frames", "duration", "copied_frames", "encoded_frames", "dropped",
      ])
    #expect(keys(report["timing"]) == ["wall", "cpu", "stages"])
    #expect(keys(report["timing"]["stages"]) == ["decode", "orient", "encode"])
    for format in report["formats"].array {
      #expect(
        keys(format) == [
          "from", "first_frame", "appOrientation", "captureResolution", "encodeResolution", "turn",
          "transform",
        ])
      #expect(format["transform"].doubles.count == 6)
    }
    for event in report["events"].array {
      var expected: Set = [
        "at", "event", "decision", "reason", "target", "from", "to", "allowed",
      ]
      if event["decision"].string == "rotate" { expected.insert("phases") }
      #expect(keys(event) == expected)
    }
    #expect(report["input"]["path"].string == Clip.turning)
    #expect(report["input"]["frames"].int == 300 && report["output"]["frames"].int == 300)
    #expect(report["input"]["duration"].double == 10 && report["output"]["duration"].double == 10)
    #expect(report["warnings"].array.isEmpty && report["output"]["dropped"].array.isEmpty)
    #expect(report["formats"].array.map { $0["first_frame"].int } == [0, 100, 200])
    #expect(
      report["formats"].array.map { $0["encodeResolution"].string } == [
        "720x1280", "1280x720", "720x1280",
      ])
  }

  @Test("Report, trace and explain have the same decisions and formats", .long)
  func agreement() throws {
    let run = try Self.run("out.m3u8")
    let events = run.report["events"].array
    let formats = run.report["formats"].array
    #expect(events.count == 3 && formats.count == 3)
    #expect(run.trace.filter { !$0["decision"].isNull } == events)
    #expect(run.trace.filter { !$0["appOrientation"].isNull } == formats)
    #expect(run.trace.count == events.count + formats.count)
    let explained = try Upright.run(["explain", "--events", Clip.turns, "--json"]).json
    #expect(explained["events"].array == events)
    let pick = { (format: JSON) -> [JSON] in
      [format["appOrientation"], format["captureResolution"], format["encodeResolution"]]
    }
    #expect(explained["formats"].array.map(pick) == formats.map(pick))
    for (one, other) in zip(explained["formats"].array, formats) {
      #expect(abs((one["from"].double ?? 0) - (other["from"].double ?? 1)) < 0.001)
    }
    // A file with a fixed canvas has the same decisions.
    #expect(try Self.run("out.mp4").report["events"].array == events)
  }

  @Test("--start and --to cut; times of events are on the input's timeline", .long)
  func cut() throws {
    let scratch = try Scratch()
    let output = scratch.path("out.m3u8")
    let run = try Upright.run(
      ["transcode"] + Clip.sensorRun + [
        "-o", output, "--start", "3", "--to", "5.5", "--report", scratch.path("r.json"),
      ])
    #expect(run.status == 0, "\(run.errors)")
    let report = try json(scratch.path("r.json"))
    #expect(report["output"]["frames"].int == 75)
    #expect(try frames(output) == 75)
    #expect(abs((report["output"]["duration"].double ?? 0) - 2.5) < 0.001)
    let turned = report["events"].array.first { $0["decision"].string == "rotate" }
    #expect(turned?["at"].double == 3.333333)
    let wide = report["formats"].array.first { $0["appOrientation"].string == "landscapeRight" }
    #expect(wide?["first_frame"].int == 10)
    #expect(abs((wide?["from"].double ?? 0) - 10.0 / 3) < 0.001)
    let pictures = try FFmpegTool.frames(output)
    #expect(pictures.firstIndex { $0.width > $0.height } == 10)
  }

  @Test(
    "--events-offset moves every event, also backwards", .long, arguments: [(0.5, 115), (-1.0, 70)])
  func offset(_ seconds: Double, _ frame: Int) throws {
    let scratch = try Scratch()
    let run = try Upright.run(
      ["transcode"] + Clip.sensorRun + [
        "-o", scratch.path("out.m3u8"), "--events-offset", "\(seconds)", "--to", "4.5", "--report",
        "-",
      ])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.json["formats"].array.map { $0["first_frame"].int } == [0, frame])
  }
}

@Suite("Streams, progress and help")
struct StreamTests {
  @Test(
    "Media from standard input", .long,
    arguments: [
      ["-o", "OUT.mp4"], ["--format", "mpegts", "-o", "OUT.mp4"],
      ["--format", "ts", "-o", "OUT.m3u8"],
      ["--input-format", "mpegts", "--format", "mkv", "-o", "OUT.bin"],
    ])
  func standardInput(_ arguments: [String]) throws {
    let scratch = try Scratch()
    let clip = scratch.path("clip.ts")
    try FFmpegTool.run(["-i", Clip.lying, "-c", "copy", clip])
    let words = arguments.map { $0.hasPrefix("OUT") ? scratch.path($0) : $0 }
    let run = try Upright.run(
      ["transcode", "-", "--speed", "ultrafast"] + words, input: .pipe(try bytes(clip)))
    #expect(run.status == 0, "\(run.errors)")
    #expect(try frames(words[words.count - 1]) == 60)
    let probe = try Upright.run(["probe", "-", "--json"], input: .pipe(try bytes(clip)))
    #expect(probe.status == 0 && probe.json["streams"][0]["codec"].string == "h264")
  }

  @Test(
    "Media to standard output, and no other text", .long,
    arguments: ["mpegts", "mp4", "mkv", "flv"])
  func standardOutput(_ format: String) throws {
    let scratch = try Scratch()
    let run = try Upright.run([
      "transcode", Clip.withAudio, "-o", "-", "--format", format, "--speed", "ultrafast",
      "--progress", "plain",
    ])
    #expect(run.status == 0, "\(run.errors)")
    let copy = try scratch.file("copy", run.output)
    #expect(try frames(copy) == 150)
    #expect(try FFmpegTool.streams(copy, "audio").count == 1)
  }

  @Test("Events from standard input, during the run", .long)
  func liveEvents() throws {
    let scratch = try Scratch()
    let run = try Upright.run(
      [
        "transcode", Clip.turning, "--frames", "sensor", "--events", "-", "--speed", "ultrafast",
        "-o", scratch.path("out.m3u8"), "--report", "-",
      ], input: .pipe(try bytes(Clip.turns)))
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.json["formats"].array.map { $0["first_frame"].int } == [0, 100, 200])
    #expect(run.json["events"].array.count == 3)
  }

  @Test("Progress is shown on standard error, in the selected style", .long)
  func progress() throws {
    let scratch = try Scratch()
    func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Upright.Outcome
    {
      try Upright.run(
        ["transcode", Clip.lying, "-o", scratch.path("out.mp4"), "-y", "--speed", "ultrafast"]
          + arguments,
        environment: environment)
    }
    let json = try run(["--progress", "json"])
    let told = json.lines.filter { $0.hasPrefix("{") }
    #expect(!told.isEmpty)
    for line in told {
      let value = try JSONDecoder().decode(JSON.self, from: Data(line.utf8))
      #expect(
        Set(value.object.keys) == ["frames", "seconds", "fps", "speed", "eta", "appOrientation"])
    }
    #expect(told.last?.contains(#""frames":60"#) == true)
    let plain = try run(["--progress", "plain"])
    #expect(plain.lines.contains { $0.hasPrefix("60 frames, ") && $0.hasSuffix("portrait") })
    #expect(!plain.errors.contains("\u{1B}") && !plain.errors.contains("\r"))
    let bar = try run(["--progress", "bar"], ["NO_COLOR": ""])
    #expect(bar.errors.contains("\u{1B}[32m") && bar.errors.contains("\r"))
    let grey = try run(["--progress", "bar"], ["NO_COLOR": "1"])
    #expect(
      grey.errors.contains("━") && !grey.errors.contains("\u{1B}[3")
        && !grey.errors.contains("\u{1B}[9"))
    // Without a terminal there is no bar.
    #expect(try run([]).lines.count == 1)
    #expect(try run(["--progress", "none"]).lines.count == 1)
    #expect(try run(["--quiet"]).errors.isEmpty)
    #expect(try run(["--quiet", "--progress", "bar"]).errors.isEmpty)
    for outcome in [json, plain, bar] { #expect(outcome.output.isEmpty && outcome.status == 0) }
  }

  @Test("On a terminal there is a bar", .long)
  func terminal() throws {
    let scratch = try Scratch()
    var (master, terminal): (CInt, CInt) = (-1, -1)
    try #require(openpty(&master, &terminal, nil, nil, nil) == 0)
    defer { close(master) }
    let program = try CommandLineProgram(
      ["transcode"] + Clip.sensorRun + ["-o", scratch.path("out.mp4")], errors: terminal)
    close(terminal)
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(master, &buffer, buffer.count), count > 0 {
      text += buffer[..<count]
    }
    #expect(try program.wait().status == 0)
    let shown = String(decoding: text, as: UTF8.self)
    #expect(shown.contains("━") && shown.contains("fps") && shown.contains("s left"))
    #expect(shown.contains("portrait") && shown.contains("landscapeRight"))
    #expect(shown.hasSuffix(")\r\n"))
  }

  @Test(
    "Every command has help with examples", .long,
    arguments: [[], ["transcode"], ["explain"], ["probe"], ["policies"], ["schema"]])
  func help(_ command: [String]) throws {
    let run = try Upright.run(command + ["--help"])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.text.contains("EXAMPLES") && run.text.contains("USAGE: upright"))
    #expect(try Upright.run(["help"] + command).output == run.output)
  }

  @Test("--version lists the FFmpeg libraries")
  func version() throws {
    let run = try Upright.run(["--version"])
    #expect(run.status == 0)
    for word in [
      "upright ", "FFmpeg ", "libavformat ", "libavcodec ", "libavfilter ", "libavutil ",
      "libswscale ", "libswresample ",
    ] {
      #expect(run.text.contains(word), "\(word)")
    }
  }

  @Test("There are completions for the shells", arguments: ["bash", "zsh", "fish"])
  func completions(_ shell: String) throws {
    let run = try Upright.run(["--generate-completion-script", shell])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.text.contains("transcode") && run.text.contains("--events-offset".dropFirst(2)))
  }

  @Test(
    "Shell completions offer the values of an option",
    arguments: [
      ("explain --policy po", "portrait"), ("explain --policy ./mi", "./mine.json"),
      ("tag --orientation ri", "rightMirrored"), ("transcode --size 7", "720p"),
      ("policies fu", "fullscreen-player"), ("schema re", "report"),
    ])
  func offered(_ typed: String, _ expected: String) throws {
    let scratch = try Scratch()
    _ = try scratch.file("mine.json", Data("{}".utf8))
    let script = """
      cd "$1"; PATH="$(dirname "$2"):$PATH"
      source <(upright --generate-completion-script bash)
      COMP_LINE="upright $3"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=($COMP_LINE)
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _upright upright "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let run = try ExternalTool("/usr/bin/env").outcome(
      ["bash", "-c", script, "-", scratch.path("."), CommandLineProgram.path, typed])
    #expect(
      run.text.split(separator: "\n").contains {
        $0.trimmingCharacters(in: .whitespaces) == expected
      },
      "\(run.text) \(run.errors)")
  }

  @Test("probe prints every signal, as text and as JSON")
  func probe() throws {
    let machine = try Upright.run(["probe", Clip.lying, "--json"])
    #expect(machine.status == 0 && machine.errors.isEmpty)
    let signal = machine.json["signals"][0]
    #expect(
      Set(signal.object.keys) == [
        "at", "frame", "source", "orientation", "degrees", "mirrored", "applies",
      ])
    #expect(signal["orientation"].string == "right" && signal["degrees"].int == 90)
    #expect(signal["at"].double == 0 && signal["mirrored"].bool == false)
    let person = try Upright.run(["probe", Clip.withAudio])
    #expect(person.text.contains("180 degrees") && person.text.contains("aac 48000 Hz"))
  }

  @Test(
    "Every encoder writes its codec, and no messages to standard error", .long,
    arguments: ["h264", "hevc", "av1", "vp9"])
  func encoders(_ codec: String) throws {
    let scratch = try Scratch()
    let output = scratch.path("out.mp4")
    let run = try Upright.run([
      "transcode", Clip.lying, "-o", output, "--codec", codec, "--to", "0.5",
    ])
    #expect(run.status == 0 && run.lines.count == 1, "\(run.errors)")
    #expect(try FFmpegTool.streams(output, "video")[0]["codec_name"].string == codec)
    #expect(try frames(output) == 15)
  }

  @Test("Encoder options are passed to the encoder")
  func options() throws {
    let scratch = try Scratch()
    let output = scratch.path("out.mp4")
    let run = try Upright.run([
      "transcode", Clip.lying, "-o", output, "--speed", "medium", "--crf", "31", "--gop", "7",
      "--encoder-options", "profile=main:bf=1", "--fit", "fill", "--size", "180p",
    ])
    #expect(run.status == 0, "\(run.errors)")
    let stream = try FFmpegTool.streams(output, "video")[0]
    #expect(stream["profile"].string == "Main")
    #expect(stream["width"].int == 180 && stream["height"].int == 320)
    let keys = try FFmpegTool.packets(output, "v:0").enumerated().filter(\.element.isKey).map(
      \.offset)
    #expect(keys == Array(stride(from: 0, to: 60, by: 7)))
    let settings = String(decoding: try bytes(output), as: UTF8.self)
    #expect(settings.contains("crf=31.0"))
  }
}
