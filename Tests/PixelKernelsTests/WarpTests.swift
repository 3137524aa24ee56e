import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

/// The components of an element, and how many of their bits are in use.
struct WarpFormat: CustomTestStringConvertible {
  let components: Int
  let componentSize: Int
  let bits: Int

  var elementSize: Int { components * componentSize }
  var testDescription: String { "\(components) x \(componentSize) bytes, \(bits) bits" }

  static let all = [
    WarpFormat(components: 1, componentSize: 1, bits: 8),
    WarpFormat(components: 2, componentSize: 1, bits: 8),
    WarpFormat(components: 1, componentSize: 2, bits: 10),
    WarpFormat(components: 2, componentSize: 2, bits: 10),
    WarpFormat(components: 1, componentSize: 2, bits: 16),
    WarpFormat(components: 2, componentSize: 2, bits: 16),
  ]

  /// The largest allowed difference from the exact value: one level, of 10 bits if there are more.
  var tolerance: Double { bits == 16 ? 64 : 1 }
}

@Suite struct WarpTests {
  /// Maps the middle of the source to the middle of the destination, rotated and scaled.
  static func turn(
    degrees: Double, scale: Double, from source: (Int, Int), to destination: (Int, Int)
  ) -> AffineMatrix {
    AffineMatrix(translationX: -Double(source.0) / 2, y: -Double(source.1) / 2)
      .concatenating(AffineMatrix(scaleX: scale, y: scale))
      .concatenating(AffineMatrix(rotationAngle: degrees / 180 * .pi))
      .concatenating(
        AffineMatrix(
          translationX: Double(destination.0) / 2, y: Double(destination.1) / 2))
  }

  @Test(arguments: WarpFormat.all, [0, 1, 7, 30, 45, 89, 90, 180, 270, -7, 133])
  func isWithinALevelOfTheExactValue(format: WarpFormat, degrees: Double) throws {
    var random = SeededGenerator()
    for (index, scale) in [1, 0.5, 0.7, 1.3, 3].enumerated() {
      for size in [(1, 1), (2, 3), (17, 5), (40, 21), (67, 33)] {
        let target = (size.0 + random.below(20), size.1 + random.below(20))
        var transform = Self.turn(degrees: degrees, scale: scale, from: size, to: target)
        if index == 3 { transform.tx += 0.37 }
        guard try agrees(transform, size, target, format, .best, &random) else { return }
      }
    }
  }

  @Test(arguments: WarpFormat.all)
  func shearsAndMirrorsAndMovesAreTransformsToo(format: WarpFormat) throws {
    var random = SeededGenerator()
    for transform in [
      AffineMatrix(a: 1, b: 0, c: 0.4, d: 1, tx: -3, ty: 0),
      AffineMatrix(a: 1, b: 0.9, c: 0, d: 1, tx: 0, ty: -11),
      AffineMatrix(a: -1, b: 0, c: 0, d: 1, tx: 40, ty: 0),
      AffineMatrix(a: 0.1, b: -1.2, c: -0.9, d: 0.2, tx: 30.2, ty: 44.4),
      AffineMatrix(translationX: 7.25, y: -3.75), AffineMatrix(translationX: 39.9, y: 0),
      AffineMatrix(scaleX: 0.02, y: 30), AffineMatrix(scaleX: 20, y: 0.1),
    ] {
      guard try agrees(transform, (40, 30), (45, 35), format, .best, &random) else { return }
    }
  }

  /// Any number of quarter turns, mirrored or not, equals `turn`, byte for byte.
  @Test(arguments: ImageOrientation.allCases, [CPUFeatures.none] + levels)
  func quarterTurnsAreExact(orientation: ImageOrientation, level: CPUFeatures) throws {
    var random = SeededGenerator()
    let kernels = PixelKernels(cpuMask: level)
    for format in WarpFormat.all {
      for (width, height) in [(1, 1), (3, 2), (16, 9), (67, 33), (130, 71)] {
        let source = PaddedPlane(
          width: width, height: height, elementSize: format.elementSize,
          bottomUp: random.below(2) == 1)
        source.fill(.random, &random)
        let turned = orientation.transposes ? (height, width) : (width, height)
        let planes = (0..<2).map { _ in
          PaddedPlane(
            width: turned.0, height: turned.1, elementSize: format.elementSize, bottomUp: false)
        }
        try kernels.turn(
          source.view, by: orientation, into: planes[0].mutableView,
          elementSize: format.elementSize)
        let transform = AffineMatrix(
          orientation, size: PixelSize(width, height))
        try kernels.warp(
          source.view, by: transform, into: planes[1].mutableView, components: format.components,
          componentSize: format.componentSize)
        if let difference = planes[1].firstDifference(from: planes[0]) {
          Issue.record(
            "\(orientation) of \(width)x\(height), \(format), seed \(seed): \(difference)")
          return
        }
      }
    }
  }

  /// Draws over random memory and compares every element and everything around the plane.
  private func agrees(
    _ transform: AffineMatrix, _ size: (Int, Int), _ target: (Int, Int), _ format: WarpFormat,
    _ kernels: PixelKernels, _ random: inout SeededGenerator
  ) throws -> Bool {
    let source = PaddedPlane(
      width: size.0, height: size.1, elementSize: format.elementSize,
      bottomUp: random.below(2) == 1)
    source.fill(bits: format.bits, size: format.componentSize, &random)
    let actual = PaddedPlane(
      width: target.0, height: target.1, elementSize: format.elementSize,
      bottomUp: random.below(2) == 1)
    actual.fill(.random, &random)
    let before = PaddedPlane(like: actual)
    before.start.copyMemory(from: actual.start, byteCount: actual.count)
    try kernels.warp(
      source.view, by: transform, into: actual.mutableView, components: format.components,
      componentSize: format.componentSize)

    let back = try transform.inverted()
    for y in 0..<target.1 {
      for x in 0..<target.0 {
        let expected = WarpReference.value(
          x, y, of: source, by: back, components: format.components)
        for i in 0..<format.components {
          let index = x * format.components + i
          let value = actual.component(index, y, size: format.componentSize)
          let old = before.component(index, y, size: format.componentSize)
          let right =
            switch expected {
            case .background: value == old
            case .values(let values): abs(Double(value) - values[i]) <= format.tolerance
            case .either(let values):
              value == old || abs(Double(value) - values[i]) <= format.tolerance
            }
          guard right else {
            Issue.record(
              """
              \(transform) of \(size), \(format.testDescription), seed \(seed): x \(x) y \(y) \
              component \(i): expected \(expected), actual \(value), before \(old)
              """)
            return false
          }
          actual.copyComponent(index, y, from: before, size: format.componentSize)
        }
      }
    }
    if let difference = actual.firstDifference(from: before) {
      Issue.record("\(transform) of \(size), seed \(seed): \(difference)")
      return false
    }
    return true
  }
}

extension PaddedPlane {
  fileprivate func copyComponent(_ index: Int, _ y: Int, from other: PaddedPlane, size: Int) {
    (base + y * stride + index * size).update(
      from: other.base + y * other.stride + index * size, count: size)
  }
}
