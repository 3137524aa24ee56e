import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightSignals

/// What the boxes of a track say of the shape of its frames.
@Suite struct MovieTrackShapeTests {
  private static func entry(_ boxes: [UInt8]) -> [UInt8] {
    let fields =
      MovieWriter.be(0, 24) + MovieWriter.be(160, 2) + MovieWriter.be(96, 2) + MovieWriter.be(0, 50)
    return MovieWriter.be(0, 4) + MovieWriter.be(1, 4) + MovieWriter.box("avc1", fields + boxes)
  }

  private static func header(_ width: Int, _ height: Int) -> [UInt8] {
    MovieWriter.be(7, 4) + MovieWriter.be(0, 8) + MovieWriter.be(5, 4) + MovieWriter.be(0, 60)
      + MovieWriter.be(width << 16, 4) + MovieWriter.be(height << 16, 4)
  }

  private static let spacing = MovieWriter.box(
    "pasp", MovieWriter.be(4, 4) + MovieWriter.be(3, 4))
  private static let aperture = MovieWriter.box(
    "clap", [120, 1, 80, 1, -8, 2, 0, 2].flatMap { MovieWriter.be($0, 4) })
  private static let modes = MovieWriter.box(
    "clef", MovieWriter.be(0, 4) + MovieWriter.be(320 << 16, 4) + MovieWriter.be(96 << 16, 4))

  @Test("pasp comes before clef, and clef before the track's size")
  func precedence() throws {
    func ratio(_ boxes: [UInt8], _ modes: [UInt8], _ width: Int) throws -> Rational? {
      let found = MovieTrackShape(
        header: Self.header(width, 96), apertures: modes, descriptions: Self.entry(boxes))
      let track = try #require(found)
      #expect(track.identifier == 5 && track.shape.declared == PixelSize(160, 96))
      return track.shape.sampleAspectRatio
    }
    #expect(try ratio(Self.spacing, Self.modes, 240) == Rational(4, 3))
    #expect(try ratio([], Self.modes, 240) == Rational(2, 1))
    #expect(try ratio([], [], 240) == Rational(3, 2))
    // The size of the samples, or nearly so, says nothing.
    #expect(try ratio([], [], 160) == nil)
    #expect(try ratio([], [], 161) == nil)
    #expect(try ratio([], [], 0) == nil)
  }

  @Test("A clean aperture is around its offset from the middle; one beyond the frame is ignored")
  func cropping() throws {
    func crop(_ boxes: [UInt8]) -> PixelRect? {
      MovieTrackShape(header: Self.header(160, 96), apertures: [], descriptions: Self.entry(boxes))?
        .shape.crop
    }
    #expect(crop(Self.aperture) == PixelRect(x: 16, y: 8, width: 120, height: 80))
    #expect(crop([]) == nil)
    for numbers in [
      [400, 1, 80, 1, 0, 1, 0, 1], [120, 0, 80, 1, 0, 1, 0, 1], [120, 1, 80, 1, 90, 1, 0, 1],
    ] {
      #expect(crop(MovieWriter.box("clap", numbers.flatMap { MovieWriter.be($0, 4) })) == nil)
    }
  }

  @Test("Truncated and random boxes are survived")
  func hostile() {
    let (header, entry) = (Self.header(240, 96), Self.entry(Self.aperture + Self.spacing))
    for count in 0...entry.count {
      let part = Array(entry.prefix(count))
      _ = MovieTrackShape(header: header, apertures: Self.modes, descriptions: part)
      _ = MovieTrackShape(
        header: Array(header.prefix(count)), apertures: Array(Self.modes.prefix(count)),
        descriptions: entry)
    }
    #expect(MovieTrackShape(header: header, apertures: [], descriptions: []) == nil)
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      var bytes = entry
      for _ in 0..<4 {
        bytes[Int.random(in: 8..<bytes.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      let shape = MovieTrackShape(header: header, apertures: Self.modes, descriptions: bytes)?.shape
      if let crop = shape?.crop, let size = shape?.declared {
        #expect(crop.x >= 0 && crop.y >= 0 && crop.size.hasArea)
        #expect(crop.x + crop.width <= size.width && crop.y + crop.height <= size.height)
      }
    }
  }
}
