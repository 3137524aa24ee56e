import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// Frames that need no new pixels are copied, not encoded: `--reencode`, `--upright metadata`.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct CopyTests {
  /// A file whose frames are stored upright, with B-frames and audio.
  private static func upright(
    _ scratch: Scratch, _ name: String = "source.mp4", size: String = "64x48",
    _ more: [String] = []
  ) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=24:d=1", "-f", "lavfi", "-i", "sine=d=1:r=48000"]
        + ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "12", "-c:a", "aac"] + more + [path])
    return path
  }

  private static func counts(_ run: Transcoded) -> [Int?] {
    [run.report["output"]["copied_frames"].int, run.report["output"]["encoded_frames"].int]
  }

  private static func packets(_ path: String) throws -> [FFmpegTool.Packet] {
    try FFmpegTool.packets(path, "v:0", hashes: true)
  }

  @Test(
    "auto copies the input's packets if nothing has to change", .long,
    arguments: ["mp4", "mov", "mkv", "ts", "flv"])
  func copied(_ name: String) throws {
    let scratch = try Scratch()
    let source = try Self.upright(scratch)
    let run = try Transcoded(source, to: scratch.path("out.\(name)")) {
      if name == "ts" || name == "flv" { $0.size = .pair(PixelSize(64, 48)) }
    }
    #expect(Self.counts(run) == [24, 0])
    #expect(run.report["formats"][0]["turn"].string == "up")
    let (old, new) = (try Self.packets(source), try Self.packets(run.path))
    #expect(old.count == new.count)
    if ["mp4", "mov", "mkv"].contains(name) { #expect(old.map(\.hash) == new.map(\.hash)) }
    // In presentation order, to the tick of the coarser time base.
    let (before, after) = (old.compactMap(\.time).sorted(), new.compactMap(\.time).sorted())
    for (one, other) in zip(before, after) {
      #expect(abs((one - before[0]) - (other - after[0])) < 0.0011)
    }
    #expect(try FFmpegTool.frames(run.path).count == 24)
    #expect(try FFmpegTool.streams(run.path, "audio").count == 1)
  }

  @Test("Encoder options encode everything, unless they are for what must be encoded only")
  func optionsOfEncoder() throws {
    let scratch = try Scratch()
    let source = try Self.upright(scratch)
    for (copies, counts) in [(false, [0, 24]), (true, [24, 0])] {
      let run = try Transcoded(source, to: scratch.path("\(copies).mp4")) {
        $0.speed = "ultrafast"
        $0.copiesWhatFits = copies
      }
      #expect(Self.counts(run) == counts)
    }
  }

  @Test("Copying from Matroska, which stores no decoding times")
  func decodingTimes() throws {
    let scratch = try Scratch()
    let source = try Self.upright(scratch, "source.mkv", ["-bf", "3"])
    let run = try Transcoded(source, to: scratch.path("out.mp4"))
    #expect(Self.counts(run) == [24, 0])
    let (old, new) = (try Self.packets(source), try Self.packets(run.path))
    for (one, other) in zip(old, new) {
      let (before, after) = (try #require(one.time), try #require(other.time))
      #expect(abs(before - after) < 0.0006)
    }
    let times = new.compactMap(\.dts)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("Options that need new pixels cause encoding", .long)
  func encoded() throws {
    let scratch = try Scratch()
    let source = try Self.upright(scratch)
    let cases: [(inout TranscodeOptions) -> Void] = [
      { $0.reencode = .always }, { $0.size = .pair(PixelSize(32, 24)) }, { $0.canvas = .portrait },
      { $0.codec = .hevc }, { $0.rate = .constantQuality(30) }, { $0.speed = "ultrafast" },
      { $0.start = 0.25 }, { $0.gop = 5 },
    ]
    for (index, configure) in cases.enumerated() {
      let run = try Transcoded(source, to: scratch.path("\(index).mp4"), options: configure)
      #expect(Self.counts(run)[0] == 0, "case \(index)")
    }
    // A frame stored rotated, pixels that aren't square, an output with another default size.
    let lying = try Transcoded(Samples.displayMatrix, to: scratch.path("lying.mp4"))
    #expect(Self.counts(lying)[0] == 0)
    let wide = try Self.upright(scratch, "wide.mp4", ["-vf", "setsar=3/2"])
    #expect(Self.counts(try Transcoded(wide, to: scratch.path("square.mp4")))[0] == 0)
    #expect(Self.counts(try Transcoded(source, to: scratch.path("live.ts")))[0] == 0)
    // An event in mid-stream.
    let turned = try Transcoded(
      source, to: scratch.path("turned.mp4"), events: #"{"at": 0.5, "device": "portrait"}"#
    ) {
      $0.frames = .sensor(Camera())
    }
    #expect(Self.counts(turned)[0] == 0)
  }

  @Test("Signals that are ignored are not copied to the output")
  func ignored() throws {
    let scratch = try Scratch()
    let source = try Self.upright(scratch)
    try DisplayMatrixPatch.apply(.left, to: source)
    let run = try Transcoded(source, to: scratch.path("out.mp4")) { $0.frames = .upright }
    #expect(Self.counts(run) == [24, 0])
    let probe = try JSONDecoder().decode(
      JSON.self, from: Data(try Probe(input: run.path).json.compact.utf8))
    #expect(probe["signals"].array.isEmpty)
  }

  @Test("A change of the size in mid-stream causes encoding", .clips("res-change"))
  func changingSize() throws {
    let scratch = try Scratch()
    let small = try Self.upright(scratch, "small.ts", size: "32x24")
    let large = try Self.upright(scratch, "large.ts")
    let both = scratch.path("both.ts")
    try
      (Data(contentsOf: URL(fileURLWithPath: large))
      + Data(contentsOf: URL(fileURLWithPath: small))).write(to: URL(fileURLWithPath: both))
    let run = try Transcoded(both, to: scratch.path("out.mp4"))
    #expect(Self.counts(run)[0] == 0)
  }

  @Test("never is an error if pixels would have to change")
  func never() throws {
    let scratch = try Scratch()
    let source = try Self.upright(scratch)
    let run = try Transcoded(source, to: scratch.path("out.mp4")) { $0.reencode = .never }
    #expect(Self.counts(run) == [24, 0])
    let error = try #require(throws: UprightError.self) {
      try Transcoded(Samples.displayMatrix, to: scratch.path("no.mp4")) { $0.reencode = .never }
    }
    #expect(error.code == .usage && error.message.contains("right"))
    #expect(!scratch.names.contains("no.mp4"))
  }

  @Test(
    "--upright metadata copies the frames and writes the rotation into the container", .long,
    arguments: ["mp4", "mov", "mkv", "ts"])
  func metadata(_ name: String) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.displayMatrix, to: scratch.path("out.\(name)")) {
      $0.upright = .metadata
    }
    #expect(Self.counts(run) == [60, 0])
    #expect(run.report["formats"].array.count == 1)
    #expect(run.report["formats"][0]["turn"].string == "right")
    #expect(run.report["formats"][0]["encodeResolution"].string == "360x640")
    let upright = try Transcoded(run.path, to: scratch.path("out.y4m"))
    let truth = try Transcoded(Samples.displayMatrix, to: scratch.path("truth.y4m"))
    let (one, other) = (
      try FFmpegTool.run(["-i", upright.path, "-f", "md5", "-"]),
      try FFmpegTool.run(["-i", truth.path, "-f", "md5", "-"])
    )
    #expect(one == other)
  }

  @Test("--upright metadata with a rotation in mid-stream writes a message into each frame")
  func metadataOverTime() throws {
    let scratch = try Scratch()
    let source = try Self.upright(scratch, size: "64x36", ["-bf", "2"])
    let run = try Transcoded(
      source, to: scratch.path("out.mp4"),
      events: """
        {"at": 0, "device": "portrait"}
        {"at": 0.5, "device": "landscapeLeft"}
        """
    ) {
      $0.frames = .sensor(Camera())
      $0.upright = .metadata
    }
    #expect(Self.counts(run) == [24, 0])
    #expect(run.report["formats"].array.compactMap { $0["first_frame"].int } == [0, 12])
    #expect(run.report["formats"].array.compactMap { $0["turn"].string } == ["right", "up"])
    let probe = try JSONDecoder().decode(
      JSON.self, from: Data(try Probe(input: run.path).json.compact.utf8))
    let signals = probe["signals"].array
    #expect(signals.compactMap { $0["frame"].int } == [0, 12])
    #expect(signals.compactMap { $0["orientation"].string } == ["right", "up"])
    // FFmpeg turns the frames that carry a message. Here, all of the first 12 do.
    let sizes = try FFmpegTool.frames(run.path).map { $0.json["side_data_list"].array.isEmpty }
    #expect(sizes.prefix(12).allSatisfy { !$0 })
  }

  @Test("--upright metadata rejects options that need new pixels")
  func contradictions() throws {
    let scratch = try Scratch()
    let cases: [(inout TranscodeOptions) -> Void] = [
      { $0.size = .source }, { $0.canvas = .portrait }, { $0.fit = .fill }, { $0.codec = .h264 },
      { $0.start = 0.5 }, { $0.reencode = .always }, { $0.rate = .bitrate(100_000) },
      { $0.speed = "fast" },
    ]
    for (index, configure) in cases.enumerated() {
      let error = try #require(throws: UprightError.self, "case \(index)") {
        try Transcoded(Samples.displayMatrix, to: scratch.path("no.mp4")) {
          configure(&$0)
          $0.upright = .metadata
        }
      }
      #expect(error.code == .usage, "case \(index)")
    }
  }
}
