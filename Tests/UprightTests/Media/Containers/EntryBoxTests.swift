import Foundation
import Testing
import UprightOrientation
import UprightSignals
import UprightTestSupport

@testable import UprightMediaIO

/// Boxes of sample entries that libavformat doesn't write are kept when packets are copied, or named.
@Suite("Boxes of sample entries")
struct EntryBoxTests {
  /// What libavformat doesn't write of views and projections. FFmpeg 7.1 and later refuse a file that describes its
  /// views in Apple's way and in Google's.
  private static func spatial(_ input: String) -> [String] {
    input.hasSuffix("mov") ? ["vexu", "hfov"] : ["st3d", "sv3d"]
  }
  /// What it doesn't write of the samples, and a box that nobody knows.
  private static let others = ["lhvC", "dvvC", "amve", "cclv", "zzzz"]

  private static func content(_ type: String) -> [UInt8] {
    switch type {
    // Profile 8.4, and mono; libavformat reads both.
    case "dvvC": [1, 0, 0x10, 0x2D, 0x40] + [UInt8](repeating: 0, count: 19)
    case "st3d": [0, 0, 0, 0, 0]
    // FFmpeg 7.1 and later read these three: a SEI of the second layer, both eyes, and 63.5 degrees.
    case "lhvC":
      [1, 0xF0, 0, 0xFC, 0xCB, 1] + [0xA7, 0, 1, 0, 5] + [0x4E, 9, 3, 0, 0x80]
    case "vexu": MovieWriter.box("eyes", MovieWriter.box("stri", [0, 0, 0, 0, 3]))
    case "hfov": MovieWriter.be(63_500, 4)
    // And this, which they write anew: 314 lux and D65.
    case "amve":
      MovieWriter.be(3_140_000, 4) + MovieWriter.be(15_635, 2) + MovieWriter.be(16_450, 2)
    case "sv3d":
      MovieWriter.box("svhd", [0, 0, 0, 0, 0])
        + MovieWriter.box(
          "proj",
          MovieWriter.box("prhd", [UInt8](repeating: 0, count: 16))
            + MovieWriter.box("equi", [UInt8](repeating: 0, count: 20)))
    default: Array("content of \(type)".utf8)
    }
  }

