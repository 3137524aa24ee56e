import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightSignals

/// What is read from the index of a movie, and from an image with a video. Costs 0.1 s.
@Suite("Files are inspected without their media") struct InspectionTests {
  private static func movie(
    _ samples: [[UInt8]], matrix: [Int32] = [0, 1, -1, 0], timed: [Int?] = []
  ) -> [UInt8] {
    let be = MovieWriter.be
    let configuration = MovieWriter.box("avcC", [1, 66, 0, 30, 0xFF, 0xE0, 0])
    var track = MovieWriter.Track(
      handler: "vide",
      entry: MovieWriter.box(
        "avc1", be(0, 6) + be(1, 2) + be(0, 16) + be(64, 2) + be(48, 2) + be(0, 50) + configuration),
      samples: samples.enumerated().map { index, bytes in .init(bytes, dts: index * 10) })
    (track.width, track.height, track.matrix) = (64, 48, matrix)
    var tracks = [track]
    if !timed.isEmpty {
      tracks.append(.orientation(timed.enumerated().map { (at: $0 * 10, exif: $1) }))
    }
    return MovieWriter(timescale: 100, lastDuration: 10, tracks: tracks).bytes
  }

  private static let slice: [UInt8] = [0, 0, 0, 2, 0x65, 0x88]
  private static let message: [UInt8] = [0, 0, 0, 7, 6, 0x2F, 3, 0x08, 0x00, 0x09, 0x80]

  @Test("A matrix alone is all there is")
  func matrix() throws {
    let found = try #require(try MovieInspection(Self.movie([Self.slice, Self.slice])))
    #expect(found.matrix?.orientation == .right && found.timed == nil)
    #expect(found.size == PixelSize(64, 48) && found.sampleAspectRatio == .one)
    #expect(found.codec == "h264" && !found.hasLocation)
    let plain = try #require(try MovieInspection(Self.movie([Self.slice], matrix: [1, 0, 0, 1])))
    #expect(plain.matrix == nil)
  }

  @Test(
    "Packets decide: a message in any sample, start codes, no samples, a timed value that changes")
  func undecided() throws {
    for samples in [
      [Self.slice, Self.message + Self.slice], [[0, 0, 0, 1, 0x65, 0x88]], [],
    ] { #expect(try MovieInspection(Self.movie(samples)) == nil, "\(samples)") }
    for timed in [[6, 8], [6, nil], [9]] {
      #expect(try MovieInspection(Self.movie([Self.slice], timed: timed)) == nil, "\(timed)")
    }
  }

  @Test("A timed track with one value")
  func timed() throws {
    let found = try MovieInspection(Self.movie([Self.slice], timed: [8, 8]))
    #expect(found?.timed == .left && found?.matrix?.orientation == .right)
  }

  @Test("A truncated movie is damaged or undecided, wherever it ends")
  func truncated() {
    let whole = Self.movie([Self.slice], timed: [8])
    for count in 0..<whole.count {
      // An index that ends early throws.
      if let found = try? MovieInspection(Array(whole.prefix(count))) {
        Issue.record("\(count) bytes: \(found)")
      }
    }
  }

  @Test("A motion photo whose video is turned otherwise", arguments: StillTagTests.motionPhotos)
  func motionPhoto(_ name: String, _ file: [UInt8]) throws {
    #expect(try ImageInspection(file, .jpeg).motion == .agrees, "\(name)")
    let start = try #require(file.firstRange(of: Array("ftypqt".utf8))).lowerBound - 4
    var other = file
    for edit in try MovieTag.patch(Array(file[start...]), .down).edits {
      other.replaceSubrange(
        start + edit.offset..<start + edit.offset + edit.old.count, with: edit.new)
    }
    #expect(try ImageInspection(other, .jpeg).motion == .disagrees, "\(name)")
    // Tagging mends it.
    let patch = try PatchedFormat.jpeg.patch(other, .right)
    for edit in patch.edits.reversed() {
      other.replaceSubrange(edit.offset..<edit.offset + edit.old.count, with: edit.new)
    }
    let mended = try ImageInspection(other, .jpeg)
    #expect(mended.motion == .agrees && mended.orientation == .right, "\(name)")
  }
}
