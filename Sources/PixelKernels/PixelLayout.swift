public import UprightOrientation

/// How the samples of a frame are stored: its planes, and where each component is in them.
///
/// Covers the formats whose planes hold whole elements, so that moving elements moves whole samples; and packed
/// 4:2:2, which is unpacked while it is read. Palettes and bit streams aren't among them.
public struct PixelLayout: Sendable, Hashable {
  /// One plane.
  public struct Plane: Sendable, Hashable {
    /// Bytes from one element to the next in a row, 1...4. An element of NV12's second plane is a pair.
    public let elementSize: Int
    /// log2 of how many times narrower than the frame the plane is.
    public let shiftX: Int
    /// log2 of how many times lower than the frame the plane is.
    public let shiftY: Int

    /// A plane of elements of `elementSize` bytes, subsampled by powers of two.
    public init(elementSize: Int, shiftX: Int = 0, shiftY: Int = 0) {
      self.elementSize = elementSize
      self.shiftX = shiftX
      self.shiftY = shiftY
    }
  }

  /// Where one component (luma, Cb, Cr; or red, green, blue; then alpha) is stored.
  public struct Component: Sendable, Hashable {
    /// The index of its plane.
    public let plane: Int
    /// Its first byte inside an element.
    public let offset: Int
    /// How many unused bits are below it.
    public let shift: Int
    /// Its bits.
    public let depth: Int

    /// A component of `depth` bits in plane `plane`.
    public init(plane: Int, offset: Int = 0, shift: Int = 0, depth: Int = 8) {
      self.plane = plane
      self.offset = offset
      self.shift = shift
      self.depth = depth
    }
  }

  /// The planes, one to four.
  public let planes: [Plane]
  /// The components in the order luma, Cb, Cr or red, green, blue; alpha last.
  public let components: [Component]
  /// Whether the colour components are red, green and blue.
  public let isRGB: Bool
  /// Whether the last component is alpha.
  public let hasAlpha: Bool
  /// Whether components of more than 8 bits have their most significant byte first.
  public let isBigEndian: Bool
  /// Whether one plane has two pixels of 4:2:2 in each element, as `yuy2` and `yvyu`. Such frames are read only:
  /// what is made of them has three planes.
  public let isPacked: Bool
  /// Whether a frame can have it: one to four planes of elements of 1 to 4 bytes, each component inside one, and of 16
  /// times as many pixels at most.
  public let isValid: Bool
  /// The planes after a quarter turn. They are stored because a layout is turned for each frame, without an
  /// allocation.
  private let transposedPlanes: [Plane]

  /// A layout of components in planes.
  public init(
    planes: [Plane], components: [Component], isRGB: Bool = false, hasAlpha: Bool = false,
    isBigEndian: Bool = false
  ) {
    self.planes = planes
    self.components = components
    self.isRGB = isRGB
    self.hasAlpha = hasAlpha
    self.isBigEndian = isBigEndian
    isPacked = Self.isPacked(planes, components)
    let isInside = { (component: Component) -> Bool in
      guard planes.indices.contains(component.plane) else { return false }
      let bits = component.depth &+ component.shift
      return (1...16).contains(component.depth) && (0...15).contains(component.shift) && bits <= 16
        && component.offset >= 0
        && component.offset <= planes[component.plane].elementSize - (bits > 8 ? 2 : 1)
    }
    isValid =
      (1...4).contains(planes.count) && (1...4).contains(components.count)
      && planes.allSatisfy {
        (1...4).contains($0.elementSize) && (0...4).contains($0.shiftX)
          && (0...4).contains($0.shiftY)
      } && components.allSatisfy(isInside)
    transposedPlanes =
      planes.contains { $0.shiftX != $0.shiftY }
      ? planes.map { Plane(elementSize: $0.elementSize, shiftX: $0.shiftY, shiftY: $0.shiftX) }
      : planes
  }

  private init(transposing layout: PixelLayout) {
    planes = layout.transposedPlanes
    transposedPlanes = layout.planes
    components = layout.components
    isRGB = layout.isRGB
    hasAlpha = layout.hasAlpha
    isBigEndian = layout.isBigEndian
    isPacked = layout.isPacked
    isValid = layout.isValid
  }

  /// Elements of two samples of luma with one of Cb and Cr each: luma first, as the components say.
  private static func isPacked(_ planes: [Plane], _ components: [Component]) -> Bool {
    guard planes == [Plane(elementSize: 4, shiftX: 1)], components.count == 3 else { return false }
    let offsets = (components[0].offset, components[1].offset, components[2].offset)
    return components.allSatisfy { $0.depth == 8 && $0.shift == 0 }
      && (offsets == (0, 1, 3) || offsets == (0, 3, 1))
  }

