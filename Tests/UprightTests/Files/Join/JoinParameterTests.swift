import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals
@testable import UprightFiles
@testable import UprightMediaIO

/// The parameters read from a stream before its GOPs are joined with others, and the streams that are
/// rejected.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct JoinParameterTests {
  private static func clip(
    _ scratch: Scratch, _ name: String, _ options: [String], size: String = "160x120",
    frames: Int = 30
  ) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=25", "-frames:v", "\(frames)"] + options + [path])
    return path
  }

  private static func video(_ path: String) throws -> StreamInfo {
    try #require(Demuxer(url: path).container.streams.first { $0.kind == .video })
  }

  private static func configuration(_ path: String) throws -> DecoderConfiguration {
    let video = try video(path)
    let codec = try #require(DisplayOrientationTracker.Codec(named: video.codecName))
    return try DecoderConfiguration(video.parameters.extradata, codec: codec)
  }

  private static func kinds(_ path: String) throws -> [EntryKind] {
    let demuxer = try Demuxer(url: path)
    let reader = EntryPointReader(try video(path))
    var kinds: [EntryKind] = []
    while let packet = try demuxer.read() { kinds.append(reader.kind(of: packet)) }
    return kinds
  }

  private static let sequences: [(name: String, options: [String], size: String)] = [
    ("high.mp4", ["-pix_fmt", "yuv420p"], "162x122"),
    ("odd.mp4", ["-vf", "scale=161:121", "-pix_fmt", "yuv444p"], "161x121"),
    ("deep.mp4", ["-pix_fmt", "yuv422p10le", "-bf", "1"], "162x122"),
    (
      "plain.ts",
      ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-profile:v", "baseline", "-level", "4.1"], "98x66"
    ),
    (
      "timed.mp4",
      ["-pix_fmt", "yuv420p", "-x264-params", "nal-hrd=vbr:cqm=jvt:bframes=0"]
        + ["-b:v", "100k", "-maxrate", "100k", "-bufsize", "100k"], "160x120"
    ),
    ("deep265.mp4", ["-c:v", "libx265", "-pix_fmt", "yuv420p10le"], "170x122"),
    (
      "plain265.mkv",
      ["-c:v", "libx265", "-x265-params", "bframes=0"]
        + ["-pix_fmt", "yuv420p"], "162x130"
    ),
  ]

  @Test("The values of a sequence parameter set equal ffprobe's", .long, arguments: 0..<7)
  func sequence(_ index: Int) throws {
    let scratch = try Scratch()
    let (name, options, size) = Self.sequences[index]
    let path = try Self.clip(scratch, name, options, size: size)
    let set = try #require(Self.configuration(path).sets.first { $0.kind == .sequence })
    let read = try SequenceParameters(set)
    let said = try #require(FFmpegTool.streams(path).first)
    #expect("\(read.size.width)x\(read.size.height)" == size)
    #expect(read.level == said["level"].int)
    #expect(read.reordering == said["has_b_frames"].int)
    #expect(!read.mayHoldFields)
    let format = try #require(PixelFormat(name: said["pix_fmt"].string ?? ""))
    #expect(read.lumaDepth == format.bitDepth && read.chromaDepth == format.bitDepth)
    #expect(read.chroma == [[3, 3], [2, 1]][format.chromaShift.x][format.chromaShift.y])
  }

  @Test("Entry points: an IDR is closed, the start of an open GOP is not", .long)
  func entries() throws {
    let scratch = try Scratch()
    func count(_ name: String, _ options: [String]) throws -> [EntryKind: [Int]] {
      let kinds = try Self.kinds(
        Self.clip(scratch, name, ["-pix_fmt", "yuv420p", "-g", "10"] + options))
      return Dictionary(grouping: kinds.indices) { kinds[$0] }
    }
    let closed = try count("closed.mp4", ["-sc_threshold", "0"])
    #expect(closed[.closed] == [0, 10, 20] && closed[.open] == nil)
    let open = try count(
      "open.ts", ["-c:v", "libx264", "-sc_threshold", "0", "-x264-params", "open-gop=1"])
    #expect(open[.closed] == [0] && (open[.open]?.count ?? 0) == 2)
    let hevc = ["-c:v", "libx265", "-x265-params"]
    let idr = try count("idr.mp4", hevc + ["open-gop=0:scenecut=0:log-level=none"])
    #expect(idr[.closed] == [0, 10, 20] && idr[.open] == nil)
    let cra = try count("cra.mkv", hevc + ["open-gop=1:scenecut=0:log-level=none"])
    #expect(cra[.closed] == [0] && (cra[.open]?.count ?? 0) == 2)
    let vp9 = try count("a.webm", ["-c:v", "libvpx-vp9", "-deadline", "realtime"])
    #expect(vp9[.closed] == [0, 10, 20])
    let av1 = try count("a.mp4", ["-c:v", "libsvtav1", "-preset", "12"])
    #expect(av1[.closed]?.first == 0 && (av1[.closed]?.count ?? 0) >= 2)
  }

  private static let refused: [(String, [String], String)] = [
    (
      "a.mp4", ["-flags", "+ildct+ilme", "-x264-params", "tff=1"],
      "its frames may be coded as fields"
    ),
    ("a.mp4", ["-c:v", "mpeg4"], "there is no encoder for mpeg4"),
    ("a.webm", ["-c:v", "libvpx"], "there is no encoder for vp8"),
  ]

  @Test("Streams that can't be joined are rejected with the reason", arguments: 0..<3)
  func refusal(_ index: Int) throws {
    let scratch = try Scratch()
    let (name, options, reason) = Self.refused[index]
    let path = try Self.clip(scratch, name, ["-pix_fmt", "yuv420p"] + options)
    let error = #expect(throws: CopyRefusal.self) { try SplicedFile.join(path, .matroska) }
    #expect(error?.reason == reason)
  }

  @Test("An identifier used by two parameter sets is rejected")
  func changing() throws {
    let scratch = try Scratch()
    var files: [Data] = []
    for (index, level) in ["3", "4"].enumerated() {
      let path = try Self.clip(
        scratch, "\(index).h264", ["-pix_fmt", "yuv420p", "-level", level], frames: 5)
      files.append(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
    let both = scratch.path("both.h264")
    try (files[0] + files[1]).write(to: URL(fileURLWithPath: both))
    let error = #expect(throws: CopyRefusal.self) { try SplicedFile.join(both, .matroska) }
    #expect(error?.reason == "its parameter sets change")
  }

  @Test("The user's encoder options do not break the match")
  func options() throws {
    let scratch = try Scratch()
    let source = try Self.clip(
      scratch, "main.mp4", ["-pix_fmt", "yuv420p", "-profile:v", "main", "-bf", "0", "-g", "10"])
    let out = scratch.path("out.mp4")
    _ = try SplicedFile(source, to: out, replaced: [1]) {
      $0.options = [
        "profile": "high", "bf": "3",
        "x264-params": "sps-id=0:bframes=4:open-gop=1:repeat-headers=0:annexb=0",
      ]
    }
    #expect(try JoinTests.decoded(out, in: scratch).count == 30)
    #expect(try FFmpegTool.frames(out).map(\.json).allSatisfy { $0["pict_type"].string != "B" })
  }

  @Test("Damaged configurations and parameter sets are rejected or parsed without a crash")
  func hostile() throws {
    let scratch = try Scratch()
    var random = SeededGenerator()
    print("JoinParameterTests.hostile: UPRIGHT_SEED=\(random.seed)")
    let clips = [
      try Self.clip(scratch, "a.mp4", ["-pix_fmt", "yuv420p10le"], frames: 3),
      try Self.clip(
        scratch, "b.mp4",
        ["-pix_fmt", "yuv420p", "-c:v", "libx265", "-x265-params", "log-level=0"],
        frames: 3),
      try Self.clip(scratch, "c.ts", ["-c:v", "libx264", "-pix_fmt", "yuv420p"], frames: 3),
    ]
    for path in clips {
      let demuxer = try Demuxer(url: path)
      let video = try Self.video(path)
      let codec = try #require(DisplayOrientationTracker.Codec(named: video.codecName))
      let good = video.parameters.extradata
      let packet = try demuxer.read()?.withBytes { Array($0) } ?? []
      try #require(!packet.isEmpty && !good.isEmpty)
      for count in 0...good.count { Self.feed(Array(good.prefix(count)), packet, codec) }
      for count in 0..<min(packet.count, 400) {
        Self.feed(good, Array(packet.prefix(count)), codec)
      }
      for _ in 0..<3000 {
        var (bytes, body) = (good, packet)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
            in: 0...255, using: &random)
          let place = Int.random(in: 0..<min(body.count, 200), using: &random)
          body[place] = UInt8.random(in: 0...255, using: &random)
        }
        Self.feed(bytes, body, codec)
      }
    }
  }

  /// Calls every parser of untrusted bytes.
  private static func feed(
    _ configuration: [UInt8], _ packet: [UInt8], _ codec: DisplayOrientationTracker.Codec
  ) {
    var sets = StreamParameterSets(codec: codec, configuration: configuration)
    packet.withUnsafeBytes { sets.read($0) }
    if let read = sets.configuration {
      let joined = try? read.with(sets.sets)
      if sets.flaw == nil, let joined {
        #expect((try? DecoderConfiguration(joined, codec: codec))?.sets.count == sets.sets.count)
      }
      packet.withUnsafeBytes { _ = DecodingEntry($0, codec: codec, framing: read.framing) }
    }
    for set in sets.sets {
      _ = try? SequenceParameters(set)
      if let numbers = ParameterSetNumbers(besides: sets.sets) {
        _ = try? numbers.applied(to: set.unit)
        _ = try? numbers.applied(to: Array(packet.dropFirst(4)))
      }
    }
    _ = DecodingEntry(vp9: packet)
    _ = DecodingEntry(av1: packet)
  }
}
