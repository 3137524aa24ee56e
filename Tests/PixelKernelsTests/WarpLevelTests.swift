import CUprightKernels
import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

/// Every level draws the reference's bytes, and accesses no others.
@Suite(.serialized) struct WarpLevelTests {
  private static let degrees = [
    0, 0.2, 1, 7, 30, 44.9, 45, 46, 60, 89, 90, 133, 180, 200, 270, 353,
  ]
  private static let scales = [1, 0.5, 0.51, 0.7, 1.3, 3, 0.3, 12]

  @Test(arguments: levels, WarpFormat.all)
  func levelAgreesWithTheReference(level: CPUFeatures, format: WarpFormat) throws {
    var random = SeededGenerator()
    let kernels = [PixelKernels(cpuMask: .none), PixelKernels(cpuMask: level)]
    for degrees in Self.degrees {
      for scale in Self.scales {
        for size in [(1, 1), (1 + random.below(67), 1 + random.below(33)), (67, 33)] {
          let target = (1 + random.below(90), 1 + random.below(80))
          var transform = WarpTests.turn(
            degrees: degrees, scale: scale, from: size, to: target)
          // On the grid of samples, off it, and half outside.
          switch random.below(3) {
          case 0: transform.tx += Double(random.below(1000)) / 997
          case 1:
            transform.ty += Double(size.1) * scale / 2
            transform.a *= 1.01
          default: break
          }
          let source = PaddedPlane(
            width: size.0, height: size.1, elementSize: format.elementSize,
            bottomUp: random.below(2) == 1)
          source.fill(bits: format.bits, size: format.componentSize, &random)
          let bottomUp = random.below(2) == 1
          let planes = try kernels.map { kernels in
            let plane = PaddedPlane(
              width: target.0, height: target.1, elementSize: format.elementSize,
              bottomUp: bottomUp)
            try kernels.warp(
              source.view, by: transform, into: plane.mutableView, components: format.components,
              componentSize: format.componentSize)
            return plane
          }
          if let difference = planes[1].firstDifference(from: planes[0]) {
            Issue.record(
              """
              \(transform) of \(size), \(format), level \(level.rawValue), seed \(seed): \
              \(difference)
              """)
            return
          }
        }
      }
    }
  }

  @Test(arguments: [.none] + levels, WarpFormat.all)
  func staysInside(level: CPUFeatures, format: WarpFormat) throws {
    let bytes = 70 * 40 * format.elementSize
    let (source, destination) = (try GuardedMemory(bytes: bytes), try GuardedMemory(bytes: bytes))
    let kernels = PixelKernels(cpuMask: level)
    for (width, height) in [(1, 1), (5, 3), (15, 2), (16, 1), (17, 9), (33, 31), (66, 40)] {
      for (columns, rows) in [(1, 1), (17, 5), (40, 66), (70, 33)] {
        for degrees in Self.degrees {
          for scale in Self.scales {
            let transform = WarpTests.turn(
              degrees: degrees, scale: scale, from: (width, height), to: (columns, rows))
            let padding = Int(scale * 10) % 2 * 5
            let from = Placed(width * format.elementSize, height, padding, source)
            let to = Placed(columns * format.elementSize, rows, 0, destination)
            for (s, d) in [(from.first, to.last), (from.last, to.first)] {
              try kernels.warp(
                PlaneView(s, stride: from.stride, width: width, height: height), by: transform,
                into: MutablePlaneView(d, stride: to.stride, width: columns, height: rows),
                components: format.components, componentSize: format.componentSize)
            }
          }
        }
      }
    }
  }

  @Test(arguments: [.none] + levels, WarpFormat.all)
  func blendsStayInside(level: CPUFeatures, format: WarpFormat) throws {
    let size = format.elementSize
    let memory = try (0..<3).map { _ in try GuardedMemory(bytes: 600 * 2 * size) }
    let kernels = PixelKernels(cpuMask: level)
    for width in edges + [511, 512, 513, 600] {
      let places = memory.map { Placed(width * size, 2, 0, $0) }
      let opacity = Placed(width, 2, 0, memory[2])
      for last in [false, true] {
        func plane(_ index: Int, last: Bool) -> MutablePlaneView {
          MutablePlaneView(
            last ? places[index].last : places[index].first, stride: width * size, width: width,
            height: 2)
        }
        let alpha = PlaneView(
          last ? opacity.last : opacity.first, stride: width, width: width, height: 2)
        let (from, to) = (PlaneView(plane(0, last: last)), plane(1, last: !last))
        try kernels.composite(
          from, alpha: alpha, into: to, components: format.components,
          componentSize: format.componentSize)
        if format.components == 1 {
          try kernels.blend(
            from, PlaneView(plane(2, last: last)), weight: 100, into: to,
            componentSize: format.componentSize)
        }
      }
    }
  }
}
