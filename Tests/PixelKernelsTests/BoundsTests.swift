import CUprightKernels
import UprightOrientation
import UprightKernels
import Testing

/// Planes that begin at the first accessible byte or end at the last one. A kernel that goes one byte too far
/// ends the test run with a segmentation fault.
@Suite(.serialized) struct BoundsTests {
  /// Row padding: none, or 5 bytes.
  static let paddings = [0, 5]

  @Test(arguments: [.none] + levels, [1, 2, 3, 4])
  func turnsStayInside(level: CPUFeatures, elementSize: Int) throws {
    let source = try GuardedMemory(bytes: 75 * 80 * elementSize)
    let destination = try GuardedMemory(bytes: 75 * 80 * elementSize)
    var table = upright_kernels()
    upright_kernels_init(&table, level.rawValue)
    for width in edges {
      for height in edges {
        for padding in Self.paddings {
          for orientation in [ImageOrientation.upMirrored, .up, .leftMirrored, .right, .left] {
            for streamed in orientation.transposes ? [false, true] : [false] {
              table.stream_bytes = streamed ? 0 : Int.max
              let (columns, rows) = orientation.transposes ? (height, width) : (width, height)
              let from = Placed(width * elementSize, height, padding, source)
              let to = Placed(columns * elementSize, rows, padding, destination)
              for (s, d) in [(from.first, to.last), (from.last, to.first)] {
                upright_turn(
                  &table, Int32(orientation.rawValue), elementSize, d, to.stride, s, from.stride,
                  width, height)
              }
            }
          }
        }
      }
    }
  }

  /// Planes of whole cache lines up to the very end, with a partial head and tail.
  @Test(arguments: levels, [1, 2, 4])
  func streamedTurnsStayInside(level: CPUFeatures, elementSize: Int) throws {
    let source = try GuardedMemory(bytes: 70 * 200 * elementSize)
    let destination = try GuardedMemory(bytes: 70 * 256 * elementSize)
    var table = upright_kernels()
    upright_kernels_init(&table, level.rawValue)
    table.stream_bytes = 0
    for width in [16, 64, 65, 70] {
      for height in [64, 100, 128, 130, 200] {
        let rowBytes = height * elementSize
        let from = Placed(width * elementSize, height, 0, source)
        let to = Placed(rowBytes, width, 64 - rowBytes % 64, destination)
        for orientation in [ImageOrientation.leftMirrored, .right, .left] {
          for (s, d) in [(from.first, to.last), (from.last, to.first)] {
            upright_turn(
              &table, Int32(orientation.rawValue), elementSize, d, to.stride, s, from.stride, width,
              height)
          }
        }
      }
    }
  }

  @Test(arguments: [.none] + levels, [1, 2])
  func pairsStayInside(level: CPUFeatures, componentSize: Int) throws {
    let memory = try (0..<3).map { _ in try GuardedMemory(bytes: 80 * 6 * componentSize) }
    var table = upright_kernels()
    upright_kernels_init(&table, level.rawValue)
    for width in 1...70 {
      for padding in Self.paddings {
        let a = Placed(width * componentSize, 2, padding, memory[0])
        let b = Placed(width * componentSize, 2, padding, memory[1])
        let pairs = Placed(width * 2 * componentSize, 2, padding, memory[2])
        for (a0, b0, p0) in [
          (a.first, b.last, pairs.last), (a.last, b.first, pairs.first),
          (a.last, b.last, pairs.last),
        ] {
          upright_interleave(
            &table, componentSize, p0, pairs.stride, a0, a.stride, b0, b.stride, width, 2)
          upright_deinterleave(
            &table, componentSize, a0, a.stride, b0, b.stride, p0, pairs.stride, width, 2)
        }
      }
    }
  }
}

/// A plane at both ends of guarded memory. The last row has no padding.
struct Placed {
  let stride: Int
  /// The first row of the plane that begins at the first byte.
  let first: UnsafeMutablePointer<UInt8>
  /// The first row of the plane that ends at the last byte.
  let last: UnsafeMutablePointer<UInt8>

  init(_ rowBytes: Int, _ height: Int, _ padding: Int, _ memory: GuardedMemory) {
    stride = rowBytes + padding
    first = memory.start
    last = memory.end - (stride * (height - 1) + rowBytes)
  }
}
