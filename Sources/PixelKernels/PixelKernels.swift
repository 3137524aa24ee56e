internal import CUprightKernels
public import UprightOrientation

/// Kernels that rotate, mirror, re-pack, warp and blend planes, chosen once for a CPU.
///
/// The value has no mutable state. Several threads may use it at the same time. The same input gives the same
/// bytes on every CPU. No operation allocates memory. Source and destination must not overlap: a rotation in
/// place isn't supported (and not detected).
public struct PixelKernels: @unchecked Sendable {
  // Unchecked: function pointers and a number, never written after init.
  let table: upright_kernels

  /// Creates the kernels for those levels of `cpuMask` that the running CPU has. `.none` selects the
  /// reference.
  public init(cpuMask: CPUFeatures = .all) {
    var table = upright_kernels()
    unsafe upright_kernels_init(&table, cpuMask.rawValue)
    self.table = table
  }

  /// The fastest kernels for the running CPU.
  public static let best = PixelKernels()
}

extension PixelKernels {
  /// Writes `source`, rotated upright by `orientation`, to `destination`.
  ///
  /// A frame with several planes is rotated plane by plane, each with its element size: I420 has three planes
  /// of 1 byte, NV12 one of 1 and one of 2, P010 one of 2 and one of 4, RGBA one of 4. A quarter turn changes
  /// 4:2:2 to 4:4:0.
  ///
  /// - Parameters:
  ///   - source: The plane as it is stored.
  ///   - orientation: The orientation that makes it upright; `right` rotates 90 degrees clockwise.
  ///   - destination: `source.width` x `source.height` elements for the first four orientations,
  ///     `source.height` x `source.width` for the others. It must not overlap `source`.
  ///   - elementSize: The bytes of one element, which stay together, 1...4 (3 has no fast kernel).
  /// - Throws: `elementSize`; `size` if `destination` hasn't the size of the rotated source; `layout`.
  /// - Complexity: O(width x height). Every element is read once and written about once.
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
  ///   - first: The first component of each pair (Cb in NV12).
  ///   - second: The second component of each pair. It must have the size of `first`.
  ///   - destination: The plane of pairs, with the size of `first`, counted in pairs. It must overlap
  ///     neither.
  ///   - componentSize: The bytes of one component: 1 (NV12) or 2 (P010).
  /// - Throws: `elementSize`; `size` if the planes aren't of one size; `layout`.
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
  ///   - source: The plane of pairs. Its width is counted in pairs.
  ///   - first: Receives the first component of each pair (Cb in NV12). It must have the size of `source`.
  ///   - second: Receives the second component of each pair. It must have the size of `source`. None of the
  ///     three may overlap.
  ///   - componentSize: The bytes of one component: 1 (NV12) or 2 (P010).
  /// - Throws: `elementSize`; `size` if the planes aren't of one size; `layout`.
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
