import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

/// Determines by which of the eight orientations each output frame was turned, compared with the frame as
/// decoded.
enum TurnedFrames {
  /// A letter for each of the eight orientations: U R D L, and lowercase for the mirrored ones.
  static let letters: [(letter: Character, orientation: ImageOrientation)] = [
    ("U", .up), ("R", .right), ("D", .down), ("L", .left), ("u", .upMirrored),
    ("r", .rightMirrored), ("d", .downMirrored), ("l", .leftMirrored),
  ]

  static func orientation(_ letter: Character) -> ImageOrientation? {
    letters.first { $0.letter == letter }?.orientation
  }

  /// Returns the letter of each frame of `output`, and `?` for a frame that is none of the eight turns of
  /// its source. Frames must be square.
  static func read(_ output: Y4M, source: Y4M) throws -> String {
    try #require(source.width == source.height && output.width == source.width)
    try #require(output.height == source.height)
    return String(
      (0..<min(output.count, source.count)).map { frame in
        let wanted = planes(output, frame)
        let stored = planes(source, frame)
        return letters.first { letter in
          // Chroma is compared only if luma is equal.
          zip(stored, wanted).allSatisfy { turned($0, letter.orientation) == $1 }
        }?.letter ?? "?"
      })
  }

  /// Returns the frames as stored, ignoring all signals.
  static func stored(_ path: String, _ scratch: Scratch) throws -> Y4M {
    try decode(path, ["-noautorotate"], scratch)
  }

  /// Returns the frames as shown by the ffmpeg command.
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

  /// Returns a square plane turned, sample by sample.
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
