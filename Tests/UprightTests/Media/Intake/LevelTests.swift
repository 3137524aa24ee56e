import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Signals whose angle is not a multiple of 90 degrees.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg")) struct LevelTests {
  /// Encodes 96x64 of grey with a disc right of the centre, and a matrix that turns it clockwise.
  private static func clip(_ scratch: Scratch, _ degrees: Double) throws -> String {
    let path = scratch.path("tilted-\(Int(degrees)).mp4")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "nullsrc=s=96x64:r=10:d=0.5", "-vf",
      "format=yuv444p,geq=lum=150:cb=128:cr='if(lte(hypot(X+0.5-80,Y+0.5-32),7),220,128)'",
      "-c:v", "libx264", "-qp", "0", path,
    ])
    try DisplayMatrixPatch.apply(clockwiseDegrees: degrees, to: path)
    return path
  }

  @Test(
    "--level rotates the frame around its centre by the signal's angle, keeping its size",
    arguments: [10.0, -25, 100, 170, 44, 200.5])
  func level(_ degrees: Double) throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, degrees)
    let run = try Transcoded(input, to: scratch.path("out.y4m")) {
      $0.levels = true
      $0.canvas = .landscape
    }
    let video = try Y4M(path: run.path)
    #expect(video.count == 5 && video.width == 96 && video.height == 64)
    #expect(run.result.warnings.isEmpty)
    let quarters = (degrees / 90).rounded()
    // A portrait frame in a landscape canvas is scaled by 64/96.
    let scale = Int(quarters).isMultiple(of: 2) ? 1 : 64.0 / 96
    let angle = degrees * .pi / 180
    let disc = (x: 48 + 32 * scale * cos(angle), y: 32 + 32 * scale * sin(angle))
    for frame in 0..<5 {
      let pixel = video.pixel(frame: frame, x: Int(disc.x), y: Int(disc.y))
      #expect(abs(pixel[2] - 220) < 8, "at \(disc): \(pixel)")
      let other = video.pixel(frame: frame, x: Int(96 - disc.x), y: Int(64 - disc.y))
      #expect(abs(other[2] - 128) < 4 && abs(other[0] - 150) < 3)
    }
    // Corners not covered by the frame show the background.
    let edge = (x: 48 + 52 * scale * cos(angle), y: 32 + 52 * scale * sin(angle))
    if edge.x > 1, edge.x < 95, edge.y > 1, edge.y < 63 {
      #expect(abs(video.pixel(frame: 0, x: Int(edge.x), y: Int(edge.y))[0] - 16) < 4)
    }
  }

  @Test("Without --level the nearest quarter turn is used, and a warning names the option")
  func nearest() throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, 10)
    let run = try Transcoded(input, to: scratch.path("out.y4m")) { $0.canvas = .landscape }
    let video = try Y4M(path: run.path)
    #expect(abs(video.pixel(frame: 0, x: 80, y: 32)[2] - 220) < 4)
    #expect(run.result.warnings.contains { $0.contains("--level") })
  }

  @Test("A signal with a multiple of 90 degrees is exact, with or without --level")
  func exact() throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, 90)
    let pictures = try [true, false].map { levels in
      let run = try Transcoded(input, to: scratch.path("out-\(levels).y4m")) { $0.levels = levels }
      return try Y4M(path: run.path)
    }
    #expect(pictures[0].difference(from: pictures[1]) == nil)
  }
}
