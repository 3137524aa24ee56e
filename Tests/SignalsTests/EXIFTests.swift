import Foundation
import UprightOrientation
import UprightSignals
import Testing
import UprightTestSupport

@Suite("EXIF in JPEG images")
struct EXIFTests {
  private static let folder = "clips/exif-jpeg"

  @Test(
    "is read from real photos, and never wrongly from a truncated one",
    .clips("exif-jpeg"),
    arguments: [
      ("Landscape_1", ImageOrientation.up), ("Landscape_6", .right), ("Portrait_3", .down),
    ])
  func photos(name: String, expected: ImageOrientation) throws {
    let photo = [UInt8](try Data(contentsOf: SharedFiles.url("\(Self.folder)/\(name).jpg")))
    #expect(EXIFOrientation.orientation(inJPEG: photo) == expected)
    for count in 0..<600 {
      let found = EXIFOrientation.orientation(inJPEG: photo.prefix(count))
      #expect(found == nil || found == expected, "\(count) bytes")
    }
  }

  private static func picture(_ tiff: [UInt8]) -> [UInt8] {
    let content = Array("Exif".utf8) + [0, 0] + tiff
    let length = content.count + 2
    // After a JFIF header, before a scan.
    return [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1]
      + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + content
      + [0xFF, 0xDA, 0, 2]
  }

  @Test("every value in both byte orders", arguments: 0...9) func values(value: UInt8) {
    let big: [UInt8] =
      Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0]
    let little: [UInt8] =
      Array("II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, value, 0, 0, 0]
    for tiff in [big, little] {
      let found = EXIFOrientation.orientation(inJPEG: Self.picture(tiff))
      #expect(found == ImageOrientation(exif: Int(value)))
    }
  }

  @Test("hostile offsets, lengths and noise") func noise() {
    var random = SeededGenerator()
    print("EXIFTests.noise: UPRIGHT_SEED=\(random.seed)")
    #expect(EXIFOrientation.orientation(inJPEG: [UInt8](repeating: 0xFF, count: 4096)) == nil)
    let far: [UInt8] = Array("MM".utf8) + [0, 42, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(EXIFOrientation.orientation(inJPEG: Self.picture(far)) == nil)
    for _ in 0..<2000 {
      let tiff = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
      let start = Array((Bool.random(using: &random) ? "II" : "MM").utf8)
      _ = EXIFOrientation.orientation(inJPEG: Self.picture(start + tiff))
    }
  }
}
