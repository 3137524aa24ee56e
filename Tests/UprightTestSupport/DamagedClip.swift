import Foundation
import UprightOrientation

/// A copy of an MP4 file with changed bytes among its media, whose index is whole.
public enum DamagedClip {
  /// Changes 200 bytes behind the first 2000 of the media.
  public static func write(_ clip: String, seed: UInt64, to path: String) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: clip))
    let media = bytes.range(of: Data("mdat".utf8))?.upperBound ?? 0
    let index = bytes.range(of: Data("moov".utf8))?.lowerBound ?? 0
    let end = index > media ? index - 4 : bytes.count
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      bytes[Int.random(in: media + 2000..<end, using: &generator)] ^= 0x55
    }
    try bytes.write(to: URL(fileURLWithPath: path))
  }
}
