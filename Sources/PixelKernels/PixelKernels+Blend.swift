internal import CPixelKernels

extension PixelKernels {
  /// Writes `weight` parts of 256 of `second` and the rest of `first`, rounded to the nearest.
  ///
  /// - Parameters:
  ///   - first: What 0 gives. Widths are counted in components: an NV12 chroma plane is a plane of
  ///     twice as many as it has pairs.
  ///   - second: What 256 gives; as large as `first`.
  ///   - weight: 0...256.
  ///   - destination: As large as `first`; may be `first` or `second` itself, but not overlap them
  ///     otherwise.
  ///   - componentSize: Bytes of a component: 1, or 2 in the machine's byte order.
  /// - Complexity: O(width x height).
  public func blend(
    _ first: PlaneView, _ second: PlaneView, weight: Int, into destination: MutablePlaneView,
    componentSize: Int
  ) throws(PixelKernelsError) {
    try Self.check(componentSize: componentSize)
    guard (0...256).contains(weight) else {
      throw PixelKernelsError(code: .weight, message: "a weight of \(weight): use 0...256")
    }
    try second.check(width: first.width, height: first.height)
    try destination.check(width: first.width, height: first.height)
    try first.check(elementSize: componentSize)
    try second.check(elementSize: componentSize)
    try destination.check(elementSize: componentSize)

    unsafe withUnsafePointer(to: table) { table in
      unsafe upright_blend(
        table, componentSize, destination.bytes, destination.stride, first.bytes, first.stride,
        second.bytes, second.stride, UInt32(weight), first.width, first.height)
    }
  }

  /// Draws `source` over `destination`: `alpha` parts of 255 of it, the rest stays; rounded to the
  /// nearest. Straight alpha: `source` is not multiplied by it yet.
  ///
  /// - Parameters:
  ///   - source: What 255 gives.
  ///   - alpha: One byte an element; as large as `source`.
  ///   - destination: What 0 leaves; as large as `source`, and overlaps neither.
  ///   - components: Interleaved components of an element that share one alpha, 1 or 2.
  ///   - componentSize: Bytes of a component: 1, or 2 in the machine's byte order.
  /// - Complexity: O(width x height).
  public func composite(
    _ source: PlaneView, alpha: PlaneView, into destination: MutablePlaneView, components: Int,
    componentSize: Int
  ) throws(PixelKernelsError) {
    try Self.check(components: components, componentSize: componentSize)
    try alpha.check(width: source.width, height: source.height)
    try destination.check(width: source.width, height: source.height)
    try source.check(elementSize: components * componentSize)
    try alpha.check(elementSize: 1)
    try destination.check(elementSize: components * componentSize)

    unsafe withUnsafePointer(to: table) { table in
      unsafe upright_composite(
        table, components, componentSize, destination.bytes, destination.stride, source.bytes,
        source.stride, alpha.bytes, alpha.stride, source.width, source.height)
    }
  }
}
