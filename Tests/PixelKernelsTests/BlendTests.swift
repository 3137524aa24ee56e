import UprightKernels
import Testing
import UprightTestSupport

@Suite struct BlendTests {
  private static let masks: [CPUFeatures] = [.none] + levels

  @Test(arguments: masks, [1, 2])
  func blendRoundsToTheNearest(level: CPUFeatures, size: Int) throws {
    var random = SeededGenerator()
    for width in edges {
      for weight in [0, 1, 127, 128, 200, 255, 256] {
        let planes = (0..<3).map { _ in
          PaddedPlane(width: width, height: 3, elementSize: size, bottomUp: random.below(2) == 1)
        }
        for plane in planes { plane.fill(bits: 8 * size, size: size, &random) }
        // The destination is a third plane, or the first or the second.
        let target = planes[random.below(3)]
        var expected: [[Int]] = []
        for y in 0..<3 {
          expected.append(
            (0..<width).map { x in
              let a = planes[0].component(x, y, size: size)
              let b = planes[1].component(x, y, size: size)
              return (a * (256 - weight) + b * weight + 128) >> 8
            })
        }
        try PixelKernels(cpuMask: level).blend(
          planes[0].view, planes[1].view, weight: weight, into: target.mutableView,
          componentSize: size)
        guard target.holds(expected, size: size, "weight \(weight)") else { return }
      }
    }
  }

  @Test(arguments: masks, [(1, 1), (2, 1), (1, 2), (2, 2)])
  func compositeRoundsToTheNearest(level: CPUFeatures, element: (Int, Int)) throws {
    let (components, size) = element
    var random = SeededGenerator()
    for width in edges + [511, 513, 1100] {
      let planes = (0..<2).map { _ in
        PaddedPlane(
          width: width, height: 3, elementSize: components * size, bottomUp: random.below(2) == 1)
      }
      for plane in planes { plane.fill(bits: 8 * size, size: size, &random) }
      let alpha = PaddedPlane(
        width: width, height: 3, elementSize: 1, bottomUp: random.below(2) == 1)
      alpha.fill(bits: 8, size: 1, &random)
      var expected: [[Int]] = []
      for y in 0..<3 {
        expected.append(
          (0..<width * components).map { x in
            let opacity = alpha.component(x / components, y, size: 1)
            let over = planes[0].component(x, y, size: size)
            let under = planes[1].component(x, y, size: size)
            return (over * opacity + under * (255 - opacity) + 127) / 255
          })
      }
      try PixelKernels(cpuMask: level).composite(
        planes[0].view, alpha: alpha.view, into: planes[1].mutableView, components: components,
        componentSize: size)
      guard planes[1].holds(expected, size: size, "composite") else { return }
    }
  }
}

extension PaddedPlane {
  /// Returns whether the plane has the expected components and unchanged padding. Records an issue if not.
  fileprivate func holds(_ expected: [[Int]], size: Int, _ what: String) -> Bool {
    let wanted = PaddedPlane(like: self)
    for (y, row) in expected.enumerated() {
      for (x, value) in row.enumerated() {
        let place = wanted.base + y * wanted.stride + x * size
        for i in 0..<size { place[i] = UInt8(truncatingIfNeeded: value >> (8 * i)) }
      }
    }
    guard let difference = firstDifference(from: wanted) else { return true }
    Issue.record("\(what), \(width) wide, \(size) bytes, seed \(seed): \(difference)")
    return false
  }
}
