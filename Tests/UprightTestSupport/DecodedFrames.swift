import Foundation
import UprightOrientation

/// The decoded video output of a live session.
package struct DecodedFrames {
  /// The times of the frames, in seconds after the first.
  package let times: [Double]
  package let sizes: [PixelSize]
  /// The white quarter of each frame: `tl`, `tr`, `bl`, `br`, `all`, or `?` if it is none of these.
  package let corners: [String]

  /// An FFmpeg source: a landscape frame with a white top left quarter, at 30 frames per second.
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
      // Looks at one sample in each quarter, away from the edges of a letterboxed image.
      let bright = [(1, 1, "tl"), (6, 1, "tr"), (1, 6, "bl"), (6, 6, "br")].filter {
        bytes[frame + $0.1 * 8 + $0.0] > 128
      }
      return bright.count == 4 ? "all" : bright.count == 1 ? bright[0].2 : "?"
    }
  }

  /// The longest time between two consecutive frames, in seconds.
  package var longestStep: Double {
    zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .infinity
  }

  /// The shortest time between two consecutive frames, in seconds.
  package var shortestStep: Double {
    zip(times, times.dropFirst()).map { $1 - $0 }.min() ?? -.infinity
  }

  /// Returns the corners of the frames in a range of times. A live session drops frames on a busy machine:
  /// a frame's time stays the same then, its index doesn't.
  package func corners(_ range: Range<Double>) -> [String] {
    zip(times, corners).filter { range.contains($0.0 + 0.001) }.map(\.1)
  }
}
