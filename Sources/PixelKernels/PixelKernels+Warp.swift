internal import CUprightKernels
public import UprightOrientation

extension PixelKernels {
  /// Draws `source`, transformed by `transform`, over `destination`, with bilinear interpolation.
  ///
  /// Coordinates are continuous: the plane's corner is (0, 0) and the centre of element (i, j) is (i + 0.5, j
  /// + 0.5). A destination element whose centre maps into the source's rectangle (left and top edge included,
  /// right and bottom not) gets the source's value there. Between the outermost centres and the edge that is
  /// the value of the outermost element. All other elements keep their values, so a prepared background
  /// stays.
  ///
  /// A result differs from the exact one by less than one level, for 8 and for 10 bits, and is the same on
  /// every CPU. A transform that maps samples to samples (a whole translation, a quarter turn, a mirror)
  /// copies them exactly. A transform that shrinks to less than about 1/1.5 skips samples: scale first, and
  /// warp the result.
  ///
  /// In a frame with subsampled planes, such a plane has a different transform from the frame's: scale the
  /// translation, and account for the siting.
  ///
  /// - Parameters:
  ///   - source: The plane to draw. A source without elements draws nothing.
  ///   - transform: The transform from the source's coordinates to the destination's.
  ///   - destination: A plane of any size. It must not overlap `source`.
  ///   - components: The number of interleaved components of an element, 1 or 2 (the chroma of NV12 and
  ///     P010).
  ///   - componentSize: The bytes of a component: 1, or 2 in the machine's byte order.
  /// - Throws: `PixelKernelsError` with the code `transform` if the transform isn't finite, has no finite
  ///   inverse, or shrinks some direction more than 256 times; `size` if a side is longer than 16777216
  ///   elements. A translation of any length isn't an error: it draws nothing.
  /// - Complexity: O(width x height) of the part drawn, and O(height) of `destination`.
  public func warp(
    _ source: PlaneView, by transform: AffineMatrix, into destination: MutablePlaneView,
    components: Int, componentSize: Int
  ) throws(PixelKernelsError) {
    try Self.check(components: components, componentSize: componentSize)
    try source.check(elementSize: components * componentSize)
    try destination.check(elementSize: components * componentSize)
    let longest = max(source.width, source.height, destination.width, destination.height)
    guard longest <= Int(UPRIGHT_WARP_MAX_SIDE) else {
      throw PixelKernelsError(
        code: .size, message: "a side of \(longest): the maximum is \(UPRIGHT_WARP_MAX_SIDE)")
    }
    guard var map = try upright_warp_map(undoing: transform) else { return }

    unsafe withUnsafePointer(to: table) { table in
      unsafe upright_warp(
        table, components, componentSize, destination.bytes, destination.stride,
        destination.width, destination.height, source.bytes, source.stride, source.width,
        source.height, &map)
    }
  }

  static func check(components: Int, componentSize: Int) throws(PixelKernelsError) {
    guard components == 1 || components == 2 else {
      throw PixelKernelsError(
        code: .elementSize, message: "elements of \(components) components: use 1 or 2")
    }
    try check(componentSize: componentSize)
  }
}

extension upright_warp_map {
  /// The inverse map from a destination element to the source. Returns `nil` if the translation is so long
  /// that no element maps into the source.
  fileprivate init?(undoing transform: AffineMatrix) throws(PixelKernelsError) {
    let back: AffineMatrix
    do { back = try transform.inverted() } catch {
      throw PixelKernelsError(code: .transform, message: "\(error)")
    }
    let steps = [back.a, back.b, back.c, back.d]
    guard steps.allSatisfy({ $0.magnitude <= Double(UPRIGHT_WARP_MAX_STEP) }) else {
      throw PixelKernelsError(
        code: .transform,
        message: "the transform \(transform) shrinks more than \(UPRIGHT_WARP_MAX_STEP) times: "
          + "scale first")
    }
    let start = Point(x: 0.5, y: 0.5).applying(back)
    let limit = Double(UPRIGHT_WARP_MAX_START)
    guard start.x.magnitude <= limit, start.y.magnitude <= limit else { return nil }

    // All magnitudes are below 2^35, and so below 2^63 with the fraction bits.
    func fixed(_ value: Double) -> Int64 {
      Int64(clamping: value * Double(1 << UPRIGHT_WARP_FRACTION_BITS))
    }
    self.init(
      u: fixed(start.x), ux: fixed(back.a), uy: fixed(back.c), v: fixed(start.y),
      vx: fixed(back.b), vy: fixed(back.d))
  }
}
