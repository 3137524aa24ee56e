import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// `upright tag`: packets are copied, with a single orientation signal.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .tags(.lengthy))
struct TagTests {
  /// Encodes two GOPs with B-frames, and audio, at 64x48, with no symmetry in the frames.
  private static func source(
    _ scratch: Scratch, _ name: String, video: String = "libx264", audio: String = "aac",
    _ more: [String] = []
  ) throws -> String {
    let path = scratch.path(name)
    var arguments = ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=24:d=1"]
    if audio != "none" { arguments += ["-f", "lavfi", "-i", "sine=d=1:r=48000"] }
    arguments += ["-c:v", video, "-pix_fmt", "yuv420p", "-g", "12"]
    if audio != "none" { arguments += ["-c:a", audio] }
    if video == "libx265" { arguments += ["-x265-params", "log-level=none"] }
    if video == "libvpx-vp9" { arguments += ["-cpu-used", "8", "-deadline", "realtime"] }
    try FFmpegTool.run(arguments + more + [path])
    return path
  }

  @discardableResult
  private static func tag(
    _ input: String, _ output: String, _ orientation: ImageOrientation,
    _ configure: (inout TagSession.Options) -> Void = { _ in }
  ) throws -> (report: JSON, result: TranscodeReport) {
    QuietLibraries.install()
    var options = TagSession.Options(orientation: orientation)
    configure(&options)
    let result = try TagSession(input: input, output: output, options: options).run()
    return (
      try JSONDecoder().decode(JSON.self, from: Data(result.json.compact.utf8)), result
    )
  }

  /// Returns FFmpeg's filter that turns a frame of `orientation` upright.
  private static func filter(_ orientation: ImageOrientation) -> String {
    switch orientation {
    case .up: "null"
    case .upMirrored: "hflip"
    case .down: "hflip,vflip"
    case .downMirrored: "vflip"
    case .leftMirrored: "transpose=0"
    case .right: "transpose=1"
    case .rightMirrored: "transpose=3"
    case .left: "transpose=2"
    }
  }

  /// Returns the MD5 of all decoded frames.
  private static func pictures(_ path: String, _ options: [String], filter: String) throws -> String
  {
    let output = try FFmpegTool.run(
      options + [
        "-i", path, "-map", "0:v:0", "-vf", filter, "-fps_mode", "passthrough", "-f", "md5", "-",
      ]
    )
    return String(decoding: output, as: UTF8.self)
  }

  private static func signals(_ path: String) throws -> [JSON] {
    let probe = try Probe(input: path)
    return try JSONDecoder().decode(JSON.self, from: Data(probe.json.compact.utf8))["signals"].array
  }

  // MARK: - The eight orientations

  struct Case: Sendable, CustomTestStringConvertible {
    let output: String
    var video = "libx264"
    var audio = "aac"
    /// Whether the orientation is in the container, not in the frames.
    var isField = true
    var source: String {
      !isField ? "sei" : output == "mkv" || output == "webm" ? "projection" : "trackMatrix"
    }
    var testDescription: String { "\(video) in .\(output)" }
  }

  static let cases = [
    Case(output: "mp4"), Case(output: "mov"), Case(output: "mkv"),
    Case(output: "webm", video: "libvpx-vp9", audio: "libopus"),
    Case(output: "ts", isField: false), Case(output: "flv", isField: false),
    Case(output: "h264", isField: false), Case(output: "mp4", video: "libx265"),
    Case(output: "ts", video: "libx265", isField: false),
    Case(output: "hevc", video: "libx265", isField: false),
    Case(output: "mkv", video: "libvpx-vp9", audio: "libopus"),
  ]

