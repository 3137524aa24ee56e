import Foundation
import UprightKernels
import Synchronization
import UprightTestSupport

/// A plane inside a larger buffer, with known bytes in rows above and below and to the left and right of each
/// row. Those bytes must never change.
final class PaddedPlane {
  static let paddingByte: UInt8 = 0xA5

  let width: Int
  let height: Int
  let elementSize: Int
  /// The number of bytes from one row to the next. Negative if the first row is last in memory.
  let stride: Int
  let start: UnsafeMutableRawPointer
  let count: Int
  private let margin: Int
  private let padding: Int

  init(
    width: Int, height: Int, elementSize: Int, left: Int = 70, right: Int = 70, bottomUp: Bool
  ) {
    self.width = width
    self.height = height
    self.elementSize = elementSize
    padding = left
    let pitch = left + width * elementSize + right
    margin = 3
    stride = bottomUp ? -pitch : pitch
    count = (height + 2 * margin) * pitch
    start = .allocate(byteCount: count, alignment: 64)
    clear()
  }

  /// A plane with the same layout, all padding.
  convenience init(like other: PaddedPlane) {
    let pitch = abs(other.stride)
    self.init(
      width: other.width, height: other.height, elementSize: other.elementSize,
      left: other.padding, right: pitch - other.padding - other.width * other.elementSize,
      bottomUp: other.stride < 0)
  }

  /// A view doesn't retain its plane: the optimizer may release a plane after its last use, the creation of a
  /// view. So the memory of the most recent planes is kept.
  private static let released = Mutex<[Memory]>([])
  private struct Memory: @unchecked Sendable { let start: UnsafeMutableRawPointer }

  deinit {
    let memory = Memory(start: start)
    Self.released.withLock { released in
      released.append(memory)
      if released.count > 16 { released.removeFirst().start.deallocate() }
    }
  }

  func clear() { memset(start, Int32(Self.paddingByte), count) }

  /// The first element of the first row.
  var base: UnsafeMutablePointer<UInt8> {
    let pitch = abs(stride)
    let row = stride < 0 ? margin + height - 1 : margin
    return start.advanced(by: max(row, 0) * pitch + padding).assumingMemoryBound(to: UInt8.self)
  }

  var view: PlaneView { PlaneView(base, stride: stride, width: width, height: height) }
  var mutableView: MutablePlaneView {
    MutablePlaneView(base, stride: stride, width: width, height: height)
  }

  func fill(_ content: Content, _ random: inout SeededGenerator) {
    for y in 0..<height {
      let row = UnsafeMutableRawBufferPointer(
        start: base + y * stride, count: width * elementSize)
      switch content {
      case .random: random.fill(row)
      case .extremes:
        for i in row.indices { row[i] = random.next() & 1 == 0 ? 0x00 : 0xFF }
      case .positions:
        // Neighbours differ in every byte, and so do the bytes of one element.
        for i in row.indices { row[i] = UInt8(truncatingIfNeeded: i &* 7 &+ y &* 31) }
      }
    }
  }

  enum Content: CaseIterable { case random, extremes, positions }
}

extension PaddedPlane {
  /// Returns a description of the first byte, padding included, at which two planes of the same layout
  /// differ. Returns `nil` if they don't differ.
  func firstDifference(from expected: PaddedPlane) -> String? {
    precondition(count == expected.count && stride == expected.stride)
    if memcmp(start, expected.start, count) == 0 { return nil }
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    let wanted = UnsafeRawBufferPointer(start: expected.start, count: count)
    for i in 0..<count where bytes[i] != wanted[i] {
      let pitch = abs(stride)
      let column = i % pitch - padding
      let line = i / pitch - margin
      let y = stride < 0 ? height - 1 - line : line
      let inside = (0..<width * elementSize).contains(column) && (0..<height).contains(line)
      let place = inside ? "element" : "padding"
      return "\(place) x \(column / elementSize) (byte \(column)) y \(y): "
        + "expected \(wanted[i]), actual \(bytes[i])"
    }
    return nil
  }
}
