public import UprightOrientation

/// The planes of a frame, to be written. Borrows the memory, as `MutablePlaneView` does.
public struct MutablePlaneSet {
  /// How the samples are stored.
  public let layout: PixelLayout
  /// The frame's size in pixels.
  public let size: PixelSize
  private var planes = PlaneList<MutablePlaneView>()

  /// A frame of `size`, of which each plane starts at an address and has a stride in bytes.
  ///
  /// - Parameters:
  ///   - layout: How the samples are stored.
  ///   - size: The frame's size in pixels.
  ///   - planes: As many as the layout has; a stride may be negative, for rows stored bottom-up.
  /// - Returns: `nil` if the layout isn't valid, or has another number of planes.
  public init?(
    _ layout: PixelLayout, size: PixelSize,
    _ planes: (start: UnsafeMutableRawPointer, stride: Int)...
  ) {
    self.init(layout, size: size)
    guard layout.isValid, unsafe planes.count == layout.planes.count else { return nil }
    for index in layout.planes.indices {
      unsafe append(planes[index].start, stride: planes[index].stride)
    }
  }

  /// The planes of a frame that is only read.
  init(reading source: PlaneSet) { self = source.planes }

  /// A frame without planes; `append` adds them.
  package init(_ layout: PixelLayout, size: PixelSize) {
    self.layout = layout
    self.size = size
  }

  /// Adds the next plane. There must be fewer than the layout has.
  package mutating func append(_ start: UnsafeMutableRawPointer, stride: Int) {
    let size = layout.size(of: layout.planes[planes.count], in: size)
    planes.append(
      unsafe MutablePlaneView(start, stride: stride, width: size.width, height: size.height))
  }

  /// The number of planes.
  public var count: Int { planes.count }

  /// The plane at `index`, counted in elements.
  public subscript(index: Int) -> MutablePlaneView { planes[index] }

  /// Checks that no rows overlap and that every plane is addressable.
  ///
  /// - Throws: `layout`.
  package func check() throws(PixelKernelsError) {
    for index in 0..<count {
      try planes[index].check(elementSize: layout.planes[index].elementSize)
    }
  }

  /// The part of the frame in `rect`.
  ///
  /// - Returns: `nil` if the rectangle isn't inside the frame. Its corner must be a multiple of the layout's
  ///   `alignment`.
  public func window(_ rect: PixelRect) -> MutablePlaneSet? {
    guard rect.x >= 0, rect.y >= 0, rect.width > 0, rect.height > 0,
      rect.width <= size.width - rect.x, rect.height <= size.height - rect.y
    else { return nil }
    var window = MutablePlaneSet(layout, size: rect.size)
    for (plane, view) in zip(layout.planes, planes) {
      let offset =
        (rect.y >> plane.shiftY) * view.stride + (rect.x >> plane.shiftX) * plane.elementSize
      unsafe window.append(view.base + offset, stride: view.stride)
    }
    return window
  }
}

/// The planes of a frame, to be read. Borrows the memory, as `PlaneView` does.
public struct PlaneSet {
  /// The same as memory to write, which nobody does.
  fileprivate let planes: MutablePlaneSet

  /// A frame of `size`, of which each plane starts at an address and has a stride in bytes.
  ///
  /// - Parameters:
  ///   - layout: How the samples are stored.
  ///   - size: The frame's size in pixels.
  ///   - planes: As many as the layout has; a stride may be negative, for rows stored bottom-up.
  /// - Returns: `nil` if the layout isn't valid, or has another number of planes.
  public init?(
    _ layout: PixelLayout, size: PixelSize, _ planes: (start: UnsafeRawPointer, stride: Int)...
  ) {
    guard layout.isValid, unsafe planes.count == layout.planes.count else { return nil }
    var all = MutablePlaneSet(layout, size: size)
    for index in layout.planes.indices {
      unsafe all.append(
        UnsafeMutableRawPointer(mutating: planes[index].start), stride: planes[index].stride)
    }
    self.planes = all
  }

  /// The same frame, to be read.
  public init(_ planes: MutablePlaneSet) { self.planes = planes }

  /// How the samples are stored.
  public var layout: PixelLayout { planes.layout }
  /// The frame's size in pixels.
  public var size: PixelSize { planes.size }
  /// The number of planes.
  public var count: Int { planes.count }
  /// The plane at `index`, counted in elements.
  public subscript(index: Int) -> PlaneView { PlaneView(planes[index]) }

  /// Checks that no rows overlap and that every plane is addressable.
  ///
  /// - Throws: `layout`.
  package func check() throws(PixelKernelsError) { try planes.check() }

  /// The part of the frame in `rect`; `nil` if the rectangle isn't inside the frame.
  public func window(_ rect: PixelRect) -> PlaneSet? { planes.window(rect).map(PlaneSet.init) }
}
