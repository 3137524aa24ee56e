import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightSignals

@Suite("The orientation of a movie, changed in its bytes")
struct MovieTagTests {
  private static func be(_ value: Int, _ size: Int) -> [UInt8] { MovieWriter.be(value, size) }

  /// A sample entry with these boxes after its 78 bytes.
  private static func entry(_ type: String, _ boxes: [UInt8] = []) -> [UInt8] {
    MovieWriter.box(
      type, be(0, 6) + be(1, 2) + be(0, 16) + be(64, 2) + be(48, 2) + be(0, 50) + boxes)
  }

  private static let avcC = MovieWriter.box("avcC", [1, 66, 0, 30, 0xFF, 0xE0, 0])
  private static let hvcC = MovieWriter.box(
    "hvcC", [1] + [UInt8](repeating: 0, count: 20) + [3, 0])

  private static func track(
    _ entry: [UInt8] = Self.entry("avc1", avcC), _ samples: [[UInt8]] = [[0, 0, 0, 1, 0x65]],
    matrix: [Int32] = [1, 0, 0, 1]
  ) -> MovieWriter.Track {
    var track = MovieWriter.Track(
      handler: "vide", entry: entry,
      samples: samples.enumerated().map { .init($1, dts: $0 * 10) })
    (track.width, track.height, track.matrix) = (64, 48, matrix)
    return track
  }

  private static func movie(_ tracks: MovieWriter.Track...) -> [UInt8] {
    MovieWriter(timescale: 100, lastDuration: 10, tracks: tracks).bytes
  }

  /// Returns the patched file, after checks that the edits tell what was there and don't overlap.
  private static func apply(_ edits: [ByteEdit], to file: [UInt8]) throws -> [UInt8] {
    var (result, position) = ([UInt8](), 0)
    for edit in edits {
      try #require(edit.offset >= position && edit.offset + edit.old.count <= file.count)
      #expect(Array(file[edit.offset..<edit.offset + edit.old.count]) == edit.old)
      result += file[position..<edit.offset] + edit.new
      position = edit.offset + edit.old.count
    }
    return result + file[position...]
  }

  private static func tagged(
    _ file: [UInt8], _ orientation: ImageOrientation, force: Bool = false
  ) throws -> [UInt8] {
    let patch = try MovieTag.patch(file, orientation, isForced: force)
    return try apply(patch.edits, to: file)
  }

  private static func matrices(_ file: [UInt8]) throws -> [DisplayMatrix] {
    let movie = try TaggedMovie(file)
    return MP4Boxes(movie.movie, in: movie.movie.indices).compactMap {
      $0.type == "trak" ? TaggedTrack(movie.movie, $0.payload)?.matrix : nil
    }
  }

  // MARK: - Matrices

  @Test(
    "Each orientation over each earlier matrix: 36 bytes at most, and the shown rectangle at 0,0",
    arguments: [
      [1, 0, 0, 1], [0, 1, -1, 0], [-1, 0, 0, 1], [2, 0, 0, 1], [0, 3, -1, 0], [0, 0, 0, 0],
    ] as [[Int32]])
  func matrix(_ old: [Int32]) throws {
    let file = Self.movie(Self.track(matrix: old))
    for orientation in ImageOrientation.allCases {
      let tagged = try Self.tagged(file, orientation)
      let differences = zip(file, tagged).count { $0 != $1 }
      #expect(tagged.count == file.count && differences <= 36)
      let matrix = try #require(try Self.matrices(tagged).first)
      #expect(matrix.orientation == orientation)
      // The scale of the old matrix along the stored axes.
      let isScaled = old.contains { abs($0) > 1 }
      #expect(matrix.sampleAspectRatio == Rational(isScaled ? Int(old.map(abs).max() ?? 1) : 1, 1))
      let corners = [(0, 0), (64, 0), (0, 48), (64, 48)].map { x, y in
        (
          (Int(matrix.a) * x + Int(matrix.c) * y + Int(matrix.x)) >> 16,
          (Int(matrix.b) * x + Int(matrix.d) * y + Int(matrix.y)) >> 16
        )
      }
      #expect(corners.map(\.0).min() == 0 && corners.map(\.1).min() == 0, "\(matrix)")
      // Once more changes nothing.
      #expect(try MovieTag.patch(tagged, orientation).edits.isEmpty)
    }
  }

