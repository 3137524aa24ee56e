internal import CUprightHeader
package import UprightKernels
internal import UprightFrames

/// The layouts of `UPRIGHT_I420` and the others.
package enum PixelFormats {
  /// Made once: a layout holds arrays, and frames don't allocate.
  private static let layouts: [PixelLayout?] = {
    var layouts = [PixelLayout?](repeating: nil, count: UPRIGHT_YVYU + 1)
    for (first, depth) in [(UPRIGHT_I420, 8), (UPRIGHT_I420_10, 10), (UPRIGHT_I420_12, 12)] {
      layouts[first] = .i420(depth: depth)
      layouts[first + 1] = .i422(depth: depth)
      layouts[first + 2] = PixelLayout.i422(depth: depth).transposed
      layouts[first + 3] = .i444(depth: depth)
    }
    layouts[UPRIGHT_NV12] = .nv12
    layouts[UPRIGHT_GRAY] = .gray
    layouts[UPRIGHT_RGBA] = .rgba
    layouts[UPRIGHT_BGRA] = .bgra
    layouts[UPRIGHT_P010] = .p010
    layouts[UPRIGHT_RGB24] = .rgb24
    layouts[UPRIGHT_BGR24] = PixelLayout(
      planes: PixelLayout.rgb24.planes,
      components: [2, 1, 0].map { .init(plane: 0, offset: $0) }, isRGB: true)
    // GBRP has the planes green, blue, red.
    layouts[UPRIGHT_GBRP] = PixelLayout(
      planes: Array(repeating: .init(elementSize: 1), count: 3),
      components: [2, 0, 1].map { .init(plane: $0) }, isRGB: true)
    layouts[UPRIGHT_NV21] = PixelLayout(
      planes: PixelLayout.nv12.planes,
      components: [.init(plane: 0), .init(plane: 1, offset: 1), .init(plane: 1)])
    layouts[UPRIGHT_YUY2] = .yuy2
    layouts[UPRIGHT_YVYU] = .yvyu
    layouts[UPRIGHT_GRAY_10] = PixelLayout(
      planes: [.init(elementSize: 2)], components: [.init(plane: 0, depth: 10)])
    return layouts
  }()

  /// The number of a layout; `nil` if it has none.
  package static func number(of layout: PixelLayout) -> Int32? {
    layouts.firstIndex(of: layout).map { Int32($0) }
  }

  static func layout(_ pixels: Int32) -> PixelLayout? {
    layouts.indices.contains(Int(pixels)) ? layouts[Int(pixels)] : nil
  }

  /// The format of a frame after it was drawn with a quarter turn, or without one.
  static func drawn(_ pixels: Int32, isTransposed: Bool) -> Int32 {
    switch Int(pixels) {
    case UPRIGHT_YUY2, UPRIGHT_YVYU: Int32(isTransposed ? UPRIGHT_I440 : UPRIGHT_I422)
    case UPRIGHT_I422, UPRIGHT_I422_10, UPRIGHT_I422_12: isTransposed ? pixels + 1 : pixels
    case UPRIGHT_I440, UPRIGHT_I440_10, UPRIGHT_I440_12: isTransposed ? pixels - 1 : pixels
    default: pixels
    }
  }
}

extension ChromaPosition {
  /// The position of `UPRIGHT_CHROMA_...`; `nil` for other numbers.
  init?(_ number: Int32) {
    switch Int(number) {
    case UPRIGHT_CHROMA_UNSPECIFIED, UPRIGHT_CHROMA_LEFT: self = .left
    case UPRIGHT_CHROMA_CENTER: self = .center
    case UPRIGHT_CHROMA_TOP_LEFT: self = .topLeft
    case UPRIGHT_CHROMA_TOP: self.init(x: 128, y: 0)
    case UPRIGHT_CHROMA_BOTTOM_LEFT: self.init(x: 0, y: 256)
    case UPRIGHT_CHROMA_BOTTOM: self.init(x: 128, y: 256)
    case UPRIGHT_CHROMA_RIGHT: self.init(x: 256, y: 128)
    case UPRIGHT_CHROMA_TOP_RIGHT: self.init(x: 256, y: 0)
    case UPRIGHT_CHROMA_BOTTOM_RIGHT: self.init(x: 256, y: 256)
    default: return nil
    }
  }

  /// The number of `UPRIGHT_CHROMA_...`.
  package var number: Int32 {
    let number =
      switch (x, y) {
      case (0, 0): UPRIGHT_CHROMA_TOP_LEFT
      case (0, 256): UPRIGHT_CHROMA_BOTTOM_LEFT
      case (128, 0): UPRIGHT_CHROMA_TOP
      case (128, 128): UPRIGHT_CHROMA_CENTER
      case (128, 256): UPRIGHT_CHROMA_BOTTOM
      case (256, 0): UPRIGHT_CHROMA_TOP_RIGHT
      case (256, 128): UPRIGHT_CHROMA_RIGHT
      case (256, 256): UPRIGHT_CHROMA_BOTTOM_RIGHT
      default: UPRIGHT_CHROMA_LEFT
      }
    return Int32(number)
  }
}

extension ColourCoding {
  /// The matrix of MatrixCoefficients (ISO/IEC 23091-2, 8.3). Only the background's colour depends on it, so that of
  /// one that isn't known is BT.601's.
  init(matrix: Int32, isFullRange: Bool) {
    switch matrix {
    case 1: self = .bt709
    case 9, 10: self = .bt2020
    default: self = .bt601
    }
    self.isFullRange = isFullRange
  }
}
