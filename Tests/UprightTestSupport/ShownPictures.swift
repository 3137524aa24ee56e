import Foundation
import Orientation

/// What came out of a live session, decoded.
package struct ShownPictures {
  /// Seconds from the first frame on.
  package let times: [Double]
  package let sizes: [PixelSize]
  /// Where the white quarter lies: `tl`, `tr`, `bl`, `br`, `all`, or `?`.
  package let corners: [String]

  /// The white quarter of a landscape picture, 30 a second.
  package static let source =
    "color=black:s=160x90:r=30,drawbox=x=0:y=0:w=80:h=45:color=white:t=fill,format=yuv420p"

  package init(_ path: String, _ scratch: Scratch) throws {
    let frames = try FFmpegTool.frames(path)
    let start = frames.first?.time ?? 0
    times = frames.map { ($0.time ?? -1) - start }
    sizes = frames.map { PixelSize($0.width, $0.height) }
    let file = scratch.path("\(UUID().uuidString).gray")
    try FFmpegTool.run(
      ["-i", path, "-fps_mode", "passthrough", "-vf", "scale=8:8:flags=area,format=gray"]
        + ["-f", "rawvideo", file])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    corners = stride(from: 0, to: bytes.count - 63, by: 64).map { frame in
      // A sample in each quarter, away from the edges of a letterboxed picture.
      let bright = [(1, 1, "tl"), (6, 1, "tr"), (1, 6, "bl"), (6, 6, "br")].filter {
        bytes[frame + $0.1 * 8 + $0.0] > 128
      }
      return bright.count == 4 ? "all" : bright.count == 1 ? bright[0].2 : "?"
    }
  }

  /// The longest step between two frames.
  package var longestStep: Double {
    zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
  }

  /// The shortest.
  package var shortestStep: Double {
    zip(times, times.dropFirst()).map { $1 - $0 }.min() ?? -.infinity
  }

  /// The corners of the pictures at these times. On a busy machine a live session leaves pictures out: their
  /// times stand, their numbers do not.
  package func corners(_ range: Range<Double>) -> [String] {
    zip(times, corners).filter { range.contains($0.0 + 0.001) }.map(\.1)
  }
}