  /// Three planes of 4:2:0: I420, yuv420p. Of more than 8 bits, each sample is in the low bits of two bytes.
  public static func i420(depth: Int = 8) -> PixelLayout {
    planar(depth: depth, shiftX: 1, shiftY: 1)
  }
  /// Three planes of 4:2:2. A quarter turn makes it 4:4:0.
  public static func i422(depth: Int = 8) -> PixelLayout {
    planar(depth: depth, shiftX: 1, shiftY: 0)
  }
  /// Three planes of 4:4:4.
  public static func i444(depth: Int = 8) -> PixelLayout {
    planar(depth: depth, shiftX: 0, shiftY: 0)
  }
  /// A plane of luma and one of Cb and Cr in pairs, 4:2:0, 8 bits.
  public static let nv12 = pairs(depth: 8, shift: 0)
  /// As `nv12`, with 10 bits in the high bits of two bytes.
  public static let p010 = pairs(depth: 10, shift: 6)
  /// Luma alone, 8 bits.
  public static let gray = PixelLayout(
    planes: [Plane(elementSize: 1)], components: [Component(plane: 0)])
  /// Luma, Cb, luma, Cr for each pair of pixels, in one plane: packed 4:2:2 of cameras, yuyv422. Only for reading.
  public static let yuy2 = packed422(cb: 1, cr: 3)
  /// Luma, Cr, luma, Cb for each pair of pixels, in one plane: yvyu422. Only for reading.
  public static let yvyu = packed422(cb: 3, cr: 1)
  /// Made once: a frame is laid out without an allocation.
  private static let planar422 = i422()
  /// Red, green, blue and alpha, a byte each, in one plane.
  public static let rgba = packed([0, 1, 2, 3])
  /// Red, green and blue, a byte each, in one plane. It can be turned, not rescaled.
  public static let rgb24 = PixelLayout(
    planes: [Plane(elementSize: 3)], components: (0..<3).map { Component(plane: 0, offset: $0) },
    isRGB: true)
  /// Blue, green, red and alpha, a byte each, in one plane.
  public static let bgra = packed([2, 1, 0, 3])

  private static func planar(depth: Int, shiftX: Int, shiftY: Int) -> PixelLayout {
    let size = depth > 8 ? 2 : 1
    let chroma = Plane(elementSize: size, shiftX: shiftX, shiftY: shiftY)
    return PixelLayout(
      planes: [Plane(elementSize: size), chroma, chroma],
      components: (0..<3).map { Component(plane: $0, depth: depth) })
  }

  private static func pairs(depth: Int, shift: Int) -> PixelLayout {
    let size = depth > 8 ? 2 : 1
    return PixelLayout(
      planes: [Plane(elementSize: size), Plane(elementSize: 2 * size, shiftX: 1, shiftY: 1)],
      components: [
        Component(plane: 0, shift: shift, depth: depth),
        Component(plane: 1, shift: shift, depth: depth),
        Component(plane: 1, offset: size, shift: shift, depth: depth),
      ])
  }

  private static func packed422(cb: Int, cr: Int) -> PixelLayout {
    PixelLayout(
      planes: [Plane(elementSize: 4, shiftX: 1)],
      components: [0, cb, cr].map { Component(plane: 0, offset: $0) })
  }

  private static func packed(_ offsets: [Int]) -> PixelLayout {
    PixelLayout(
      planes: [Plane(elementSize: 4)], components: offsets.map { Component(plane: 0, offset: $0) },
      isRGB: true, hasAlpha: true)
  }

  /// Bits of the first component.
  public var bitDepth: Int { components.first?.depth ?? 8 }

  /// Bytes of one sample.
  public var sampleBytes: Int { (components.first.map { $0.depth + $0.shift } ?? 8) > 8 ? 2 : 1 }

  /// Pixels per element of the most subsampled plane: positions in a frame must be multiples of it.
  public var alignment: PixelSize {
    // Asked for each frame: no array is made.
    planes.reduce(PixelSize(1, 1)) {
      PixelSize(max($0.width, 1 << $1.shiftX), max($0.height, 1 << $1.shiftY))
    }
  }

  /// The same samples in planes of whole elements: itself, unless it `isPacked`. Allocates nothing.
  public var unpacked: PixelLayout { isPacked ? Self.planar422 : self }

  /// The layout that a quarter turn of every plane makes of it: itself, unless the two axes are
  /// subsampled differently. Packed samples are unpacked. Allocates nothing.
  public var transposed: PixelLayout { PixelLayout(transposing: unpacked) }

  /// The layout after `orientation` is applied to every plane. Packed samples are unpacked.
  public func turned(_ orientation: ImageOrientation) -> PixelLayout {
    orientation.swapsAxes ? transposed : unpacked
  }

  /// Whether the samples are in the same places of as many planes, which may be subsampled differently.
  func isLike(_ other: PixelLayout) -> Bool {
    components == other.components && isRGB == other.isRGB && isBigEndian == other.isBigEndian
      && planes.elementsEqual(other.planes) { $0.elementSize == $1.elementSize }
  }

  /// Unused bits below the first component.
  var bitShift: Int { components.first?.shift ?? 0 }

  /// Whether frames can be rescaled in one pass: all samples have the same bits, 8 of a byte or 9...12 of two
  /// in the CPU's order, high or low; and an element has one or two samples, or four of a byte.
  public var isResampled: Bool {
    !isBigEndian && components.allSatisfy { $0.shift == bitShift && $0.depth == bitDepth }
      && planes.allSatisfy { $0.elementSize % sampleBytes == 0 && element(of: $0).isResampled }
  }

  /// The elements of a plane, if all samples have the same bits.
  func element(of plane: Plane) -> Resampler.Element {
    .init(
      components: plane.elementSize / sampleBytes, size: sampleBytes, depth: bitDepth,
      shift: bitShift)
  }

  /// The elements in a row and the rows of `plane` in a frame of `size`, rounded up.
  public func size(of plane: Plane, in size: PixelSize) -> PixelSize {
    PixelSize(-(-size.width >> plane.shiftX), -(-size.height >> plane.shiftY))
  }

  /// Maps the continuous coordinates of a plane, whose samples' centres are at .5, to those of the frame.
  public func transform(of plane: Plane, siting: ChromaPosition) -> AffineMatrix {
    let (x, y) = (siting.axis(plane.shiftX, siting.x), siting.axis(plane.shiftY, siting.y))
    return AffineMatrix(a: x.step, b: 0, c: 0, d: y.step, tx: x.start, ty: y.start)
  }
}