  @Test(
    "Every orientation is read correctly by Upright and FFmpeg", .long,
    arguments: Loop.cases(cases, test: 4))
  func eight(_ example: Case) throws {
    let scratch = try Scratch()
    let isElementary = ["h264", "hevc"].contains(example.output)
    let source = try Self.source(
      scratch, "source.\(example.output)", video: example.video,
      audio: isElementary ? "none" : example.audio)
    // All eight orientations for each kind of signal; in `make test` for the first.
    let kinds = Loop.current == .slow ? ["mp4", "mkv", "ts"] : ["mp4"]
    let all = kinds.contains(example.output) && example.video == "libx264"
    let few: [ImageOrientation] = [.up, .right, .leftMirrored]
    for orientation in all ? ImageOrientation.allCases : few {
      let tagged = scratch.path("\(orientation.name).\(example.output)")
      let (report, _) = try Self.tag(source, tagged, orientation)
      #expect(report["output"]["copied_frames"].int == 24)
      #expect(report["output"]["encoded_frames"].int == 0)

      // Upright's reader.
      let signals = try Self.signals(tagged)
      if orientation == .up {
        #expect(signals.isEmpty, "\(orientation): \(signals)")
      } else {
        #expect(signals.count == 1, "\(orientation): \(signals)")
        #expect(signals.first?["orientation"].string == orientation.name)
        #expect(signals.first?["source"].string == example.source)
      }
      // Upright's transcoder, and FFmpeg where possible: it drops an SEI after one frame.
      let truth = try Self.pictures(
        source, ["-noautorotate"], filter: Self.filter(orientation))
      let upright = try Transcoded(tagged, to: scratch.path("\(orientation.name).y4m"))
      #expect(try Self.pictures(upright.path, [], filter: "null") == truth, "\(orientation)")
      if example.isField {
        #expect(try Self.pictures(tagged, [], filter: "null") == truth, "\(orientation)")
        let side = try FFmpegTool.streams(tagged, "video")[0]["side_data_list"].array
        let text = side.compactMap { $0["displaymatrix"].string }.joined()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
        if orientation == .up {
          #expect(numbers.isEmpty)
        } else if numbers.count == 9 {
          let four = [numbers[0], numbers[1], numbers[3], numbers[4]].map { $0 >> 16 }
          #expect(four == DisplayMatrixPatch.numbers(orientation))
        } else {
          Issue.record("\(orientation): no matrix in \(side)")
        }
      }
      // The packets are the same, except for the messages. MPEG-TS times are relative to each file's start.
      let starts = try [source, tagged].map { path in
        example.output == "ts" ? try FFmpegTool.packets(path, "v:0").first?.time ?? 0 : 0
      }
      for stream in isElementary ? ["v:0"] : ["v:0", "a:0"] {
        let before = try FFmpegTool.packets(source, stream, hashes: true)
        let after = try FFmpegTool.packets(tagged, stream, hashes: true)
        #expect(before.count == after.count)
        let isMarked = stream == "v:0" && !example.isField && orientation != .up
        for (old, new) in zip(before, after) {
          if isMarked && old.isKey {
            #expect(old.hash != new.hash)
          } else if !isMarked || example.video != "libx265" {
            // HEVC's leading frames carry the message too.
            #expect(old.hash == new.hash)
          }
          if !isElementary { #expect(close(old.time, new.time, 0.0006, starts)) }
          #expect(old.isKey == new.isKey)
        }
      }
    }
  }

  private func close(
    _ one: Double?, _ other: Double?, _ tolerance: Double, _ starts: [Double] = [0, 0]
  ) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return abs((one - starts[0]) - (other - starts[1])) <= tolerance
  }

