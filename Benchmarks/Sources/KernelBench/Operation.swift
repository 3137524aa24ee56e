import CLibyuv
import Foundation
import UprightOrientation
import UprightKernels

/// A measured operation, and how each side performs it.
struct Operation {
  let name: String
  let layout: Layout
  let orientation: ImageOrientation

  static let all = [
    Operation(name: "rotate 90", layout: .i420, orientation: .right),
    Operation(name: "rotate 270", layout: .i420, orientation: .left),
    Operation(name: "rotate 180", layout: .i420, orientation: .down),
    Operation(name: "mirror", layout: .i420, orientation: .upMirrored),
    Operation(name: "rotate 90", layout: .nv12, orientation: .right),
    Operation(name: "rotate 270", layout: .nv12, orientation: .left),
  ]

  var transposes: Bool { orientation.rawValue >= 5 }

  func upright(_ source: Frame, _ destination: Frame, _ kernels: PixelKernels) {
    for (i, shape) in source.shapes.enumerated() {
      let to = destination.shapes[i]
      do {
        try kernels.turn(
          PlaneView(
            source.planes[i], stride: source.strides[i], width: shape.width, height: shape.height),
          by: orientation,
          into: MutablePlaneView(
            destination.planes[i], stride: destination.strides[i], width: to.width,
            height: to.height),
          elementSize: shape.elementSize)
      } catch {
        fail(error)
      }
    }
  }

  /// Copies the bytes of each plane as if they were contiguous.
  func copy(_ source: Frame, _ destination: Frame) {
    for (i, shape) in source.shapes.enumerated() {
      memcpy(destination.planes[i], source.planes[i], shape.bytes)
    }
  }

  /// Calls libyuv's function for the operation. It has none from NV12 to NV12 for a quarter turn; its NV12 to
  /// I420 rotation moves the same bytes.
  func libyuv(_ source: Frame, _ destination: Frame) {
    let (s, d) = (source.planes, destination.planes)
    let strides = source.strides.map(Int32.init)
    let turned = destination.strides.map(Int32.init)
    let width = Int32(source.shapes[0].width)
    let height = Int32(source.shapes[0].height)
    let mode = [3: kRotate180, 6: kRotate90, 8: kRotate270][orientation.rawValue]
    switch (layout, mode) {
    case (.i420, let mode?):
      I420Rotate(
        s[0], strides[0], s[1], strides[1], s[2], strides[2], d[0], turned[0], d[1], turned[1],
        d[2], turned[2], width, height, mode)
    case (.i420, nil):
      I420Mirror(
        s[0], strides[0], s[1], strides[1], s[2], strides[2], d[0], turned[0], d[1], turned[1],
        d[2], turned[2], width, height)
    case (.nv12, let mode):
      // The two chroma planes share the destination's one: half its stride, one after the other.
      let second = d[1] + Int(turned[1] / 2) * destination.shapes[1].height
      NV12ToI420Rotate(
        s[0], strides[0], s[1], strides[1], d[0], turned[0], d[1], turned[1] / 2, second,
        turned[1] / 2, width, height, mode ?? kRotate0)
    }
  }
}

func fail(_ error: any Error) -> Never {
  FileHandle.standardError.write(Data("KernelBench: \(error)\n".utf8))
  exit(1)
}
