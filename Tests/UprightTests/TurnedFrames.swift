import Foundation
import Orientation
import Testing
import UprightTestSupport

/// A clip's frames as a decoder gives them, and what became of them: which of the eight turns each
/// output frame is of the frame that it was made from.
enum TurnedFrames {
  /// A letter for each of the eight: U R D L, and in small the same behind a mirror.
  static let letters: [(letter: Character, orientation: ImageOrientation)] = [
    ("U", .up), ("R", .right), ("D", .down), ("L", .left), ("u", .upMirrored),
    ("r", .rightMirrored), ("d", .downMirrored), ("l", .leftMirrored),
  ]

  static func orientation(_ letter: Character) -> ImageOrientation? {
    letters.first { $0.letter == letter }?.orientation
  }

  /// The letter of each frame of `output`, `?` where it is no turn of its source, a square.
  static func read(_ output: Y4M, source: Y4M) throws -> String {
    try #require(source.width == source.height && output.width == source.width)
    try #require(output.height == source.height)
    return String(
      (0..<min(output.count, source.count)).map { frame in
        let wanted = planes(output, frame)
        let stored = planes(source, frame)
        return letters.first { letter in
          // Chroma is looked at where luma already agrees.
          zip(stored, wanted).allSatisfy { turned($0, letter.orientation) == $1 }
        }?.letter ?? "?"
      })
  }

  /// The frames as they are stored, whatever any signal says.
  static func stored(_ path: String, _ scratch: Scratch) throws -> Y4M {
    try decode(path, ["-noautorotate"], scratch)
  }

  /// The frames as the ffmpeg command shows them.
  static func byFFmpeg(_ path: String, _ scratch: Scratch) throws -> Y4M {
    try decode(path, [], scratch)
  }

  private static func decode(_ path: String, _ options: [String], _ scratch: Scratch) throws -> Y4M
  {
    let output = scratch.path("\(UUID().uuidString).y4m")
    try FFmpegTool.run(
      options + ["-i", path, "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", output])
    return try Y4M(path: output)
  }

  private static func planes(_ file: Y4M, _ frame: Int) -> [[UInt8]] {
    file.planes.indices.map { [UInt8](file.plane($0, frame: frame)) }
  }

  /// A square plane turned, sample by sample.
  private static func turned(_ plane: [UInt8], _ orientation: ImageOrientation) -> [UInt8] {
    let side = Int(Double(plane.count).squareRoot())
    var result = plane
    for y in 0..<side {
      for x in 0..<side {
        let column = orientation.isMirrored ? side - 1 - x : x
        let (toX, toY) =
          switch orientation.quarterTurns {
          case 1: (side - 1 - y, column)
          case 2: (side - 1 - column, side - 1 - y)
          case 3: (y, side - 1 - column)
          default: (column, y)
          }
        result[toY * side + toX] = plane[y * side + x]
      }
    }
    return result
  }
}
