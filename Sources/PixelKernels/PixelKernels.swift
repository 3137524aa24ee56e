internal import CPixelKernels
public import Orientation

/// Turns, mirrors and re-packs planes: one table of kernels, chosen once for a CPU.
///
/// A value without state of its own; any number of threads may use one at a time, and the same input
/// gives the same bytes whatever the CPU. No operation allocates. Source and destination must not
/// overlap: a turn in place is not supported (and not detected).
public struct PixelKernels: @unchecked Sendable {
  // Unchecked: function pointers and a number, never written after init.
  let table: upright_kernels

  /// The kernels of those levels of `cpuMask` that the running CPU has; `.none` is the reference.
  public init(cpuMask: CPUFeatures = .all) {
    var table = upright_kernels()
    unsafe upright_kernels_init(&table, cpuMask.rawValue)
    self.table = table
  }

  /// The fastest there are for the running CPU.
  public static let best = PixelKernels()
}

extension PixelKernels {
  /// Writes `source`, turned upright by `orientation`, to `destination`.
  ///
  /// A picture of several planes is turned plane by plane, each with its own element size: I420 is
  /// three planes of 1 byte, NV12 one of 1 and one of 2, P010 one of 2 and one of 4, RGBA one of 4.
  /// 4:2:2 does not stay 4:2:2 under a quarter turn: it comes out as 4:4:0.
  ///
  /// - Parameters:
  ///   - source: The plane as it is stored.
  ///   - orientation: What makes it upright; `right` turns 90 degrees clockwise.
  ///   - destination: `source.width` x `source.height` elements for the first four orientations,
  ///     `source.height` x `source.width` for the others. Must not overlap `source`.
  ///   - elementSize: Bytes of one element that stay together, 1...4 (3 has no fast kernel).
  /// - Complexity: O(width x height); every element is read once and written about once.
  public func turn(
    _ source: PlaneView, by orientation: ImageOrientation, into destination: MutablePlaneView,
    elementSize: Int
  ) throws(PixelKernelsError) {
    guard (1...4).contains(elementSize) else {
      throw PixelKernelsError(
        code: .elementSize, message: "elements of \(elementSize) bytes: use 1, 2, 3 or 4")
    }
    let transposes = orientation.rawValue >= 5
    try destination.check(
      width: transposes ? source.height : source.width,
      height: transposes ? source.width : source.height)
    try source.check(elementSize: elementSize)
    try destination.check(elementSize: elementSize)

    unsafe withUnsafePointer(to: table) { table in
      unsafe upright_turn(
        table, Int32(orientation.rawValue), elementSize, destination.bytes, destination.stride,
        source.bytes, source.stride, source.width, source.height)
    }
  }

  /// Writes two planes as one plane of pairs (I420's chroma to NV12's).
  ///
  /// - Parameters:
  ///   - first: The first of each pair (Cb in NV12).
  ///   - second: The second of each pair; as large as `first`.
  ///   - destination: As large as `first`, counted in pairs; overlaps neither.
  ///   - componentSize: Bytes of one half of a pair: 1 (NV12) or 2 (P010).
  /// - Complexity: O(width x height).
  public func interleave(
    _ first: PlaneView, _ second: PlaneView, into destination: MutablePlaneView, componentSize: Int
  ) throws(PixelKernelsError) {
    try Self.check(componentSize: componentSize)
    try second.check(width: first.width, height: first.height)
    try destination.check(width: first.width, height: first.height)
    try first.check(elementSize: componentSize)
    try second.check(elementSize: componentSize)
    try destination.check(elementSize: 2 * componentSize)

    unsafe withUnsafePointer(to: table) { table in
      unsafe upright_interleave(
        table, componentSize, destination.bytes, destination.stride, first.bytes, first.stride,
        second.bytes, second.stride, first.width, first.height)
    }
  }

  /// Writes one plane of pairs as two planes (NV12's chroma to I420's).
  ///
  /// - Parameters:
  ///   - source: The pairs; its width is counted in pairs.
  ///   - first: Takes the first of each pair (Cb in NV12); as large as `source`.
  ///   - second: Takes the second of each pair; as large as `source`. None of the three overlap.
  ///   - componentSize: Bytes of one half of a pair: 1 (NV12) or 2 (P010).
  /// - Complexity: O(width x height).
  public func deinterleave(
    _ source: PlaneView, into first: MutablePlaneView, _ second: MutablePlaneView,
    componentSize: Int
  ) throws(PixelKernelsError) {
    try Self.check(componentSize: componentSize)
    try first.check(width: source.width, height: source.height)
    try second.check(width: source.width, height: source.height)
    try source.check(elementSize: 2 * componentSize)
    try first.check(elementSize: componentSize)
    try second.check(elementSize: componentSize)

    unsafe withUnsafePointer(to: table) { table in
      unsafe upright_deinterleave(
        table, componentSize, first.bytes, first.stride, second.bytes, second.stride, source.bytes,
        source.stride, source.width, source.height)
    }
  }

  static func check(componentSize: Int) throws(PixelKernelsError) {
    guard componentSize == 1 || componentSize == 2 else {
      throw PixelKernelsError(
        code: .elementSize, message: "components of \(componentSize) bytes: use 1 or 2")
    }
  }
}
