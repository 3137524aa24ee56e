import Foundation
import UprightOrientation
import UprightSignals
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightMedia

/// The contents of each container, byte by byte, where the format changes.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized)
struct FormatSwitchTests {
  private static func make(
    _ name: String, _ clip: NumberedClip.Clip = .variable, codec: VideoCodec? = nil,
    in scratch: Scratch
  ) throws -> [UInt8] {
    let run = try Transcoded(clip.path(), to: scratch.path(name), events: Samples.turningEvents()) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(180, 320))
      $0.codec = codec
      if codec == nil { $0.encoderOptions = ["bf": "3", "b_strategy": "0"] }
    }
    #expect(run.result.output.frames == 300)
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: run.path)))
  }

  private static func number(_ bytes: some Collection<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  // MARK: - MP4, MOV

  /// Returns the payload of each box at the end of `path`.
  private static func payloads(_ bytes: [UInt8], _ path: MP4BoxType...) -> [Range<Int>] {
    var ranges = [bytes.indices]
    for type in path {
      ranges = ranges.flatMap { range in
        MP4Boxes(bytes, in: range).complete.filter { $0.type == type }.map(\.payload)
      }
    }
    return ranges
  }

  struct Movie: CustomTestStringConvertible, Sendable {
    let name: String
    var codec: VideoCodec?
    let entry: MP4BoxType
    let configuration: MP4BoxType
    var testDescription: String { "\(name), \(entry)" }
  }

  @Test(
    "MP4, MOV: one sample description per format, referenced by its samples", .long,
    arguments: [
      Movie(name: "out.mp4", entry: "avc1", configuration: "avcC"),
      Movie(name: "out.mov", entry: "avc1", configuration: "avcC"),
      Movie(name: "out.mp4", codec: .hevc, entry: "hvc1", configuration: "hvcC"),
      Movie(name: "out.mp4", codec: .av1, entry: "av01", configuration: "av1C"),
      Movie(name: "out.mp4", codec: .vp9, entry: "vp09", configuration: "vpcC"),
    ])
  func descriptions(_ movie: Movie) throws {
    let scratch = try Scratch()
    let bytes = try Self.make(movie.name, codec: movie.codec, in: scratch)
    // Fast start: `moov` precedes `mdat`.
    let top = MP4Boxes(bytes, in: bytes.indices).complete
    #expect(top.map(\.whole.count).reduce(0, +) == bytes.count)
    let index = try #require(top.firstIndex { $0.type == "moov" })
    #expect(try index < #require(top.firstIndex { $0.type == "mdat" }))

    let tables = try #require(
      Self.payloads(bytes, "moov", "trak", "mdia", "minf", "stbl").first)
    func table(_ type: MP4BoxType) throws -> [UInt8] {
      let box = try #require(MP4Boxes(bytes, in: tables).complete.first { $0.type == type })
      return Array(bytes[box.payload])
    }
    let stsd = try table("stsd")
    let entries = MP4Boxes(stsd, in: 8..<stsd.count).complete
    // Two descriptions: the third format equals the first.
    #expect(Self.number(stsd[4..<8]) == 2 && entries.count == 2)
    #expect(entries.map(\.type) == [movie.entry, movie.entry])
    let sizes = entries.map { entry in
      let fields = stsd[entry.payload].dropFirst(24)
      return PixelSize(Self.number(fields.prefix(2)), Self.number(fields.dropFirst(2).prefix(2)))
    }
    #expect(sizes == [PixelSize(180, 320), PixelSize(320, 180)])
    for entry in entries {
      let inside = MP4Boxes(stsd, in: entry.payload.dropFirst(78)).complete
      #expect(inside.contains { $0.type == movie.configuration })
    }

    let stsc = try table("stsc")
    let lines = (0..<Self.number(stsc[4..<8])).map { line in
      let fields = stsc.dropFirst(8 + 12 * line)
      return (0..<3).map { Self.number(fields.dropFirst(4 * $0).prefix(4)) }
    }
    let stco = try table("stco")
    let chunks = Self.number(stco[4..<8])
    #expect(stco.count == 8 + 4 * chunks)
    var described: [Int] = []
    for chunk in 1...chunks {
      let line = try #require(lines.last { $0[0] <= chunk })
      described += Array(repeating: line[2], count: line[1])
    }
    #expect(described == (0..<300).map { $0 / 100 == 1 ? 2 : 1 })
    // The track's size is that of the first format, as 16.16.
    let tkhd = try #require(Self.payloads(bytes, "moov", "trak", "tkhd").first)
    #expect(Self.number(bytes[tkhd].suffix(8).prefix(4)) >> 16 == 180)
    #expect(Self.number(bytes[tkhd].suffix(4)) >> 16 == 320)
  }

  @Test("With one format, libavformat's single sample description is unchanged")
  func oneDescription() throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.displayMatrix, to: scratch.path("out.mp4")) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: run.path)))
    let stsd = try #require(
      Self.payloads(bytes, "moov", "trak", "mdia", "minf", "stbl", "stsd").first)
    #expect(Self.number(bytes[stsd].prefix(8)) == 1)
  }

  /// Returns a file with an index of one video track, then the media: samples of `sizes` bytes in chunks of
  /// `chunk`.
  private static func movie(
    sizes: [Int], chunk: Int, wide: Bool, start: Int? = nil
  ) -> (file: [UInt8], media: [UInt8]) {
    let media = sizes.enumerated().flatMap { Array(repeating: UInt8($0), count: $1) }
    func words(_ numbers: [Int], _ width: Int = 4) -> [UInt8] {
      numbers.flatMap { [UInt8].big($0, bytes: width) }
    }
    func file(_ start: Int) -> [UInt8] {
      var offsets: [Int] = []
      for first in stride(from: 0, to: sizes.count, by: chunk) {
        offsets.append(start + sizes[..<first].reduce(0, +))
      }
      let last = sizes.count % chunk
      let runs = [1, chunk, 1] + (last == 0 ? [] : [offsets.count, last, 1])
      let stbl =
        MP4Box.bytes(
          "stsd", words([0, 1]) + MP4Box.bytes("avc1", Array(repeating: 1, count: 20)))
        + MP4Box.bytes("stsc", words([0, runs.count / 3] + runs))
        + MP4Box.bytes("stsz", words([0, 0, sizes.count] + sizes))
        + MP4Box.bytes(
          wide ? "co64" : "stco", words([0, offsets.count]) + words(offsets, wide ? 8 : 4))
      func track(_ tables: [UInt8]) -> [UInt8] {
        MP4Box.bytes(
          "trak",
          MP4Box.bytes("mdia", MP4Box.bytes("minf", MP4Box.bytes("stbl", tables))))
      }
      // A second track, whose only chunk is all of the media.
      let audio =
        MP4Box.bytes("stsc", words([0, 1, 1, 1, 1]))
        + MP4Box.bytes("stco", words([0, 1, start % 0x1_0000_0000]))
      return MP4Box.bytes("ftyp", [1, 2, 3, 4])
        + MP4Box.bytes("moov", MP4Box.bytes("mvhd", [9]) + track(stbl) + track(audio))
    }
    let head = file(0).count + 8
    return (file(start ?? head) + MP4Box.bytes("mdat", media), media)
  }

  @Test(
    "Chunks are split where a format begins, and 32-bit and 64-bit offsets are updated",
    arguments: [1, 3, 7, 100], [false, true])
  func offsets(_ chunk: Int, _ wide: Bool) throws {
    let scratch = try Scratch()
    let sizes = (0..<40).map { 1 + $0 * 7 % 13 }
    let (file, media) = Self.movie(sizes: sizes, chunk: chunk, wide: wide)
    let path = scratch.path("x.mp4")
    try Data(file).write(to: URL(fileURLWithPath: path))
    let second = MP4Box.bytes("avc1", Array(repeating: 2, count: 30))
    let descriptions = SampleDescriptions(
      entries: [[], second],
      runs: [
        .init(firstSample: 1, description: 2), .init(firstSample: 17, description: 1),
        .init(firstSample: 18, description: 2), .init(firstSample: 39, description: 1),
      ], location: path)
    try descriptions.write(toFileAt: path)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let top = MP4Boxes(bytes, in: bytes.indices).complete
    #expect(top.map(\.type) == ["ftyp", "moov", "mdat"])
    #expect(top.map(\.whole.count).reduce(0, +) == bytes.count)
    let data = try #require(top.last).payload
    #expect(Array(bytes[data]) == media)

    let tables = MP4Boxes(
      bytes,
      in: try #require(Self.payloads(bytes, "moov", "trak", "mdia", "minf", "stbl").first)
    ).complete
    func words(_ type: MP4BoxType, _ width: Int = 4) throws -> [Int] {
      let box = try #require(tables.first { $0.type == type })
      return bytes.numbers(in: box.entries, width: width)
    }
    let runs = try words("stsc")
    let offsets = try words(wide ? "co64" : "stco", wide ? 8 : 4)
    var sample = 0
    for (index, offset) in offsets.enumerated() {
      let line = try #require(
        Array(stride(from: 0, to: runs.count, by: 3)).last { runs[$0] <= index + 1 })
      var place = offset
      for _ in 0..<runs[line + 1] {
        try #require(sample < sizes.count)
        // Each byte of a sample is the sample's index.
        #expect(bytes[place..<place + sizes[sample]].allSatisfy { $0 == UInt8(sample) })
        let expected = [1..<17, 18..<39].contains { $0.contains(sample) } ? 2 : 1
        #expect(runs[line + 2] == expected, "sample \(sample)")
        place += sizes[sample]
        sample += 1
      }
    }
    #expect(sample == sizes.count)
    // The other track's offset is updated too.
    let other = try #require(
      Self.payloads(bytes, "moov", "trak", "mdia", "minf", "stbl", "stco").last)
    #expect(bytes.numbers(in: other.dropFirst(8), width: 4).first == data.lowerBound)
  }

  @Test("The file is unchanged if offsets would exceed 32 bits")
  func tooFar() throws {
    let scratch = try Scratch()
    let (file, _) = Self.movie(sizes: [4, 4], chunk: 1, wide: false, start: 0xFFFF_FFF0)
    let path = scratch.path("x.mp4")
    try Data(file).write(to: URL(fileURLWithPath: path))
    let descriptions = SampleDescriptions(
      entries: [[], MP4Box.bytes("avc1", [])], runs: [.init(firstSample: 1, description: 2)],
      location: path)
    try descriptions.write(toFileAt: path)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(file))
  }

  // MARK: - FLV

  /// One tag of an FLV file (Adobe's specification, E.4.1).
  private struct Tag {
    let type: Int
    let time: Int
    let body: ArraySlice<UInt8>

    static func all(in bytes: [UInt8]) throws -> [Tag] {
      try #require(bytes.starts(with: Array("FLV".utf8)))
      var tags: [Tag] = []
      var place = 13
      while place + 11 <= bytes.count {
        let size = FormatSwitchTests.number(bytes[(place + 1)...].prefix(3))
        try #require(place + 15 + size <= bytes.count)
        tags.append(
          Tag(
            type: Int(bytes[place]),
            time: FormatSwitchTests.number(bytes[(place + 4)...].prefix(3)) | Int(bytes[place + 7])
              << 24,
            body: bytes[place + 11..<place + 11 + size]))
        #expect(FormatSwitchTests.number(bytes[(place + 11 + size)...].prefix(4)) == size + 11)
        place += size + 15
      }
      #expect(place == bytes.count)
      return tags
    }

    /// Returns the number named `name` in onMetaData (AMF): the name with its length, 0, a double.
    func number(of name: String) -> Double? {
      let key = [0, UInt8(name.utf8.count)] + Array(name.utf8) + [0]
      let bytes = Array(body)
      for start in bytes.indices.dropLast(key.count + 7)
      where Array(bytes[start..<start + key.count]) == key {
        let bits = bytes[(start + key.count)...].prefix(8).reduce(UInt64(0)) {
          $0 << 8 | UInt64($1)
        }
        return Double(bitPattern: bits)
      }
      return nil
    }
  }

  @Test(
    "FLV: a sequence header, in-band parameter sets and a new onMetaData at each change", .long,
    arguments: [NumberedClip.Clip.constant, .variable])
  func flashVideo(_ clip: NumberedClip.Clip) throws {
    let scratch = try Scratch()
    let tags = try Tag.all(in: Self.make("out.flv", clip, in: scratch))
    // Except the last tag: libavformat's end of sequence, which has the last frame's time.
    let times = tags.dropLast().map(\.time)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    var width = 0.0
    var sizes: [Double] = []
    var header: [UInt8] = []
    var headers: [[UInt8]] = []
    var pictures = 0
    for tag in tags {
      if tag.type == 18 {
        width = tag.number(of: "width") ?? 0
        sizes += [width, tag.number(of: "height") ?? 0]
      }
      guard tag.type == 9, tag.body.count > 5 else { continue }
      let body = Array(tag.body)
      #expect(body[0] & 0x0F == 7)
      switch body[1] {
      case 0:
        header = Array(body[5...])
        headers.append(header)
      case 1:
        defer { pictures += 1 }
        guard [0, 100, 200].contains(pictures) else { continue }
        // Before the frame come its onMetaData and its sequence header.
        #expect(body[0] >> 4 == 1, "frame \(pictures) is not a keyframe")
        #expect(width == (pictures == 100 ? 320 : 180), "at frame \(pictures)")
        #expect(headers.count == pictures / 100 + 1)
        // avcC: five bytes, the number of parameter sets, a length, the SPS.
        let set = Array(header[8...].prefix(Self.number(header[6..<8])))
        #expect(set.first.map { $0 & 0x1F } == 7)
        #expect(
          Self.units(Array(body[5...])).contains { $0 == set }, "no in-band SPS at \(pictures)")
      default: break
      }
    }
    #expect(pictures == 300)
    #expect(sizes == [180, 320, 320, 180, 180, 320])
    #expect(headers.count == 3 && headers[0] == headers[2] && headers[0] != headers[1])
  }

  /// Returns the NAL units, each preceded by a four-byte length.
  private static func units(_ bytes: [UInt8]) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var place = 0
    while place + 4 <= bytes.count {
      let size = number(bytes[place...].prefix(4))
      guard size > 0, place + 4 + size <= bytes.count else { break }
      units.append(Array(bytes[place + 4..<place + 4 + size]))
      place += 4 + size
    }
    return units
  }

  // MARK: - MPEG-TS

  @Test(
    "MPEG-TS: each IDR has its format's parameter sets, and never older ones", .long,
    arguments: [VideoCodec.h264, .hevc])
  func transportStream(_ codec: VideoCodec) throws {
    let scratch = try Scratch()
    _ = try Self.make("out.ts", codec: codec, in: scratch)
    let raw = [UInt8](
      try FFmpegTool.run([
        "-i", scratch.path("out.ts"), "-map", "0:v", "-c", "copy", "-f", codec.rawValue, "-",
      ]))
    // Annex B: NAL units between start codes. Zeros before a start code are padding.
    var starts: [Int] = []
    for index in raw.indices.dropLast(3)
    where raw[index] == 0 && raw[index + 1] == 0 && raw[index + 2] == 1 {
      starts.append(index + 3)
    }
    var pictures = 0
    var sets: [(before: Int, bytes: [UInt8])] = []
    for (index, start) in starts.enumerated() {
      var end = index + 1 < starts.count ? starts[index + 1] - 3 : raw.count
      while end > start, raw[end - 1] == 0 { end -= 1 }
      guard end > start + 2 else { continue }
      let type = codec == .h264 ? Int(raw[start] & 0x1F) : Int(raw[start] >> 1 & 0x3F)
      let isSet = codec == .h264 ? type == 7 : type == 33
      let isSlice = codec == .h264 ? type == 1 || type == 5 : type < 32
      // The first slice of a frame: first_mb_in_slice is 0, first_slice_segment_in_pic_flag is 1.
      let first = raw[start + (codec == .h264 ? 1 : 2)] & 0x80 != 0
      if isSet { sets.append((pictures, Array(raw[start..<end]))) }
      if isSlice, first { pictures += 1 }
    }
    #expect(pictures == 300)
    let different = sets.enumerated().filter { $0 == 0 || sets[$0 - 1].bytes != $1.bytes }
    #expect(different.map(\.element.before) == [0, 100, 200])
    #expect(sets.first?.bytes == sets.last?.bytes)
  }
}