  @Test(
    "From one container to another, frames and times are kept", .long,
    arguments: ["mov", "mkv", "ts", "flv"])
  func across(_ name: String) throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.mp4")
    let tagged = scratch.path("tagged.\(name)")
    try Self.tag(source, tagged, .right)
    let truth = try Self.pictures(source, [], filter: "transpose=1")
    let upright = try Transcoded(tagged, to: scratch.path("upright.y4m"))
    #expect(try Self.pictures(upright.path, [], filter: "null") == truth)
    let before = try FFmpegTool.frames(source).compactMap(\.time)
    let after = try FFmpegTool.frames(tagged).compactMap(\.time)
    #expect(before.count == 24 && after.count == 24)
    for (old, new) in zip(before, after) {
      #expect(abs((old - before[0]) - (new - after[0])) < 0.0011)
    }
  }

  // MARK: - A single signal

  @Test("The input's signals are removed", arguments: ["mp4", "mkv", "ts"])
  func conflicts(_ name: String) throws {
    let scratch = try Scratch()
    let source = try Self.source(
      scratch, "source.mp4", ["-bsf:v", "h264_metadata=display_orientation=insert:rotate=180"])
    try DisplayMatrixPatch.apply(.left, to: source)
    #expect(try Self.signals(source).contains { $0["source"].string == "sei" })
    for orientation in [ImageOrientation.up, .rightMirrored] {
      let tagged = scratch.path("\(orientation.name).\(name)")
      try Self.tag(source, tagged, orientation)
      let found = try Self.signals(tagged).map { $0["orientation"].string }
      #expect(found == (orientation == .up ? [] : [orientation.name]))
    }
    // x264's SEI message is kept.
    let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.path("up.\(name)")))
    #expect(bytes.range(of: Data("x264 - core".utf8)) != nil)
  }

  @Test("--sei also writes the orientation into the frames", .long, arguments: ["mp4", "mkv"])
  func messages(_ name: String) throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.mp4")
    let tagged = scratch.path("tagged.\(name)")
    try Self.tag(source, tagged, .left) { $0.writesMessages = true }
    let found = try Self.signals(tagged)
    #expect(found.first?["source"].string == "sei")
    #expect(found.count == 2 && found.allSatisfy { $0["orientation"].string == "left" })
    let streams = try FFmpegTool.streams(tagged, "video")
    #expect(streams[0]["side_data_list"][0]["rotation"].int == 90)
    // In every frame where decoding can start.
    let before = try FFmpegTool.packets(source, "v:0", hashes: true)
    let after = try FFmpegTool.packets(tagged, "v:0", hashes: true)
    let marked = after.indices.filter { before[$0].hash != after[$0].hash }
    #expect(marked == after.indices.filter { after[$0].isKey } && marked.count == 2)
  }

  @Test("A rotate tag is removed too")
  func rotateTag() throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.mkv", ["-metadata:s:v", "ROTATE=90"])
    #expect(try Self.signals(source).map { $0["source"].string } == ["rotateTag"])
    let up = scratch.path("up.mkv")
    try Self.tag(source, up, .up)
    #expect(try Self.signals(up).isEmpty)
    let down = scratch.path("down.mkv")
    try Self.tag(source, down, .down)
    #expect(try Self.signals(down).map { $0["orientation"].string } == ["down"])
  }

  // MARK: - Matroska, byte by byte

  @Test("Matroska: a rectangular projection with roll and yaw only")
  func projection() throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.mkv", audio: "none")
    // Degrees counter-clockwise, after a horizontal flip (RFC 9559).
    let wanted: [(ImageOrientation, yaw: Double, roll: Double)] = [
      (.upMirrored, 180, 0), (.down, 0, -180), (.downMirrored, 180, -180),
      (.leftMirrored, 180, 90), (.right, 0, -90), (.rightMirrored, 180, -90), (.left, 0, 90),
    ]
    for (orientation, yaw, roll) in wanted {
      let tagged = scratch.path("\(orientation.name).mkv")
      try Self.tag(source, tagged, orientation)
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: tagged)))
      let tracks = try #require(EBML(bytes).first([0x1853_8067, 0x1654_AE6B]))
      let projection = try #require(tracks.first([0xAE, 0xE0, 0x7670]))
      #expect(projection.children.filter { $0.id == 0x7671 }.first?.content == [0])
      #expect(!projection.children.contains { $0.id == 0x7672 })
      #expect(projection.first([0x7673])?.double ?? 0 == yaw)
      #expect(projection.first([0x7674]) == nil)
      #expect(projection.first([0x7675])?.double ?? 0 == roll)
      // The checksum of Tracks, if there is one, is that of its new content (RFC 8794, 11.3.1).
      if let checksum = tracks.children.first(where: { $0.id == 0xBF }) {
        let sum = Self.crc32(tracks.content.dropFirst(6))
        #expect(checksum.content == [0, 8, 16, 24].map { UInt8(sum >> $0 & 0xFF) })
      }
    }
  }

  private static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 {
        let isOdd = sum & 1 == 1
        sum >>= 1
        if isOdd { sum ^= 0xEDB8_8320 }
      }
    }
    return ~sum
  }

  /// The elements of an EBML document (RFC 8794).
  private struct EBML {
    var id = 0
    let content: [UInt8]
    var children: [EBML] {
      var found: [EBML] = []
      var position = 0
      func number(keepsMarker: Bool) -> Int? {
        guard position < content.count, content[position] != 0 else { return nil }
        let length = content[position].leadingZeroBitCount + 1
        guard position + length <= content.count else { return nil }
        var value = 0
        for index in 0..<length { value = value << 8 | Int(content[position + index]) }
        position += length
        return keepsMarker ? value : value & (1 << (7 * length) - 1)
      }
      while let id = number(keepsMarker: true), let size = number(keepsMarker: false) {
        let end = min(content.count, position + size)
        found.append(EBML(id: id, content: Array(content[position..<end])))
        position = end
      }
      return found
    }
    init(_ bytes: [UInt8]) { content = bytes }
    init(id: Int, content: [UInt8]) {
      self.id = id
      self.content = content
    }
    func first(_ path: [Int]) -> EBML? {
      guard let id = path.first else { return self }
      return children.first { $0.id == id }?.first(Array(path.dropFirst()))
    }
    var double: Double? {
      switch content.count {
      case 4: Double(Float(bitPattern: content.reduce(0) { $0 << 8 | UInt32($1) }))
      case 8: Double(bitPattern: content.reduce(0) { $0 << 8 | UInt64($1) })
      default: nil
      }
    }
  }

  // MARK: - Everything else

  @Test("MP4: the matrix moves the frame back to the origin, with the pixel aspect ratio kept")
  func translation() throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, "source.mp4", audio: "none", ["-vf", "setsar=3/2"])
    let places: [(ImageOrientation, Int, Int)] = [
      (.right, 48, 0), (.down, 96, 48), (.left, 0, 96), (.upMirrored, 96, 0), (.leftMirrored, 0, 0),
      (.rightMirrored, 48, 96),
    ]
    for (orientation, x, y) in places {
      let tagged = scratch.path("\(orientation.name).mp4")
      try Self.tag(source, tagged, orientation)
      let streams = try JSONDecoder().decode(
        JSON.self, from: Data(try Probe(input: tagged).json.compact.utf8))["streams"]
      let matrix = streams[0]["displayMatrix"].ints
      try #require(matrix.count == 9)
      #expect(matrix[6] >> 16 == x && matrix[7] >> 16 == y, "\(orientation)")
      #expect(streams[0]["sampleAspectRatio"].string == "3:2")
    }
  }

  @Test("Tags, chapters, languages, audio, subtitles, timecode, location", .long)
  func metadata() throws {
    let scratch = try Scratch()
    let (chapters, text) = (scratch.path("c.txt"), scratch.path("t.srt"))
    try """
    ;FFMETADATA1
    title=A walk
    creation_time=2024-05-06T07:08:09.000000Z
    location=+48.8577+002.2950/
    [CHAPTER]
    TIMEBASE=1/1000
    START=0
    END=500
    title=Out

    """.write(toFile: chapters, atomically: true, encoding: .utf8)
    try "1\n00:00:00,100 --> 00:00:00,900\nHello\n\n".write(
      toFile: text, atomically: true, encoding: .utf8)
    let plain = try Self.source(scratch, "plain.mp4")
    let source = scratch.path("source.mov")
    var arguments = ["-i", plain, "-i", chapters, "-i", text]
    arguments += "-map 0:a -map 0:v -map 0:a -map 2:s -map_metadata 1 -map_chapters 1".words
    arguments += ["-c", "copy", "-c:s", "mov_text", "-timecode", "01:00:00:00"]
    arguments += ["-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=fra"]
    try FFmpegTool.run(arguments + [source])
    let tagged = scratch.path("tagged.mov")
    let (_, result) = try Self.tag(source, tagged, .right)
    let before = try FFmpegTool.probe(source, ["-show_format", "-show_chapters", "-show_streams"])
    let after = try FFmpegTool.probe(tagged, ["-show_format", "-show_chapters", "-show_streams"])
    // Audio came first and still does. The container creates the chapter track.
    let kinds = after["streams"].array.map { $0["codec_type"].string ?? "" }
    #expect(kinds.prefix(4) == ["audio", "video", "audio", "subtitle"])
    #expect(
      after["streams"].array.contains { $0["codec_tag_string"].string == "tmcd" }, "\(kinds)")
    #expect(after["streams"][0]["tags"]["language"].string == "eng")
    #expect(after["streams"][2]["tags"]["language"].string == "fra")
    #expect(after["chapters"][0]["tags"]["title"].string == "Out")
    #expect(after["format"]["tags"]["title"].string == "A walk")
    #expect(
      after["format"]["tags"]["creation_time"].string
        == before["format"]["tags"]["creation_time"].string)
    #expect(after["format"]["tags"]["location"].string?.hasPrefix("+48.8577") == true)
    #expect(result.warnings.count == 1 && result.warnings[0].contains("GPS"))
    for stream in ["a:0", "a:1", "v:0", "s:0"] {
      let old = try FFmpegTool.packets(source, stream, hashes: true)
      let new = try FFmpegTool.packets(tagged, stream, hashes: true)
      #expect(old.map(\.hash) == new.map(\.hash), "\(stream)")
      #expect(zip(old, new).allSatisfy { close($0.time, $1.time, 0.00005) }, "\(stream)")
    }
    // Another container keeps it too.
    let (_, other) = try Self.tag(source, scratch.path("other.mkv"), .right)
    #expect(other.warnings.contains { $0.contains("GPS") })
  }

  @Test(
    "Clips of phones: packets, times and manufacturers' tags", .long,
    .clips("rotation-real", "bframes-elst", "vfr"),
    arguments: [
      "rotation-real/iphone_rotated.mov", "rotation-real/exo_video_1_rot270.mp4",
      "rotation-real/h265_with_metadata_track.mp4", "bframes-elst/edit_list_positive_shift.mp4",
      "bframes-elst/iibbibb_editlist_videoonly.mp4", "vfr/cursed-vfr.mp4",
    ])
  func phones(_ name: String) throws {
    let scratch = try Scratch()
    let source = SharedFiles.url("clips/\(name)").path
    let tagged = scratch.path("tagged." + (name.split(separator: ".").last ?? "mp4"))
    try Self.tag(source, tagged, .downMirrored)
    #expect(try Self.signals(tagged).map { $0["orientation"].string } == ["downMirrored"])
    for kind in ["v:0", "a:0"] {
      let old = try FFmpegTool.packets(source, kind, hashes: true)
      let new = try FFmpegTool.packets(tagged, kind, hashes: true)
      #expect(old.map(\.hash) == new.map(\.hash), "\(kind)")
      #expect(old.map(\.isDiscarded) == new.map(\.isDiscarded), "\(kind)")
      // A tick of the finer of the two time bases.
      #expect(zip(old, new).allSatisfy { close($0.time, $1.time, 0.00003) }, "\(kind)")
    }
    let tags = try FFmpegTool.probe(tagged, ["-show_format"])["format"]["tags"].object
    if name.contains("iphone") {
      #expect(tags["com.apple.quicktime.model"]?.string == "iPhone 4S")
      #expect(tags.keys.contains { $0.contains("location") })
    }
    let (before, after) = (try FFmpegTool.streams(source), try FFmpegTool.streams(tagged))
    #expect(before.map { $0["codec_tag_string"] } == after.map { $0["codec_tag_string"] })
  }

  @Test("A cover picture of MP4 is an attachment of Matroska, of which it becomes one again")
  func cover() throws {
    let scratch = try Scratch()
    let (plain, image) = (try Self.source(scratch, "plain.mp4"), scratch.path("cover.png"))
    try FFmpegTool.run(["-f", "lavfi", "-i", "testsrc2=s=64x64", "-frames:v", "1", image])
    let source = scratch.path("source.mp4")
    try FFmpegTool.run([
      "-i", plain, "-i", image, "-map", "0", "-map", "1", "-c", "copy", "-disposition:v:1",
      "attached_pic", source,
    ])
    var path = source
    for name in ["first.mkv", "second.mkv", "third.mp4"] {
      let (_, result) = try Self.tag(path, scratch.path(name), .right)
      path = scratch.path(name)
      #expect(result.output.dropped.isEmpty, "\(result.output.dropped)")
      let picture = try FFmpegTool.run([
        "-i", path, "-map", "0:v:1", "-c", "copy", "-f", "image2pipe", "-",
      ])
      #expect(picture == (try Data(contentsOf: URL(filePath: image))), "\(name)")
    }
  }

  @Test("The tag of a sample description is kept: hvc1")
  func sampleEntry() throws {
    let scratch = try Scratch()
    let source = try Self.source(
      scratch, "source.mp4", video: "libx265", audio: "none", ["-tag:v", "hvc1"])
    try Self.tag(source, scratch.path("t.mp4"), .right)
    #expect(
      try FFmpegTool.streams(scratch.path("t.mp4"), "video")[0]["codec_tag_string"].string == "hvc1"
    )
  }

  // MARK: - Errors

  @Test("Orientations that can't be stored are rejected")
  func refusals() throws {
    let scratch = try Scratch()
    let mpeg2 = try Self.source(scratch, "source.ts", video: "mpeg2video", audio: "mp2")
    #expect(throws: UprightError.self) { try Self.tag(mpeg2, scratch.path("a.ts"), .right) }
    // `up` needs no signal, so it is not an error.
    try Self.tag(mpeg2, scratch.path("up.ts"), .up)
    let h264 = try Self.source(scratch, "source.mp4")
    let failure = try #require(throws: UprightError.self) {
      try Self.tag(h264, scratch.path("a.webm"), .right)
    }
    #expect(failure.code == .usage)
    let raw = try Self.source(scratch, "source.h264", audio: "none")
    #expect(throws: UprightError.self) { try Self.tag(raw, scratch.path("a.mp4"), .right) }
    #expect(throws: UprightError.self) { try Self.tag(h264, scratch.path("a.m3u8"), .right) }
    #expect(throws: UprightError.self) { try Self.tag(h264, h264, .right) { $0.overwrites = true } }
    #expect(!scratch.names.contains { $0.hasPrefix("a.") || $0.hasPrefix(".") }, "\(scratch.names)")
  }
}