  private static func clip(_ path: String, turned: Bool, audio: Bool = true) throws {
    let plain = path + ".plain.mov"
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=10:d=0.5 -f lavfi -i sine=d=0.5 -c:a aac -c:v libx265",
      ["-tag:v", "hvc1", "-x265-params", "log-level=none:bframes=2", plain])
    try FFmpegTool.run(
      ["-i", plain, "-map", "0", "-c", "copy"]
        + (turned ? ["-metadata:s:v:0", "rotate=90"] : []) + [path])
    let boxes = (spatial(path) + others).flatMap { MovieWriter.box($0, content($0)) }
    try MoviePatch.add(boxes, toEntryOf: 0, in: path)
    try MoviePatch.add(MovieWriter.box("zaud", content("zaud")), toEntryOf: 1, in: path)
  }

  private static func boxes(_ path: String, track: Int = 0) throws -> [String: [UInt8]] {
    let file = try #require(ByteSource(regularFile: path))
    let movie = try #require(MovieContent(in: file))
    let tracks = MovieTrack.tracks(inMovie: movie.bytes)
    try #require(tracks.count > track)
    let entry = try #require(tracks[track].entries.first)
    return Dictionary(
      entry.boxes.map { ($0.type.description, Array(entry.bytes[$0.payload])) },
      uniquingKeysWith: { first, _ in first })
  }

  // 2 s for all.
  @Test(
    "A copy has all of them, byte for byte", arguments: ["in.mp4", "in.mov"],
    ["out.mp4", "out.mov"])
  func copied(_ input: String, _ output: String) throws {
    let scratch = try Scratch()
    let source = scratch.path(input)
    try Self.clip(source, turned: false)
    let run = try Transcoded(source, to: scratch.path(output))
    #expect(run.result.output.copiedFrames == 5)
    #expect(run.result.output.dropped.isEmpty, "\(run.result.output.dropped)")
    let written = try Self.boxes(run.path)
    for type in Self.spatial(source) + Self.others {
      #expect(written[type] == Self.content(type), "\(type)")
    }
    #expect(try Self.boxes(run.path, track: 1)["zaud"] == Self.content("zaud"))
    #expect(try FFmpegTool.frames(run.path).count == 5)
    let audio = try FFmpegTool.packets(source, "a:0", hashes: true).map(\.hash)
    #expect(try FFmpegTool.packets(run.path, "a:0", hashes: true).map(\.hash) == audio)
  }

  @Test(
    "A copy of two views has the parameter sets of each where they were",
    arguments: ["out.mp4", "out.mov"])
  func views(_ output: String) throws {
    let scratch = try Scratch()
    let source = scratch.path("in.mov")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=10:d=0.5 -c:v libx265 -tag:v hvc1 -x265-params",
      ["log-level=none:bframes=0", source])
    let base = try #require(try Self.boxes(source)["hvcC"])
    let second = Self.secondView(base)
    try MoviePatch.add(MovieWriter.box("lhvC", second), toEntryOf: 0, in: source)
    let run = try Transcoded(source, to: scratch.path(output))
    #expect(run.result.output.copiedFrames == 5)
    let written = try Self.boxes(run.path)
    #expect(written["hvcC"] == base)
    #expect(written["lhvC"] == second)
    #expect(try FFmpegTool.frames(run.path).count == 5)
  }

  /// Returns a configuration of layer 1 (ISO/IEC 14496-15, 9.6.3) with the SPS and PPS of `base`.
  private static func secondView(_ base: [UInt8]) -> [UInt8] {
    var (arrays, count): ([UInt8], UInt8) = ([], 0)
    var position = 23
    while position + 3 <= base.count {
      let start = position
      let units = Int(base[position + 1]) << 8 + Int(base[position + 2])
      position += 3
      var layered = base
      for _ in 0..<units {
        layered[position + 3] |= 1 << 3
        position += 2 + Int(base[position]) << 8 + Int(base[position + 1])
      }
      guard [33, 34].contains(base[start] & 0x3F) else { continue }
      arrays += layered[start..<position]
      count += 1
    }
    return [1, 0xF0, 0, 0xFC, 0xCB, count] + arrays
  }

  @Test("A copy that is turned by metadata keeps what stays true, and names the rest")
  func turned() throws {
    let scratch = try Scratch()
    let source = scratch.path("in.mp4")
    try Self.clip(source, turned: false)
    let events = #"{"at": 0, "device": "landscapeLeft"}"#
    let run = try Transcoded(source, to: scratch.path("out.mp4"), events: events) {
      $0.upright = .metadata
      $0.frames = .sensor(Camera())
    }
    let written = try Self.boxes(run.path)
    for type in Self.others { #expect(written[type] == Self.content(type), "\(type)") }
    let isTurned = run.result.formats[0].turn != .up
    for type in Self.spatial(source) {
      let isNamed = run.result.output.dropped.contains { $0.contains(type) }
      #expect((written[type] == nil) == isTurned && isNamed == isTurned, "\(type)")
    }
  }

  @Test("Encoded frames, and other containers, lose them by name")
  func named() throws {
    let scratch = try Scratch()
    let source = scratch.path("in.mov")
    try Self.clip(source, turned: true)
    let encoded = try Transcoded(source, to: scratch.path("out.mp4")) { $0.quick() }
    #expect(encoded.result.output.copiedFrames == 0)
    for type in Self.spatial(source) + Self.others {
      #expect(encoded.result.output.dropped.contains { $0.contains(type) }, "\(type)")
    }
    #expect(try Self.boxes(encoded.path, track: 1)["zaud"] == Self.content("zaud"))
    let transport = try Transcoded(source, to: scratch.path("out.ts")) { $0.quick() }
    #expect(transport.result.output.dropped.contains { $0.contains("zaud") })
  }

  @Test(
    "User data of cameras is copied with the packets, but for positions, or named",
    arguments: ["in.mp4", "in.mov"], ["out.mp4", "out.mov"])
  func userData(_ input: String, _ output: String) throws {
    let scratch = try Scratch()
    let source = scratch.path(input)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=10:d=0.5 -f lavfi -i sine=d=0.5 -c:v libx264 -bf 2 -c:a aac",
      [source])
    let box = { (type: String) in MovieWriter.box(type, Self.content(type)) }
    try MoviePatch.add(box("CAME") + box("gps ") + box("CAME"), to: ["moov", "udta"], in: source)
    for (track, type) in ["FOV ", "MICS"].enumerated() {
      let data = MovieWriter.box("udta", box(type))
      try MoviePatch.add(data, to: ["moov", "trak"], track: track, in: source)
    }
    let run = try Transcoded(source, to: scratch.path(output))
    #expect(run.result.output.copiedFrames == 5)
    #expect(run.result.output.dropped == ["moov/udta: gps "], "\(run.result.output.dropped)")
    let file = try #require(ByteSource(regularFile: run.path))
    let outline = MovieOutline(movie: try #require(MovieContent(in: file)).bytes)
    let types: [MP4BoxType?] = ["CAME", "gps ", "FOV ", "MICS"]
    let found = outline.userData.filter { types.contains($0.place.path.last) }
    #expect(found.map(\.place.track) == [1, 2, nil, nil], "\(found)")
    #expect(found.map(\.bytes) == [box("FOV "), box("MICS"), box("CAME"), box("CAME")])
    #expect(try FFmpegTool.frames(run.path).count == 5)
    let encoded = try Transcoded(source, to: scratch.path("encoded.mp4")) {
      $0.quick()
      $0.reencode = .always
    }
    for type in ["CAME", "FOV ", "MICS"] {
      #expect(encoded.result.output.dropped.contains { $0.contains(type) }, "\(type)")
    }
  }
}
