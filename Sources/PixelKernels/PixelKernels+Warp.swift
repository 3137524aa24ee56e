internal import CPixelKernels
public import Orientation

extension PixelKernels {
  /// Draws `source`, moved by `transform`, over `destination`, with bilinear interpolation.
  ///
  /// Coordinates are continuous: the plane's corner is (0, 0) and the centre of element (i, j) lies
  /// at (i + 0.5, j + 0.5). A destination element whose centre comes from inside the source's
  /// rectangle (left and top edge included, right and bottom not) gets the source's value there;
  /// between the outermost centres and the edge that is the outermost element's. Every other
  /// element is left as it is, so that a prepared background stays.
  ///
  /// A result is less than a level away from the exact one for 8 and for 10 bits, and the same on
  /// every CPU. What moves samples onto samples (a whole translation, a quarter turn, a mirror)
  /// copies them exactly. A transform that shrinks to less than about 1/1.5 leaves samples out:
  /// scale first, and warp what comes of it.
  ///
  /// In a picture with subsampled planes the transform of such a plane is not the picture's: scale
  /// the translation, and account for siting.
  ///
  /// - Parameters:
  ///   - source: The plane to draw. A source without elements draws nothing.
  ///   - transform: From the source's coordinates to the destination's.
  ///   - destination: Of any size; must not overlap `source`.
  ///   - components: Interleaved components of an element, 1 or 2 (the chroma of NV12 and P010).
  ///   - componentSize: Bytes of a component: 1, or 2 in the machine's byte order.
  /// - Throws: `PixelKernelsError` with the code `transform` if the transform is not finite, has no
  ///   inverse in finite numbers, or shrinks some direction more than 256 times; `size` if a side is
  ///   longer than 16777216 elements. A translation of any length is no error: it draws nothing.
  /// - Complexity: O(width x height) of the part drawn, and O(height) of `destination`.
  public func warp(
    _ source: PlaneView, by transform: AffineTransform, into destination: MutablePlaneView,
    components: Int, componentSize: Int
  ) throws(PixelKernelsError) {
    try Self.check(components: components, componentSize: componentSize)
    try source.check(elementSize: components * componentSize)
    try destination.check(elementSize: components * componentSize)
    let longest = max(source.width, source.height, destination.width, destination.height)
    guard longest <= Int(UPRIGHT_WARP_MAX_SIDE) else {
      throw PixelKernelsError(
        code: .size, message: "a side of \(longest): \(UPRIGHT_WARP_MAX_SIDE) is the most")
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
  /// From a destination's element back to the source; nil where the translation is so long that
  /// nothing can come from inside.
  fileprivate init?(undoing transform: AffineTransform) throws(PixelKernelsError) {
    let back: AffineTransform
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