  @Test("Alternates are turned with a track; pictures of chapters and disabled tracks aren't")
  func shown() throws {
    var chapters = Self.track(Self.entry("jpeg"))
    chapters.matrix = [1, 0, 0, 1]
    var file = Self.movie(Self.track(), Self.track(), Self.track(), chapters)
    let headers = file.indices.dropLast(4).filter { file[$0..<$0 + 4].elementsEqual("tkhd".utf8) }
    func set(track: Int, isEnabled: Bool, group: Int) {
      file[headers[track] + 7] = isEnabled ? 7 : 6
      file[headers[track] + 4 + 35] = UInt8(group)
    }
    set(track: 0, isEnabled: true, group: 5)
    set(track: 1, isEnabled: false, group: 5)
    set(track: 2, isEnabled: false, group: 0)
    set(track: 3, isEnabled: false, group: 0)
    let turned = try Self.matrices(Self.tagged(file, .right)).map(\.orientation)
    #expect(turned == [.right, .right, .up, .up])
  }

  @Test("A turn of the whole movie is removed")
  func movieHeader() throws {
    var file = Self.movie(Self.track())
    let header = try #require(
      file.indices.dropLast(4).first { file[$0..<$0 + 4].elementsEqual("mvhd".utf8) })
    let half = DisplayMatrix(.down).values.flatMap { Self.be(Int($0), 4) }
    file.replaceSubrange(header + 40..<header + 76, with: half)
    let tagged = try Self.tagged(file, .left)
    #expect(
      Array(tagged[header + 40..<header + 76])
        == DisplayMatrix.identity.values.flatMap { Self.be(Int($0), 4) })
  }

  // MARK: - Stereoscopic and spherical video

  static let descriptions: [(String, [UInt8], Bool)] = {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] { MovieWriter.box(type, content) }
    return [
      ("sv3d", box("sv3d", box("svhd", [0, 0, 0, 0])), true),
      ("side by side", box("st3d", [0, 0, 0, 0, 2]), true),
      ("monoscopic", box("st3d", [0, 0, 0, 0, 0]), false),
      ("two eyes", box("vexu", box("eyes", box("stri", [0, 0, 0, 0, 3]))), true),
      ("one eye", box("vexu", box("eyes", box("stri", [0, 0, 0, 0, 1]))), false),
      (
        "half a sphere", box("vexu", box("proj", box("prji", [0, 0, 0, 0] + Array("hequ".utf8)))),
        true
      ),
      (
        "rectilinear", box("vexu", box("proj", box("prji", [0, 0, 0, 0] + Array("rect".utf8)))),
        false
      ),
      ("omnidirectional", box("rinf", box("schi", box("povd", []))), true),
      ("clean aperture", box("clap", be(0, 32)), false),
    ]
  }()

  @Test("Descriptions that a turn makes wrong are refused, unless forced", arguments: descriptions)
  func spatial(_ name: String, _ box: [UInt8], _ isRefused: Bool) throws {
    let file = Self.movie(Self.track(Self.entry("hvc1", Self.hvcC + box), []))
    _ = try Self.tagged(file, .up)
    if isRefused {
      let error = try #require(throws: UprightError.self) { try Self.tagged(file, .right) }
      #expect(error.code == .badData && error.remedy.contains("--force"))
    } else {
      _ = try Self.tagged(file, .right)
    }
    let forced = try Self.tagged(file, .right, force: true)
    #expect(try Self.matrices(forced).first?.orientation == .right)
    // What is so already doesn't become wrong.
    #expect(try Self.tagged(forced, .right) == forced)
  }

  // MARK: - Signals in samples

  /// SEI units, the first of which says an orientation between two other messages.
  private static func unit(
    _ codec: DisplayOrientationTracker.Codec, _ message: DisplayOrientationMessage,
    around other: [UInt8]
  ) -> [UInt8] {
    let payload = message.payload(for: codec)
    let messages = other + [47, UInt8(payload.count)] + payload + other + [0x80]
    let header: [UInt8] = codec == .h264 ? [6] : [39 << 1, 1]
    return header + EmulationPrevention.escaped(messages)
  }

  @Test(
    "Display orientation messages become filler of the same length",
    arguments: DisplayOrientationTracker.Codec.allCases)
  func messages(_ codec: DisplayOrientationTracker.Codec) throws {
    // Payloads that begin or end with zeros, so that emulation prevention changes at both ends.
    let others: [[UInt8]] = [[], [5, 2, 0, 0], [5, 3, 0, 0, 1], [100, 4, 0, 0, 0, 0]]
    for orientation in ImageOrientation.allCases {
      for period: UInt16 in [0, 1, 2, 1000, 16384] {
        for other in others {
          let message = DisplayOrientationMessage.set(
            SEIDisplayOrientation(orientation), repetitionPeriod: period)
          let unit = Self.unit(codec, message, around: other)
          let slice = codec == .h264 ? [0x65, 0x88, 0x84] : [19 << 1, 1, 0x88]
          let sample =
            Self.be(unit.count, 4) + unit + Self.be(slice.count, 4) + slice.map(UInt8.init)
          let box = codec == .h264 ? Self.avcC : Self.hvcC
          // The message stands before or after the slice.
          let after =
            Self.be(slice.count, 4) + slice.map(UInt8.init) + Self.be(unit.count, 4) + unit
          let file = Self.movie(
            Self.track(Self.entry(codec == .h264 ? "avc1" : "hvc1", box), [sample, after]))
          let tagged = try Self.tagged(file, .left)
          #expect(tagged.count == file.count)
          let start = 20 + 8
          for place in [start + 4, start + sample.count + 4 + slice.count + 4] {
            let new = Array(tagged[place..<place + unit.count])
            #expect(DisplayOrientationMessage.messages(inNAL: new, codec: codec).isEmpty)
            let rbsp = EmulationPrevention.unescaped(new.span, codec.headerLength..<new.count)
            let kept = SEIMessages.ranges(in: rbsp).filter { $0.type != 3 }.map {
              Array(rbsp[$0.range])
            }
            #expect(kept == (other.isEmpty ? [] : [other, other]), "\(new), from \(unit)")
          }
          #expect(Array(tagged[..<start]) == Array(file[..<start]))
        }
      }
    }
  }

  @Test("A timed track says the same orientation in all samples")
  func timed() throws {
    var timed = MovieWriter.Track.orientation([(0, 1), (10, 6), (20, nil), (30, 8)])
    timed.describes = [1]
    let file = Self.movie(Self.track(), timed)
    let tagged = try Self.tagged(file, .down)
    let index = try TaggedMovie(tagged)
    let track = try #require(TimedOrientationTrack.tracks(inMovie: index.movie).first)
    let own = try #require(
      MP4Boxes(index.movie, in: index.movie.indices).compactMap {
        $0.type == "trak" ? TaggedTrack(index.movie, $0.payload) : nil
      }.last)
    var values: [TimedOrientationTrack.Value] = []
    try MovieSamples(index, own, in: tagged).forEach { (sample) throws(UprightError) in
      values.append(track.value(of: Array(tagged[sample])))
    }
    #expect(values == [.orientation(.down), .orientation(.down), .absent, .orientation(.down)])
    #expect(try Self.matrices(tagged).first?.orientation == .down)
  }

  // MARK: - Damage

  @Test("A truncated file is reported; without its index or a video it is refused")
  func damage() throws {
    let file = Self.movie(Self.track())
    let media =
      try #require(
        file.indices.dropLast(4).first { file[$0..<$0 + 4].elementsEqual("moov".utf8) }) - 4
    // The index first.
    let start = 20
    let fast = file[..<start] + file[media...] + file[start..<media]
    #expect(try MovieTag.patch(Array(fast), .right).damage.isEmpty)
    #expect(try MovieTag.patch(Array(fast.dropLast()), .right).damage.count == 1)
    for cut in [file.dropLast(), file[..<media], file[..<(media + 8)]] {
      #expect(throws: UprightError.self) { try MovieTag.patch(Array(cut), .right) }
    }
    let sound = MovieWriter.Track(handler: "soun", entry: Self.entry("sowt"), samples: [])
    #expect(throws: UprightError.self) { try MovieTag.patch(Self.movie(sound), .right) }
    // What follows the last box is no damage.
    #expect(try MovieTag.patch(file + [0, 0, 0], .right).damage.isEmpty)
  }

  @Test("Any damage: an error or a result, never a crash", arguments: 0..<8)
  func hostile(_ part: Int) throws {
    var random = SeededGenerator()
    let message = DisplayOrientationMessage(standing: .left)
    let unit = Self.unit(.h264, message, around: [])
    var timed = MovieWriter.Track.orientation([(0, 6)])
    timed.describes = [1]
    let sound = Self.movie(
      Self.track(Self.entry("avc1", Self.avcC), [Self.be(unit.count, 4) + unit]), timed)
    for _ in 0..<500 {
      var file = sound
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: file.indices, using: &random)
        file[place] =
          [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
          .randomElement(using: &random) ?? 0
      }
      guard let patch = try? MovieTag.patch(file, .right) else { continue }
      _ = try Self.apply(patch.edits, to: file)
    }
  }
}
