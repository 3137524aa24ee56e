import Foundation
import UprightOrientation
import UprightPolicy
import Synchronization
import Testing
import UprightMediaIO
import UprightMedia
import UprightTestSupport

@testable import UprightFiles

/// `plan`, `run` and `join`: the parts that separate sessions make give the output of one transcode.
@Suite("Plans of chunks", .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct ChunkPlanTests {
  /// A transcode of twelve seconds at 24 frames per second, with an entry point each second.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var source = "source.mp4"
    var output = "out.mp4"
    var events: String? = #"{"at": 0, "device": "portrait"}"#
    var encoder = "-c:v libx264 -preset veryfast -bf 3 -g 24 -keyint_min 24"
    var audio = "-c:a aac"
    var filter = "null"
    /// What each chunk does, in order.
    var work = ["encode", "encode", "encode", "encode", "tracks"]
    var configure: @Sendable (inout TranscodeOptions) -> Void = { _ in }
  }

  private static let turns = """
    {"at": 0, "device": "portrait"}
    {"at": 4.4, "device": "landscapeLeft"}
    {"at": 8.1, "device": "portrait"}
    """
  /// The frames from 5.3 to 6.6 s are turned, and the others are upright as stored.
  private static let turned = """
    {"at": 0, "device": "landscapeLeft"}
    {"at": 5.3, "device": "portrait"}
    {"at": 6.6, "device": "landscapeLeft"}
    """
  private static let joined = ["copy", "encode", "copy", "tracks"]

  static let cases = [
    Case(
      testDescription: "MP4, from one in fragments", audio: "-c:a aac -movflags frag_keyframe"),
    Case(
      testDescription: "copied and encoded frames", events: turned, work: joined,
      configure: {
        $0.canvas = .landscape
        ($0.reencode, $0.copiesWhatFits) = (.auto, true)
      }),
    Case(
      testDescription: "HLS whose format follows", output: "out.m3u8", events: turns,
      configure: { $0.segmentDuration = 3 }),
    Case(
      testDescription: "MPEG-TS in and out, copied and encoded", source: "source.ts",
      output: "out.ts", events: turned, work: joined,
      configure: {
        $0.canvas = .landscape
        ($0.reencode, $0.copiesWhatFits) = (.auto, true)
      }),
    Case(
      testDescription: "Matroska, audio that is encoded", source: "source.mkv",
      audio: "-c:a pcm_s16le"),
    Case(
      testDescription: "a variable frame rate",
      encoder:
        "-c:v libx264 -bf 3 -g 24 -keyint_min 24 -enc_time_base 1:24000 -video_track_timescale 24000",
      filter: "settb=1/24000,setpts=PTS+mod(N*373\\,700)"),
    Case(
      testDescription: "no audio, QuickTime, HEVC", output: "out.mov", audio: "-an",
      work: ["encode", "encode", "encode", "encode"], configure: { $0.codec = .hevc }),
    Case(
      testDescription: "the longest orientation, in Matroska", output: "out.mkv", events: turns),
    Case(
      testDescription: "a transition that crossfades", events: turns,
      configure: { $0.canvas = .follow }),
    Case(testDescription: "WebM", output: "out.webm", audio: "-c:a aac"),
    Case(
      testDescription: "no frame is copied to MPEG-TS, with the preset medium", output: "out.ts",
      events: turns, configure: { $0.speed = "medium" }),
  ]

  private static func source(_ test: Case, _ scratch: Scratch) throws -> String {
    let path = scratch.path(test.source)
    try FFmpegTool.run(
      """
      -f lavfi -i testsrc2=s=160x96:r=24:d=12,\(test.filter) -f lavfi -i sine=d=12:r=48000 \
      -pix_fmt yuv420p \(test.encoder) -fps_mode passthrough \(test.audio)
      """, [path])
    return path
  }

  private static func options(_ test: Case) -> TranscodeOptions {
    var options = TranscodeOptions()
    if test.events != nil { options.sensor() }
    options.size = .source
    options.reencode = .always
    options.quick()
    if test.output.hasSuffix("webm") || test.output.hasSuffix("mov") { options.speed = nil }
    options.chunkDuration = 3
    options.threads = 1
    test.configure(&options)
    return options
  }

  static func session(
    _ source: String, to output: String, _ test: Case, chunks: ChunkRule = .count(1)
  ) throws -> TranscodeSession {
    QuietLibraries.install()
    var options = options(test)
    options.chunks = chunks
    let events: EventSource =
      if let events = test.events {
        .list(try RotationEvent.parse(jsonLines: Array(events.utf8)))
      } else { .none }
    return try TranscodeSession(
      input: source, output: output, options: options, policy: #require(.builtIn("phone")),
      events: events)
  }

  private static func folder(_ name: String, in scratch: Scratch) throws -> String {
    let path = scratch.path(name)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// The contents of the files in a folder by name, without those of hidden ones.
  private static func contents(_ folder: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      contents[name] = FileManager.default.contents(atPath: "\(folder)/\(name)")
    }
    return contents
  }

  @Test(
    "Parts of separate sessions, in any order, give what transcode gives, byte for byte", .long,
    arguments: Loop.cases(cases, test: 6))
  func equal(_ test: Case) throws {
    let scratch = try Scratch()
    let source = try Self.source(test, scratch)
    let one = try Self.folder("one", in: scratch)
    let many = try Self.folder("many", in: scratch)
    let whole = try Self.session(source, to: "\(one)/\(test.output)", test, chunks: .count(2)).run()
    let plan = try Self.session(source, to: "\(many)/\(test.output)", test).chunkPlan()
    let json = try plan.json()
    #expect(try Self.work(json) == test.work)
    let text = Array(try plan.text().utf8)
    #expect(try ChunkPlan(parsing: text).json().compact == json.compact)
    for chunk in plan.chunks.indices.reversed() {
      let report = try ChunkSession(plan: text).run(chunk: chunk, folder: scratch.path("parts"))
      #expect(!report.isReused)
      // A second run finds the part of the first one.
      #expect(
        try ChunkSession(plan: text).run(chunk: chunk, folder: scratch.path("parts")).isReused)
    }
    let joined = try ChunkSession(plan: text).join(folder: scratch.path("parts"))
    guard case .joined(let result) = joined else {
      Issue.record("\(joined)")
      return
    }
    let (expected, found) = (try Self.contents(one), try Self.contents(many))
    #expect(expected.keys.sorted() == found.keys.sorted())
    for (name, bytes) in expected where found[name] != bytes {
      // libavformat gives Matroska's tracks random identifiers.
      if name.hasSuffix("mkv") || name.hasSuffix("webm") {
        for stream in ["v:0", "a:0"] {
          let packets = try [one, many].map {
            try FFmpegTool.packets("\($0)/\(name)", stream, hashes: true)
              .map { "\($0.pts ?? -1) \($0.dts ?? -1) \($0.hash ?? "")" }
          }
          #expect(packets[0].count > 200 && packets[0] == packets[1], "\(name), \(stream)")
        }
        continue
      }
      Issue.record("\(name) differs: \(bytes.count) and \(found[name]?.count ?? 0) bytes")
    }
    #expect(result.output.frames == 288 && result.output.frames == whole.output.frames)
    #expect(result.output.copiedFrames == whole.output.copiedFrames)
    #expect(result.input.frames == whole.input.frames)
    #expect(result.formats == whole.formats && result.decisions == whole.decisions)
    #expect(result.warnings == whole.warnings && result.output.dropped == whole.output.dropped)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.path("parts")).count
        == plan.chunks.count * 2)
  }

  private static func work(_ plan: JSONValue) throws -> [String] {
    guard case .array(let chunks)? = plan["chunks"] else { return [] }
    return chunks.map { if case .string(let word)? = $0["work"] { word } else { "" } }
  }

  @Test(
    "A chunk has the same bytes when several are encoded in one process, and with each codec",
    .long, arguments: Loop.cases(["h264", "hevc", "vp9", "av1"], test: 4))
  func reproducible(_ name: String) throws {
    let scratch = try Scratch()
    let codec = try #require(VideoCodec(rawValue: name))
    let test = Case(
      testDescription: name, output: "out.mkv", events: Self.turns,
      configure: {
        $0.codec = codec
        $0.speed = codec == .h264 ? "medium" : nil
      })
    let source = try Self.source(test, scratch)
    let plan = try Self.session(source, to: scratch.path("out.mkv"), test).chunkPlan()
    let text = Array(try plan.text().utf8)
    let work = [0, 1, 1, 0, 1, 1].enumerated().map { index, chunk in
      let thread = WorkThread(name: "run") { () -> Result<(Int, String), UprightError> in
        do throws(UprightError) {
          let folder = scratch.path("parts-\(index)")
          let report = try ChunkSession(plan: text).run(chunk: chunk, folder: folder)
          return .success((chunk, report.digest))
        } catch { return .failure(error) }
      }
      if !codec.encodesInParallel { _ = thread.join() }
      return thread
    }
    var digests: [Int: Set<String>] = [:]
    for thread in work {
      let (chunk, digest) = try #require(thread.join()).get()
      digests[chunk, default: []].insert(digest)
    }
    #expect(digests.mapValues(\.count) == [0: 1, 1: 1])
  }

  @Test("Two sessions that do the same chunk at once in one folder give one part", .long)
  func twice() throws {
    let scratch = try Scratch()
    let test = Self.cases[0]
    let source = try Self.source(test, scratch)
    let plan = try Self.session(source, to: scratch.path("out.mp4"), test).chunkPlan()
    let text = Array(try plan.text().utf8)
    let work = (0..<3).map { _ in
      WorkThread(name: "run") { () -> Result<String, UprightError> in
        Result { () throws(UprightError) in
          try ChunkSession(plan: text).run(chunk: 1, folder: scratch.path("parts")).digest
        }
      }
    }
    let digests = try work.map { try #require($0.join()).get() }
    #expect(Set(digests).count == 1)
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("parts"))
    #expect(names.sorted() == ["1.json", "1.part"])
  }

  @Test("An input that can't be divided is one chunk, which is the whole output", .long)
  func whole() throws {
    let scratch = try Scratch()
    var test = Self.cases[0]
    test.configure = { $0.rate = .bitrate(100_000) }
    let source = try Self.source(test, scratch)
    let expected = scratch.path("one.mp4")
    _ = try Self.session(source, to: expected, test).run()
    let plan = try Self.session(source, to: scratch.path("out.mp4"), test).chunkPlan()
    #expect(try Self.work(plan.json()) == ["whole"])
    #expect(plan.warnings.contains { $0.contains("bitrate") }, "\(plan.warnings)")
    let text = Array(try plan.text().utf8)
    _ = try ChunkSession(plan: text).run(chunk: 0, folder: scratch.path("parts"))
    guard
      case .whole(let report, _, 288) = try ChunkSession(plan: text).join(
        folder: scratch.path("parts"))
    else {
      Issue.record("the part isn't the whole output")
      return
    }
    #expect(report["output"]?["encoded_frames"] == .number(288))
    #expect(
      FileManager.default.contents(atPath: expected)
        == FileManager.default.contents(atPath: scratch.path("out.mp4")))
    // A playlist is several files.
    let error = #expect(throws: UprightError.self) {
      try Self.session(source, to: scratch.path("out.m3u8"), test).chunkPlan()
    }
    #expect(error?.code == .usage)
  }

  @Test("An input that is upright has no chunks, and join copies it", .long)
  func copied() throws {
    let scratch = try Scratch()
    var test = Self.cases[0]
    test.events = nil
    test.configure = {
      $0.reencode = .auto
      $0.speed = nil
    }
    let source = try Self.source(test, scratch)
    let plan = try Self.session(source, to: scratch.path("out.mp4"), test).chunkPlan()
    #expect(plan.chunks.isEmpty)
    let text = Array(try plan.text().utf8)
    let error = #expect(throws: UprightError.self) {
      try ChunkSession(plan: text).run(chunk: 0, folder: scratch.path("parts"))
    }
    #expect(error?.code == .usage)
    guard case .joined(let result) = try ChunkSession(plan: text).join(folder: scratch.path("none"))
    else {
      Issue.record("nothing was copied")
      return
    }
    #expect(result.output.copiedFrames == 288)
  }

  @Test("A chunk that is cancelled leaves no part")
  func cancelled() throws {
    let scratch = try Scratch()
    let test = Self.cases[0]
    let source = try Self.source(test, scratch)
    let plan = try Self.session(source, to: scratch.path("out.mp4"), test).chunkPlan()
    let session = try ChunkSession(plan: Array(plan.text().utf8))
    session.cancel()
    let error = #expect(throws: UprightError.self) {
      try session.run(chunk: 0, folder: scratch.path("parts"))
    }
    #expect(error?.code == .cancelled)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("parts")).isEmpty)
  }
}
