public import UprightOrientation

/// A rectangle of a frame that isn't drawn as a whole.
public struct FramePart: Sendable, Hashable {
  /// Its first column and row, in whole chroma samples.
  public var x, y: Int
  /// The size of the whole frame.
  public var frame: PixelSize

  /// Creates a part, whose size is that of what it is drawn onto.
  public init(x: Int, y: Int, frame: PixelSize) { (self.x, self.y, self.frame) = (x, y, frame) }
}

/// Turns and rescales whole frames, plane by plane, each in one pass. Keeps what it made for one geometry
/// from frame to frame: nothing is allocated while geometry stays the same. Packed 4:2:2 is unpacked first.
///
/// Used by one thread at a time.
public final class FramePass {
  /// All that the passes depend on.
  private struct Geometry: Equatable {
    let source: PixelSize
    let target: PixelSize
    let part: FramePart?
    let layout: PixelLayout
    let drawn: PixelLayout
    let orientation: ImageOrientation
    let stored: ChromaPosition
    let siting: ChromaPosition
    let filter: ResampleFilter
  }

  private let kernels: PixelKernels
  private let cpuMask: CPUFeatures
  private var geometry: Geometry?
  /// One per plane, `nil` for a plane whose samples are moved; `nil` if the geometry can't be resampled.
  private var passes: [Resampler?]?
  /// Takes the samples of packed frames.
  private var unpacker: FrameUnpacker?

  /// Creates a pass. It allocates when the first frame is drawn.
  ///
  /// - Parameter cpuMask: The CPU levels that may be used.
  public init(cpuMask: CPUFeatures = .all) {
    self.cpuMask = cpuMask
    kernels = cpuMask == .all ? .best : PixelKernels(cpuMask: cpuMask)
  }

  /// Moves every sample of `source` to where `orientation` puts it: exact, and nothing is rescaled.
  ///
  /// - Throws: `size` if `target` isn't `source` turned, in layout and size; `layout` if one of them is packed.
  public func move(
    _ source: PlaneSet, by orientation: ImageOrientation, onto target: MutablePlaneSet
  ) throws(PixelKernelsError) {
    guard !source.layout.isPacked, !target.layout.isPacked else {
      throw PixelKernelsError(code: .layout, message: "packed samples can't be moved: draw them")
    }
    guard source.layout.planes.count == target.layout.planes.count else {
      throw PixelKernelsError(
        code: .layout,
        message: "\(source.count) planes don't fit \(target.count)")
    }
    for index in 0..<source.count {
      try kernels.turn(
        source[index], by: orientation, into: target[index],
        elementSize: source.layout.planes[index].elementSize)
    }
  }

  /// Draws the whole of `source` onto `target`, turned, and rescaled where the sizes differ.
  ///
  /// - Parameters:
  ///   - source: The planes to read.
  ///   - orientation: The turn from `source` to `target`.
  ///   - target: The planes to fill. Their layout is the source's, turned; or has other subsampling of the same planes,
  ///     such as 4:2:0 of 4:2:2.
  ///   - stored: Where chroma is in the source.
  ///   - siting: Where chroma is in the target.
  ///   - filter: The kernel that is used if the sizes differ.
  ///   - part: The part of a frame that `target` is, as if the whole frame were drawn; `nil` for the whole.
  /// - Returns: `false` if that can't be done in one pass: other layouts, samples that `Resampler` doesn't
  ///   read, a size that shrinks too far. Nothing is written then.
  /// - Throws: The errors of `move`.
  public func draw(
    _ source: PlaneSet, turned orientation: ImageOrientation, onto target: MutablePlaneSet,
    stored: ChromaPosition = .left, siting: ChromaPosition = .left,
    filter: ResampleFilter = .bicubic, part: FramePart? = nil
  ) throws(PixelKernelsError) -> Bool {
    let turned = source.layout.turned(orientation)
    guard turned == target.layout || turned.isLike(target.layout) else { return false }
    let source = try unpacked(source)
    if part == nil, turned == target.layout, orientation.applied(to: source.size) == target.size {
      try move(source, by: orientation, onto: target)
      return true
    }
    let wanted = Geometry(
      source: source.size, target: target.size, part: part, layout: source.layout,
      drawn: target.layout,
      orientation: orientation, stored: stored, siting: siting, filter: filter)
    if wanted != geometry {
      passes = makePasses(wanted)
      geometry = wanted
    }
    guard let passes else { return false }
    for (index, pass) in passes.enumerated() {
      if let pass {
        try pass.resample(source[index], into: target[index])
      } else {
        try kernels.turn(
          source[index], by: orientation, into: target[index],
          elementSize: source.layout.planes[index].elementSize)
      }
    }
    return true
  }

  /// The frame in planes of whole elements.
  private func unpacked(_ source: PlaneSet) throws(PixelKernelsError) -> PlaneSet {
    guard source.layout.isPacked else { return source }
    if let unpacker, unpacker.size == source.size {
      return try unpacker.unpack(source, kernels)
    }
    let made = try FrameUnpacker(source.size)
    unpacker = made
    return try made.unpack(source, kernels)
  }

  private func makePasses(_ geometry: Geometry) -> [Resampler?]? {
    let (from, to) = (geometry.layout, geometry.drawn)
    guard from.isResampled else { return nil }
    let turned = from.turned(geometry.orientation)
    let isMoved =
      geometry.part == nil
      && geometry.orientation.applied(to: geometry.source) == geometry.target
    var made: [Int: Resampler] = [:]
    return try? from.planes.indices.map { index in
      let plane = from.planes[index]
      if isMoved, turned.planes[index] == to.planes[index] { return nil }
      // Planes that are alike share one.
      if let same = made.keys.first(where: { from.planes[$0] == plane }), let pass = made[same] {
        return pass
      }
      let pass = try Resampler(
        source: Self.grids(geometry.source, from, plane, geometry.stored),
        destination: Self.grids(geometry, to.planes[index]),
        orientation: geometry.orientation, filter: geometry.filter,
        element: from.element(of: plane), cpuMask: cpuMask)
      made[index] = pass
      return pass
    }
  }

  /// Where the samples of a plane of the target are.
  private static func grids(
    _ geometry: Geometry, _ plane: PixelLayout.Plane
  ) -> (x: SampleGrid, y: SampleGrid) {
    let (layout, siting) = (geometry.drawn, geometry.siting)
    guard let part = geometry.part else { return grids(geometry.target, layout, plane, siting) }
    var (x, y) = grids(part.frame, layout, plane, siting)
    let count = layout.size(of: plane, in: geometry.target)
    // What isn't in the frame is refused as a wrong part.
    func range(_ first: Int, _ count: Int) -> Range<Int> {
      let first = min(max(-1, first), 1 << 17)
      return first..<first + count
    }
    x.part = range(part.x >> plane.shiftX, count.width)
    y.part = range(part.y >> plane.shiftY, count.height)
    return (x, y)
  }

  /// Where the samples of a plane are in a frame of `size`.
  private static func grids(
    _ size: PixelSize, _ layout: PixelLayout, _ plane: PixelLayout.Plane, _ siting: ChromaPosition
  ) -> (x: SampleGrid, y: SampleGrid) {
    let place = layout.transform(of: plane, siting: siting)
    let count = layout.size(of: plane, in: size)
    return (
      SampleGrid(count.width, length: Double(size.width) / place.a, shift: place.tx / place.a),
      SampleGrid(count.height, length: Double(size.height) / place.d, shift: place.ty / place.d)
    )
  }
}
