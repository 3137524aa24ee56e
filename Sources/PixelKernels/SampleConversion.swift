internal import CUprightKernels
internal import UprightOrientation

/// Writes the samples of a frame in another layout of the same size: the same samples in other places, or red, green and
/// blue of luma and chroma. Samples have 8 bits.
package struct SampleConversion: Sendable {
  private let matrix: upright_rgb_matrix?

  /// - Returns: `nil` if the samples of `target` aren't made of those of `source` one by one: their chroma is subsampled
  ///   differently, or they have more than 8 bits.
  package init?(from source: PixelLayout, to target: PixelLayout, _ colour: ColourCoding) {
    guard !source.isPacked, source.hasBytes, target.hasBytes else { return nil }
    if source.isRGB == target.isRGB {
      guard Self.isRearranged(source, target) else { return nil }
      matrix = nil
    } else {
      guard target == .rgb24, source.components.count != 2 else { return nil }
      matrix = Self.matrix(colour)
    }
  }

  /// Whether each component of `target` has its samples in `source`.
  private static func isRearranged(_ source: PixelLayout, _ target: PixelLayout) -> Bool {
    guard target.components.count <= source.components.count else { return false }
    return zip(source.components, target.components).allSatisfy { from, to in
      let (one, other) = (source.planes[from.plane], target.planes[to.plane])
      return one.shiftX == other.shiftX && one.shiftY == other.shiftY
    }
  }

  /// The inverse of the matrix that a coding's weights describe (ISO/IEC 23091-2, 8.3).
  private static func matrix(_ colour: ColourCoding) -> upright_rgb_matrix {
    let (red, blue) = (colour.redWeight, colour.blueWeight)
    let green = 1 - red - blue
    let (luma, chroma) = colour.isFullRange ? (1, 1) : (255 / 219.0, 255 / 224.0)
    // Weights of the host's own, which may be none, are bounded.
    func fixed(_ factor: Double) -> Int32 {
      factor.isFinite ? Int32(max(-16, min(16, factor)) * 65536) : 0
    }
    return upright_rgb_matrix(
      offset: colour.isFullRange ? 0 : 16, luma: fixed(luma),
      red_of_cr: fixed(2 * (1 - red) * chroma),
      green_of_cb: fixed(-2 * (1 - blue) * blue / green * chroma),
      green_of_cr: fixed(-2 * (1 - red) * red / green * chroma),
      blue_of_cb: fixed(2 * (1 - blue) * chroma))
  }

  /// Writes every sample of `target`.
  ///
  /// - Throws: `size` if the sizes differ.
  package func convert(
    _ source: PlaneSet, into target: MutablePlaneSet
  ) throws(PixelKernelsError) {
    guard source.size == target.size else {
      throw PixelKernelsError(code: .size, message: "\(source.size) isn't \(target.size)")
    }
    guard var matrix else {
      for index in target.layout.components.indices {
        let extent = target[target.layout.components[index].plane]
        unsafe upright_copy_samples(
          target.samples(index), MutablePlaneSet(reading: source).samples(index), extent.width,
          extent.height)
      }
      return
    }
    let read = MutablePlaneSet(reading: source)
    let hasChroma = source.layout.components.count > 2
    let none = unsafe upright_samples(first: nil, stride: 0, step: 0)
    let chroma = hasChroma ? source.layout.planes[source.layout.components[1].plane] : nil
    unsafe upright_rgb_of_yuv(
      target.samples(0), read.samples(0), hasChroma ? read.samples(1) : none,
      hasChroma ? read.samples(2) : none, Int32(chroma?.shiftX ?? 0), Int32(chroma?.shiftY ?? 0),
      &matrix,
      source.size.width, source.size.height)
  }
}

extension PixelLayout {
  /// Whether all samples have the 8 bits of a byte.
  fileprivate var hasBytes: Bool { components.allSatisfy { $0.depth == 8 && $0.shift == 0 } }
}

extension MutablePlaneSet {
  /// Where the samples of a component are.
  fileprivate func samples(_ index: Int) -> upright_samples {
    let component = layout.components[index]
    let plane = self[component.plane]
    return unsafe upright_samples(
      first: plane.bytes + component.offset, stride: plane.stride,
      step: layout.planes[component.plane].elementSize)
  }
}
