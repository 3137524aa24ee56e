import CUprightKernels
import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

/// The levels that this machine can run, without the reference.
let levels: [CPUFeatures] = [
  [.sse2], [.sse2, .sse4], [.sse2, .sse4, .avx2], [.sse2, .sse4, .avx2, .avx512], [.neon],
].filter {
  $0.isSubset(of: CPUFeatures.available)
}

/// Lengths around the edges of vectors and tiles.
let edges = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 70]

@Suite struct TurnTests {
  @Test(arguments: ImageOrientation.allCases)
  func referenceAgreesWithTheGeometry(orientation: ImageOrientation) throws {
    var random = SeededGenerator()
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
    var random = SeededGenerator()
    for width in 1...70 {
      for height in 1...70 {
        guard check.agrees(width: width, height: height, &random) else { return }
      }
    }
  }

  @Test(arguments: levels, [1, 2, 4])
  func levelAgreesOnLargePlanes(level: CPUFeatures, elementSize: Int) {
    let check = LevelCheck(level: level, elementSize: elementSize)
    var random = SeededGenerator()
    for (width, height) in [(1921, 1081), (257, 513), (1, 3000), (3000, 1), (640, 19), (17, 700)] {
      guard check.agrees(width: width / elementSize + 1, height: height, &random) else { return }
    }
  }
}

extension TurnTests {
  /// The streamed transposes: destinations whose rows all begin at the same position in a cache line, with
  /// heads, whole lines and tails of every kind.
  @Test(arguments: levels, [1, 2, 4])
  func streamedAgreesWithTheReference(level: CPUFeatures, elementSize: Int) {
    let check = LevelCheck(level: level, elementSize: elementSize)
    var random = SeededGenerator()
    let side = 64 / elementSize
    for phase in [0, 1, 2, 4, 16, 31, 32, 60, 63] {
      for width in [1, side - 1, side, side + 1, 2 * side, 3 * side - 1] {
        for height in [side, 2 * side - 1, 2 * side, 2 * side + 1, 4 * side + side / 2] {
          for orientation in ImageOrientation.allCases where orientation.transposes {
            let source = PaddedPlane(
              width: width, height: height, elementSize: elementSize,
              bottomUp: random.below(2) == 1)
            source.fill(.random, &random)
            let left = 64 + phase
            let agrees = check.agrees(
              source, orientation, streamed: true, left: left,
              right: 128 - (left + height * elementSize) % 64, bottomUp: random.below(2) == 1)
            guard agrees else { return }
          }
        }
      }
    }
  }
}

/// Compares one level with the reference on planes of one size.
struct LevelCheck {
  let level: CPUFeatures
  let elementSize: Int

  func agrees(width: Int, height: Int, _ random: inout SeededGenerator) -> Bool {
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
      let rowBytes = (orientation.transposes ? height : width) * elementSize
      // Cache lines start at the same position in every row, or at another one in each.
      let right = random.below(2) == 0 ? 128 - (left + rowBytes) % 64 : 64 + random.below(64)
      let agrees = agrees(
        source, orientation, streamed: index == 2, left: left, right: right,
        bottomUp: random.below(2) == 1)
      guard agrees else { return false }
    }
    return true
  }

  /// Checks one rotation, to a destination with that many bytes of padding on either side of a row.
  func agrees(
    _ source: PaddedPlane, _ orientation: ImageOrientation, streamed: Bool, left: Int, right: Int,
    bottomUp: Bool
  ) -> Bool {
    let (width, height) = (source.width, source.height)
    let (columns, rows) = orientation.transposes ? (height, width) : (width, height)
    let planes = (0..<2).map { _ in
      PaddedPlane(
        width: columns, height: rows, elementSize: elementSize, left: left, right: right,
        bottomUp: bottomUp)
    }
    run(.none, orientation, streamed: false, source, planes[0])
    run(level, orientation, streamed: streamed, source, planes[1])
    guard let difference = planes[1].firstDifference(from: planes[0]) else { return true }
    Issue.record(
      """
      \(orientation)\(streamed ? ", streamed," : "") of \(width)x\(height), \(elementSize) bytes, \
      level \(level.rawValue), seed \(seed): \(difference)
      """)
    return false
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
