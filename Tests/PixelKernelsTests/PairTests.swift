import CUprightKernels
import UprightKernels
import Testing
import UprightTestSupport

@Suite struct PairTests {
  /// Compares every level, including the reference, with the definition: pair `x` is `first[x]`, `second[x]`.
  @Test(arguments: [.none] + levels, [1, 2])
  func interleaves(level: CPUFeatures, componentSize: Int) throws {
    var random = SeededGenerator()
    let kernels = PixelKernels(cpuMask: level)
    for width in Array(1...70) + [641] {
      let planes = Planes(width: width, height: 3, componentSize: componentSize, &random)
      planes.first.fill(.random, &random)
      planes.second.fill(.random, &random)
      try kernels.interleave(
        planes.first.view, planes.second.view, into: planes.pairs.mutableView,
        componentSize: componentSize)
      planes.joinNaively(into: planes.expectedPairs)
      if let difference = planes.pairs.firstDifference(from: planes.expectedPairs) {
        Issue.record(
          "width \(width), \(componentSize) bytes, level \(level), seed \(seed): \(difference)")
        return
      }
    }
  }

  /// Interleaving and deinterleaving give the planes back, and the padding of all three stays.
  @Test(arguments: [.none] + levels, [1, 2])
  func deinterleavesWhatInterleavingMade(level: CPUFeatures, componentSize: Int) throws {
    var random = SeededGenerator()
    let kernels = PixelKernels(cpuMask: level)
    for width in Array(1...70) + [641] {
      let planes = Planes(width: width, height: 3, componentSize: componentSize, &random)
      planes.first.fill(.extremes, &random)
      planes.second.fill(.random, &random)
      planes.joinNaively(into: planes.pairs)
      let outcome = Planes(like: planes)
      try kernels.deinterleave(
        planes.pairs.view, into: outcome.first.mutableView, outcome.second.mutableView,
        componentSize: componentSize)
      for (name, actual, expected) in [
        ("first", outcome.first, planes.first), ("second", outcome.second, planes.second),
      ] {
        if let difference = actual.firstDifference(from: expected) {
          Issue.record(
            """
            \(name) plane, width \(width), \(componentSize) bytes, level \(level), seed \(seed): \
            \(difference)
            """)
          return
        }
      }
    }
  }
}

/// Two planes and the plane of their pairs.
private struct Planes {
  let first: PaddedPlane
  let second: PaddedPlane
  let pairs: PaddedPlane
  let expectedPairs: PaddedPlane

  init(width: Int, height: Int, componentSize: Int, _ random: inout SeededGenerator) {
    let pairsBottomUp = random.below(2) == 1
    func plane(_ size: Int, _ bottomUp: Bool) -> PaddedPlane {
      PaddedPlane(width: width, height: height, elementSize: size, bottomUp: bottomUp)
    }
    first = plane(componentSize, random.below(2) == 1)
    second = plane(componentSize, random.below(2) == 1)
    pairs = plane(2 * componentSize, pairsBottomUp)
    expectedPairs = plane(2 * componentSize, pairsBottomUp)
  }

  init(like other: Planes) {
    first = PaddedPlane(like: other.first)
    second = PaddedPlane(like: other.second)
    pairs = PaddedPlane(like: other.pairs)
    expectedPairs = PaddedPlane(like: other.pairs)
  }

  func joinNaively(into target: PaddedPlane) {
    let size = first.elementSize
    for y in 0..<first.height {
      for x in 0..<first.width {
        let pair = target.base + y * target.stride + 2 * x * size
        for i in 0..<size {
          pair[i] = (first.base + y * first.stride)[x * size + i]
          pair[size + i] = (second.base + y * second.stride)[x * size + i]
        }
      }
    }
  }
}
