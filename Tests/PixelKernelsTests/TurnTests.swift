import CPixelKernels
import Orientation
import PixelKernels
import Testing

/// The levels this machine can run, the reference apart.
let levels: [CPUFeatures] = [[.sse2], [.sse2, .avx2]].filter {
  $0.isSubset(of: CPUFeatures.available)
}

/// Lengths around the vectors' and the tiles' edges.
let edges = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 70]

@Suite struct TurnTests {
  @Test(arguments: ImageOrientation.allCases)
  func referenceAgreesWithTheGeometry(orientation: ImageOrientation) throws {
    var random = RandomSource(seed: seed)
    let kernels = PixelKernels(cpuMask: .none)
    for elementSize in 1...4 {
      for width in edges {
        for height in edges where (width + height + elementSize) % 3 == 0 {
          let turned = orientation.transposes ? (height, width) : (width, height)
          let source = PaddedPlane(
            width: width, height: height, elementSize: elementSize, bottomUp: random.below(2) == 1)
          source.fill(PaddedPlane.Content.allCases.randomElement(using: &random)!, &random)
          let bottomUp = random.below(2) == 1
          let expected = PaddedPlane(
            width: turned.0, height: turned.1, elementSize: elementSize, bottomUp: bottomUp)
          let actual = PaddedPlane(
            width: turned.0, height: turned.1, elementSize: elementSize, bottomUp: bottomUp)
          Naive.turn(source, by: orientation, into: expected)
          try kernels.turn(
            source.view, by: orientation, into: actual.mutableView, elementSize: elementSize)
          if let difference = actual.firstDifference(from: expected) {
            Issue.record(
              "\(orientation) of \(width)x\(height), \(elementSize) bytes, seed \(seed): \(difference)"
            )
            return
          }
        }
      }
    }
  }

  /// Every kernel of every level, all sizes up to 70 x 70, both signs of both strides.
  @Test(arguments: levels, [1, 2, 3, 4])
  func levelAgreesWithTheReference(level: CPUFeatures, elementSize: Int) {
    let check = LevelCheck(level: level, elementSize: elementSize)
    var random = RandomSource(seed: seed)
    for width in 1...70 {
      for height in 1...70 {
        guard check.agrees(width: width, height: height, &random) else { return }
      }
    }
  }

  @Test(arguments: levels, [1, 2, 4])
  func levelAgreesOnLargePlanes(level: CPUFeatures, elementSize: Int) {
    let check = LevelCheck(level: level, elementSize: elementSize)
    var random = RandomSource(seed: seed)
    for (width, height) in [(1921, 1081), (257, 513), (1, 3000), (3000, 1), (640, 19), (17, 700)] {
      guard check.agrees(width: width / elementSize + 1, height: height, &random) else { return }
    }
  }
}

/// One level against the reference on planes of a size.
struct LevelCheck {
  let level: CPUFeatures
  let elementSize: Int

  func agrees(width: Int, height: Int, _ random: inout RandomSource) -> Bool {
    let left = 64 + random.below(8)
    let source = PaddedPlane(
      width: width, height: height, elementSize: elementSize, left: left,
      right: 64 + random.below(8), bottomUp: random.below(2) == 1)
    source.fill(.random, &random)
    // A copy or a mirror, and two transposes, the second of them streamed.
    let orientations: [ImageOrientation] = [
      [.up, .upMirrored, .down, .downMirrored][random.below(4)],
      [.leftMirrored, .right, .rightMirrored, .left][random.below(4)],
      [.leftMirrored, .right, .rightMirrored, .left][random.below(4)],
    ]
    for (index, orientation) in orientations.enumerated() {
      let turned = orientation.transposes ? (height, width) : (width, height)
      // Cache lines start at the same place in every row, or in each at another.
      let rowBytes = left + turned.0 * elementSize
      let right = random.below(2) == 0 ? 128 - rowBytes % 64 : 64 + random.below(64)
      let bottomUp = random.below(2) == 1
      let planes = (0..<2).map { _ in
        PaddedPlane(
          width: turned.0, height: turned.1, elementSize: elementSize, left: left, right: right,
          bottomUp: bottomUp)
      }
      run(.none, orientation, streamed: false, source, planes[0])
      run(level, orientation, streamed: index == 2, source, planes[1])
      if let difference = planes[1].firstDifference(from: planes[0]) {
        Issue.record(
          """
          \(orientation)\(index == 2 ? ", streamed," : "") of \(width)x\(height), \
          \(elementSize) bytes, level \(level.rawValue), seed \(seed): \(difference)
          """)
        return false
      }
    }
    return true
  }

  private func run(
    _ mask: CPUFeatures, _ orientation: ImageOrientation, streamed: Bool, _ source: PaddedPlane,
    _ destination: PaddedPlane
  ) {
    var table = upright_kernels()
    upright_kernels_init(&table, mask.rawValue)
    table.stream_bytes = streamed ? 0 : Int.max
    upright_turn(
      &table, Int32(orientation.rawValue), elementSize, destination.base, destination.stride,
      source.base, source.stride, source.width, source.height)
  }
}
