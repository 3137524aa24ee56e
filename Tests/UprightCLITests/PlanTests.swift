import Foundation
import Testing
import UprightTestSupport

/// `upright plan`, `run` and `join` as separate processes, and their errors.
@Suite("upright plan, run and join", .enabled(if: FFmpegTool.isHere))
struct PlanTests {
  /// A plan of three chunks of frames and one of audio, and its parts.
  private struct Work {
    let scratch: Scratch
    var plan: String { scratch.path("plan.json") }
    var parts: String { scratch.path("parts") }
    var output: String { scratch.path("out.mp4") }
    var input: String { scratch.path("in.mp4") }

    /// - Parameter chunks: The chunks that are done.
    init(chunks: [Int] = [0, 1, 2, 3]) throws {
      scratch = try Scratch()
      try FFmpegTool.run(
        """
        -f lavfi -i testsrc2=s=160x96:r=24:d=6 -f lavfi -i sine=d=6:r=48000 -pix_fmt yuv420p \
        -c:v libx264 -preset ultrafast -g 24 -keyint_min 24 -c:a aac
        """, [input])
      let made = try Upright.run(plan(input, []))
      #expect(made.status == 0, "\(made.errors)")
      _ = try scratch.file("plan.json", made.output)
      for chunk in chunks { #expect(try run(chunk).status == 0) }
    }

    func plan(_ input: String, _ more: [String]) -> [String] {
      ["plan", input, "-o", output] + Self.options + more
    }

    static let options = [
      "--frames", "upright", "--reencode", "always", "--speed", "ultrafast", "--chunk-seconds", "2",
    ]

    func run(_ chunk: Int, _ more: String...) throws -> Upright.Outcome {
      try Upright.run(["run", plan, "--chunk", "\(chunk)", "-o", parts] + more)
    }

    var join: [String] { ["join", plan, "--parts", parts] }

    /// The files in the folder of the parts.
    var names: [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: parts)) ?? []).sorted()
    }

    func edit(_ name: String, _ change: (inout Data) -> Void) throws {
      var data = try bytes(scratch.path(name))
      change(&data)
      _ = try scratch.file(name, data)
    }

    func replace(_ old: String, by new: String, in name: String) throws {
      try edit(name) { data in
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains(old), "\(old) isn't in \(name)")
        data = Data(text.replacing(old, with: new).utf8)
      }
    }

    /// Checks that a command ends with a status and one line, and leaves no output.
    func refuse(_ status: Int, _ arguments: [String], _ words: String...) throws {
      let run = try Upright.run(arguments)
      #expect(run.status == status && run.lines.count == 1, "\(arguments): \(run.errors)")
      for word in words { #expect(run.errors.contains(word), "\(word): \(run.errors)") }
      #expect(!FileManager.default.fileExists(atPath: output), "\(arguments)")
      #expect(!names.contains { $0.hasPrefix(".") }, "\(names)")
      #expect(!scratch.names.contains { $0.hasPrefix(".") }, "\(scratch.names)")
    }
  }

  @Test("The parts of separate processes give what transcode writes")
  func works() throws {
    let work = try Work()
    try work.refuse(64, work.join + ["-o", work.scratch.path("out.mkv")], "mp4")
    #expect(work.names == (0...3).flatMap { ["\($0).json", "\($0).part"] })
    let report = work.scratch.path("report.json")
    let joined = try Upright.run(work.join + ["--report", report])
    #expect(joined.status == 0, "\(joined.errors)")
    #expect(joined.lines.last?.contains("144 frames") == true, "\(joined.errors)")
    #expect(try json(report)["output"]["encoded_frames"].int == 144)
    let whole = work.scratch.path("whole.mp4")
    let transcoded = try Upright.run(
      ["transcode", work.input, "-o", whole, "--threads", "1", "--chunks", "2"] + Work.options)
    #expect(transcoded.status == 0, "\(transcoded.errors)")
    #expect(try bytes(whole) == bytes(work.output))
    // Another name, with the plan on standard input.
    let other = try Upright.run(
      ["join", "-", "--parts", work.parts, "-o", work.scratch.path("other.mp4"), "-q"],
      input: .pipe(try bytes(work.plan)))
    #expect(other.status == 0 && other.errors.isEmpty, "\(other.errors)")
    #expect(try bytes(whole) == bytes(work.scratch.path("other.mp4")))
  }

  @Test("A plan is valid by the published schema, and says what each chunk does")
  func schema() throws {
    let work = try Work(chunks: [])
    let schema = try JSONSchema(text: Upright.run(["schema", "plan"]).text)
    let plan = try json(work.plan)
    #expect(schema.fault(in: plan) == nil)
    #expect(plan["chunks"].array.map { $0["first"].int } == [0, 48, 96, nil])
    #expect(plan["chunks"].array.map { $0["last"].int } == [47, 95, 143, nil])
    #expect(plan["chunks"][3]["work"].string == "tracks")
    #expect(plan["options"]["threads"].int == 1 && plan["options"]["chunk-seconds"].int == 2)
    #expect(plan["video"]["times"].array.count == 3)
    // A copied part and its parameters.
    let turns = try work.scratch.file(
      "turns.jsonl",
      """
      {"at": 0, "device": "landscapeLeft"}
      {"at": 2.3, "device": "portrait"}
      {"at": 3.4, "device": "landscapeLeft"}
      """)
    let mixed = try Upright.run([
      "plan", work.input, "-o", work.output, "--frames", "sensor", "--events", turns, "--canvas",
      "landscape",
    ])
    #expect(mixed.status == 0, "\(mixed.errors)")
    #expect(schema.fault(in: mixed.json) == nil)
    #expect(
      mixed.json["chunks"].array.map { $0["work"].string } == ["copy", "encode", "copy", "tracks"])
    #expect(mixed.json["video"]["join"]["parameters"]["width"].int == 160)
    #expect(mixed.json["timeline"]["events"].array.count == 3)
  }

  @Test("64: what a plan can't do")
  func usage() throws {
    let work = try Work(chunks: [])
    try work.refuse(64, work.plan(work.input, ["--chunk-seconds", "0.5"]), "--chunk-seconds")
    try work.refuse(64, work.plan("-", []), "standard input")
    try work.refuse(64, work.plan(work.input, ["--split"]), "--split")
    try work.refuse(64, work.plan(work.input, ["--events", "-"]), "--events")
    try work.refuse(64, work.plan(work.input, ["--canvas", "dual"]), "dual")
    try work.refuse(64, ["plan", work.input, "-o", "rtmp://localhost/live/a"], "rtmp")
    try work.refuse(64, ["run", work.plan, "--chunk", "4", "-o", work.parts], "0 to 3")
    try work.refuse(64, ["run", work.plan, "--chunk", "-1", "-o", work.parts], "0 to 3")
    try work.refuse(64, ["run", work.plan, "--chunk", "1"], "--output")
    try work.refuse(64, ["join", work.plan], "--parts")
    try work.refuse(66, work.plan(work.scratch.path("none.mp4"), []), "none.mp4")
    try work.refuse(
      66, ["run", work.scratch.path("none"), "--chunk", "0", "-o", work.parts], "none")
    try work.refuse(66, work.join, "part 0 is missing", "0.json")
  }

  @Test("65: a plan of another version, of other libraries, or damaged")
  func otherPlan() throws {
    let work = try Work(chunks: [])
    let run = ["run", work.plan, "--chunk", "0", "-o", work.parts]
    let plan = try bytes(work.plan)
    try work.replace("\"libavcodec ", by: "\"libavcodec 9", in: "plan.json")
    try work.refuse(65, run, "libavcodec 9")
    for (old, new) in [
      (#""version":1,"#, #""version":2,"#),
      (#""last":47"#, #""last":40"#), (#""last":143"#, #""last":150"#),
      (#""first":0"#, #""first":1"#),
      (#""frames":144"#, #""frames":145"#), (#""frames":144"#, #""frames":1e12"#),
      (#""threads":1"#, #""threads":1000"#), (#""threads":1"#, #""thread":1"#),
      (#""work":"tracks""#, #""work":"whole""#), (#""container":"mp4""#, #""container":"mp5""#),
      (#""time_base":[1,"#, #""time_base":[0,"#), (#""stills":[],"#, ""),
    ] {
      _ = try work.scratch.file("plan.json", plan)
      try work.replace(old, by: new, in: "plan.json")
      try work.refuse(65, run, "plan.json")
    }
    _ = try work.scratch.file("plan.json", plan)
    #expect(try Upright.run(run).status == 0)
    try work.edit("plan.json") { $0 = $0.prefix($0.count / 2) }
    try work.refuse(65, run, "plan.json")
  }

  @Test("65: the input has changed, at its start, in its middle or in its length")
  func otherInput() throws {
    let work = try Work(chunks: [0])
    let original = try bytes(work.input)
    // The middle of the second chunk's packets: neither the size nor the ends of the file show it.
    func position(_ stream: String, _ packet: Int) throws -> Int {
      let packets = try FFmpegTool.probe(
        work.input, ["-select_streams", stream, "-show_entries", "packet=pos"])["packets"].array
      return try #require(packets[packet]["pos"].string.flatMap(Int.init)) + 40
    }
    let audio = try position("a:0", 120)
    try work.edit("in.mp4") { $0[audio] ^= 0x10 }
    try work.refuse(
      65, ["run", work.plan, "--chunk", "3", "-o", work.parts], "changed", "in.mp4")
    #expect(try work.run(1).status == 0)
    try FileManager.default.removeItem(atPath: work.scratch.path("parts/1.json"))
    try FileManager.default.removeItem(atPath: work.scratch.path("parts/1.part"))
    _ = try work.scratch.file("in.mp4", original)
    let video = try position("v:0", 60)
    try work.edit("in.mp4") { $0[video] ^= 0x10 }
    let run = ["run", work.plan, "--chunk", "1", "-o", work.parts]
    try work.refuse(65, run, "changed", "in.mp4")
    // A chunk that doesn't read it is not affected.
    #expect(try work.run(2).status == 0)
    _ = try work.scratch.file("in.mp4", original.dropLast())
    try work.refuse(65, run, "changed", "in.mp4")
    try work.refuse(66, work.join, "part 1 is missing")
    _ = try work.scratch.file("in.mp4", original)
    for chunk in [1, 3] { #expect(try work.run(chunk).status == 0) }
    _ = try work.scratch.file("in.mp4", Data([1]) + original.dropFirst())
    try work.refuse(65, work.join, "changed", "in.mp4")
    // The same bytes elsewhere are the same input.
    _ = try work.scratch.file("moved.mp4", original)
    try FileManager.default.removeItem(atPath: work.input)
    try work.refuse(66, work.join, "in.mp4")
    #expect(
      try Upright.run(work.join + ["--input", work.scratch.path("moved.mp4")]).status == 0)
  }

  @Test("65 and 66: parts that are missing, truncated, damaged or of another plan")
  func otherParts() throws {
    let work = try Work()
    let part = try bytes(work.scratch.path("parts/1.part"))
    let report = try bytes(work.scratch.path("parts/1.json"))
    func restore() throws {
      _ = try work.scratch.file("parts/1.part", part)
      _ = try work.scratch.file("parts/1.json", report)
    }
    let damages: [(String, Data)] = [
      ("truncated", part.dropLast(100)), ("empty", Data()), ("longer", part + Data([0])),
      ("another", try bytes(work.scratch.path("parts/2.part"))),
      ("a changed byte", part.prefix(2000) + Data([part[2000] ^ 1]) + part.dropFirst(2001)),
    ]
    for (name, data) in damages {
      _ = try work.scratch.file("parts/1.part", data)
      try work.refuse(65, work.join, "1.part")
      // A worker that lies: its report has the digest of what it delivers.
      let size = data.count
      let digest = try ExternalTool("sha256sum").run([work.scratch.path("parts/1.part")]).text
      let said = try json(work.scratch.path("parts/1.json"))
      try work.replace(
        try #require(said["sha256"].string), by: String(digest.prefix(64)), in: "parts/1.json")
      try work.replace("\"size\": \(part.count)", by: "\"size\": \(size)", in: "parts/1.json")
      if name != "a changed byte" { try work.refuse(65, work.join, "1.part") }
      try restore()
    }
    // Fewer frames than the plan has, in a part that is complete in itself.
    try work.replace("\"packets\": 48", by: "\"packets\": 47", in: "parts/1.json")
    try work.refuse(65, work.join, "1.part", "48 of 48 frames")
    try restore()
    try work.edit("parts/1.json") { $0 = $0.prefix(40) }
    try work.refuse(65, work.join, "1.json")
    try restore()
    try FileManager.default.removeItem(atPath: work.scratch.path("parts/1.json"))
    try work.refuse(66, work.join, "part 1 is missing")
    try restore()
    try FileManager.default.removeItem(atPath: work.scratch.path("parts/1.part"))
    try work.refuse(66, work.join, "1.part")
    // A part of another plan of the same input.
    try restore()
    let other = try Upright.run(work.plan(work.input, ["--crf", "30"]))
    _ = try work.scratch.file("other.json", other.output)
    try work.refuse(
      65, ["join", work.scratch.path("other.json"), "--parts", work.parts], "of this plan")
    try work.refuse(
      65, ["run", work.scratch.path("other.json"), "--chunk", "1", "-o", work.parts], "of this plan"
    )
    #expect(try Upright.run(work.join).status == 0)
  }

  @Test("73: an output that exists is kept")
  func existing() throws {
    let work = try Work()
    _ = try work.scratch.file("out.mp4", "what was there before")
    let run = try Upright.run(work.join)
    #expect(run.status == 73 && run.errors.contains("already exists"), "\(run.errors)")
    #expect(try bytes(work.output) == Data("what was there before".utf8))
    #expect(try Upright.run(work.join + ["-y"]).status == 0)
    #expect(try frames(work.output) == 144)
  }

  @Test("A chunk has the same bytes whatever the memory held before", .long)
  func memory() throws {
    let work = try Work(chunks: [])
    let plan = try Upright.run(work.plan(work.input, ["--speed", "medium"]))
    _ = try work.scratch.file("plan.json", plan.output)
    let digests = try ["0", "1", "170", "255"].map { byte in
      let folder = work.scratch.path("parts-\(byte)")
      // glibc fills memory with this byte.
      let run = try Upright.run(
        ["run", work.plan, "--chunk", "1", "-o", folder], environment: ["MALLOC_PERTURB_": byte])
      #expect(run.status == 0, "\(run.errors)")
      return try json(folder + "/1.json")["sha256"].string
    }
    #expect(Set(digests).count == 1 && digests[0] != nil, "\(digests)")
  }

  @Test("A process that is killed leaves no part, and the next one removes what it left", .long)
  func killed() throws {
    let work = try Work(chunks: [])
    try FFmpegTool.run(
      """
      -f lavfi -i testsrc2=s=1280x720:r=30:d=8 -pix_fmt yuv420p -c:v libx264 -preset ultrafast -g 30
      """, [work.scratch.path("long.mp4")])
    let plan = try Upright.run(
      work.plan(work.scratch.path("long.mp4"), ["--chunk-seconds", "60", "--speed", "slow"]))
    _ = try work.scratch.file("plan.json", plan.output)
    let first = try Upright(["run", work.plan, "--chunk", "0", "-o", work.parts])
    while work.names.isEmpty { usleep(2000) }
    first.send(SIGKILL)
    _ = try first.wait()
    let left = work.names
    #expect(left.count == 1 && left[0].hasPrefix("."), "\(left)")
    let second = try Upright(["run", work.plan, "--chunk", "0", "-o", work.parts])
    while work.names.isEmpty || work.names.contains(left[0]) { usleep(2000) }
    second.send(SIGTERM)
    #expect(try second.wait().status == 143)
    #expect(work.names.isEmpty, "\(work.names)")
  }
}
