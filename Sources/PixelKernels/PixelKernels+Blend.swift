internal import CUprightKernels

extension PixelKernels {
  /// Writes the weighted mean of two planes, `weight`/256 of `second` and the rest of `first`, rounded to the
  /// nearest.
  ///
  /// - Parameters:
  ///   - first: The plane for a weight of 0. Widths are counted in components: an NV12 chroma plane has twice
  ///     as many as it has pairs.
  ///   - second: The plane for a weight of 256. It must have the size of `first`.
  ///   - weight: The weight of `second`, 0...256.
  ///   - destination: The plane to write, with the size of `first`. It may be `first` or `second`, but must
  ///     not overlap them otherwise.
  ///   - componentSize: The bytes of a component: 1, or 2 in the machine's byte order.
  /// - Throws: `weight`; `elementSize`; `size` if the planes aren't of one size; `layout`.
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

  /// Draws `source` over `destination`, `alpha`/255 of the source and the rest of the destination, rounded to
  /// the nearest. Alpha is straight: `source` isn't premultiplied.
  ///
  /// - Parameters:
  ///   - source: The plane to draw.
  ///   - alpha: One byte per element, 255 for opaque. It must have the size of `source`.
  ///   - destination: The plane to draw on, with the size of `source`. It must overlap neither.
  ///   - components: The number of interleaved components of an element that share one alpha, 1 or 2.
  ///   - componentSize: The bytes of a component: 1, or 2 in the machine's byte order.
  /// - Throws: `elementSize`; `size` if the planes aren't of one size; `layout`.
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
