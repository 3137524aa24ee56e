import Foundation
import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

/// Compares the resampler with the same filter kernels in double precision, without rounding.
@Suite struct ResampleQualityTests {
  /// libswscale's filter kernels, as a second implementation.
  private static func weight(_ filter: ResampleFilter, _ distance: Double, _ scale: Double)
    -> Double
  {
    let wide = max(scale, 1)
    let d = abs(distance) / wide
    switch filter {
    case .bicubic:
      // The BC family with B = 0, C = 0.6.
      if d < 1 { return ((12 - 3.6) * d * d * d + (-18 + 3.6) * d * d + 6) / 6 }
      return d < 2 ? (-3.6 * d * d * d + 18 * d * d - 28.8 * d + 14.4) / 6 : 0
    case .bilinear: return max(0, 1 - d)
    case .area:
      if scale <= 1 { return max(0, 1 - d) }
      let (low, high) = (abs(distance) - 0.5, abs(distance) + 0.5)
      return max(0, min(high, scale / 2) - max(low, -scale / 2))
    case .lanczos:
      if d >= 3 { return 0 }
      return d == 0 ? 1 : sin(.pi * d) / (.pi * d) * sin(.pi * d / 3) / (.pi * d / 3)
    }
  }

  /// Rescales one axis of `samples`, rows of `width`, to `count` rows.
  private static func rescaled(
    _ rows: [[Double]], to count: Int, _ filter: ResampleFilter
  ) -> [[Double]] {
    let scale = Double(rows.count) / Double(count)
    return (0..<count).map { output in
      let centre = (Double(output) + 0.5) * scale - 0.5
      let reach = 4 * max(scale, 1)
      var sum = [Double](repeating: 0, count: rows[0].count)
      var total = 0.0
      for k in Int((centre - reach).rounded(.down))...Int((centre + reach).rounded(.up)) {
        let factor = weight(filter, Double(k) - centre, scale)
        total += factor
        let row = rows[min(max(k, 0), rows.count - 1)]
        for x in sum.indices { sum[x] += factor * row[x] }
      }
      return sum.map { $0 / total }
    }
  }

  private static func transposed(_ rows: [[Double]]) -> [[Double]] {
    rows[0].indices.map { x in rows.map { $0[x] } }
  }

  enum Content: CaseIterable { case gradients, texture, edges }

  private static func value(
    _ content: Content, _ x: Int, _ y: Int, _ random: inout SeededGenerator
  ) -> Int {
    let (u, v) = (Double(x), Double(y))
    switch content {
    case .gradients: return Int(20 + u * 0.9 + v * 0.7) & 255
    case .texture:
      let wave = 60 * sin(u / 3.1) * cos(v / 4.7) + 25 * sin((u + 2 * v) / 2.3)
      return max(0, min(255, Int(125 + wave) + random.below(17) - 8))
    case .edges: return (x / 7 + y / 5) % 2 == 0 ? 40 : 210
    }
  }

  @Test(arguments: ResampleFilter.allCases)
  func nearTheFloatReference(filter: ResampleFilter) throws {
    // Rounding alone gives 58.9 dB if errors are evenly distributed. A small pattern has few of them.
    for content in Content.allCases { try check(filter, content, bar: 57) }
  }

  @Test(
    "the reference itself, for every kind of sample",
    arguments: SampleKind.all, ResampleFilter.allCases)
  func referenceIsNear(kind: SampleKind, filter: ResampleFilter) throws {
    // 6 dB more for each bit.
    let bar = 57 + 6 * Double(kind.depth - 8)
    for content in Content.allCases {
      try check(filter, content, kind, .none, bar: bar)
    }
  }

  private func check(
    _ filter: ResampleFilter, _ content: Content, _ kind: SampleKind = SampleKind(),
    _ level: CPUFeatures = .all, bar: Double
  ) throws {
    // The ratios of 1080p to 720p and to 360p, one that has many phases, and one that enlarges.
    for (width, height, toWidth, toHeight) in [
      (144, 81, 54, 96), (144, 81, 27, 48), (120, 90, 70, 101), (60, 50, 75, 90),
    ] {
      var random = SeededGenerator(seed: 4)
      let source = PaddedPlane(width, height, kind)
      source.fill(kind) { x, y, component in
        Self.value(content, x + 3 * component, y, &random) * kind.top / 255
      }
      let actual = PaddedPlane(toWidth, toHeight, kind)
      try Resampler(
        source: (SampleGrid(width), SampleGrid(height)),
        destination: (SampleGrid(toWidth), SampleGrid(toHeight)), orientation: .right,
        filter: filter, element: kind.element, cpuMask: level
      ).resample(source.view, into: actual.mutableView)

      for component in 0..<kind.components {
        // A quarter turn clockwise: the bottom row becomes the left column.
        var rows = (0..<height).reversed().map { y in
          (0..<width).map { x in Double(source.get(x, y, component, kind)) }
        }
        rows = Self.transposed(Self.rescaled(rows, to: toWidth, filter))
        rows = Self.rescaled(rows, to: toHeight, filter)
        let top = Double(kind.top)
        var sum = 0.0
        for y in 0..<toHeight {
          for x in 0..<toWidth {
            let exact = min(top, max(0, rows[y][x]))
            sum += pow(Double(actual.get(x, y, component, kind)) - exact, 2)
          }
        }
        let ratio = 10 * log10(top * top / max(1e-9, sum / Double(toWidth * toHeight)))
        #expect(
          ratio >= bar,
          "\(filter) \(content) to \(toWidth)x\(toHeight): \(ratio) dB")
      }
    }
  }
}
