import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightMediaIO
@testable import UprightMedia

/// Compares the fused pass with libswscale followed by an exact turn. Both must give the same frame.
@Suite struct FusedPassTests {
  /// Calls `body` with the plane, the position and the address of every sample.
  private static func forEachSample(
    _ frame: borrowing VideoFrame, _ body: (Int, Int, Int, UnsafeMutablePointer<UInt8>) -> Void
  ) throws {
    guard let view = FrameView(frame), let planes = view.planes else {
      throw UprightError(.fault, "no planes")
    }
    let bytes = frame.format.bitDepth > 8 ? 2 : 1
    for (index, plane) in planes.layout.planes.enumerated() {
      let size = planes.layout.size(of: plane, in: planes.size)
      for y in 0..<size.height {
        for x in 0..<size.width * plane.elementSize / bytes {
          body(index, x, y, view.starts[index] + y * view.strides[index] + x * bytes)
        }
      }
    }
  }

  private static func picture(_ format: PixelFormat, _ size: PixelSize) throws -> VideoFrame {
    let frame = try FramePool(size: size, format: format).frame()
    let shift = format.layout?.components.first?.shift ?? 0
    try forEachSample(frame) { index, x, y, at in
      let wave = 110 + 60 * sin(Double(x + 9 * index) / 7) + 40 * cos(Double(y) / 5)
      let value = Int(wave * Double((1 << format.bitDepth) - 1) / 255) << shift
      at[0] = UInt8(truncatingIfNeeded: value)
      if format.bitDepth > 8 { at[1] = UInt8(truncatingIfNeeded: value >> 8) }
    }
    return frame
  }

  private static func samples(_ frame: borrowing VideoFrame) throws -> [Int] {
    let isWide = frame.format.bitDepth > 8
    let shift = frame.format.layout?.components.first?.shift ?? 0
    var samples: [Int] = []
    try forEachSample(frame) { _, _, _, at in
      samples.append((isWide ? Int(at[0]) | Int(at[1]) << 8 : Int(at[0])) >> shift)
    }
    return samples
  }

  @Test(arguments: ["yuv420p", "nv12", "yuv420p10le", "p010le", "yuv444p", "rgba"])
  func sameAsSwscale(_ name: String) throws {
    let format = try #require(PixelFormat(name: name))
    let size = PixelSize(96, 54)
    for (orientation, canvas) in [
      (ImageOrientation.right, PixelSize(36, 64)), (.left, PixelSize(36, 64)),
      (.down, PixelSize(64, 36)), (.leftMirrored, PixelSize(108, 192)), (.up, PixelSize(64, 36)),
    ] {
      func oriented(_ scaler: ScalerChoice) throws -> [Int] {
        let orienter = FrameOrienter(format: format, layout: .init(scaler: scaler))
        let placement = orienter.placement(
          of: size, sampleAspectRatio: .one, turn: orientation, canvas: canvas)
        let source = try Self.picture(format, size)
        return try Self.samples(orienter.orient(source, by: placement))
      }
      let (one, other) = (try oriented(.fused), try oriented(.swscale))
      #expect(one.count == other.count)
      let sum = zip(one, other).reduce(0.0) { $0 + pow(Double($1.0 - $1.1), 2) }
      let top = Double((1 << format.bitDepth) - 1)
      let ratio = 10 * log10(top * top / max(1e-9, sum / Double(one.count)))
      #expect(ratio > 45, "\(name) \(orientation.name) \(canvas): \(ratio) dB")
    }
  }
}
