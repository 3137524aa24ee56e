internal import CUprightKernels
public import UprightOrientation

/// Rotates and rescales planes of one geometry in one pass. It is created once and used for every frame.
///
/// The result is that of rotating the plane and then rescaling it, within the rounding, as libswscale's with its accurate
/// rounding: only the last bit may differ from the exact filter. Resampling doesn't allocate memory.
///
/// Used by one thread at a time, because it owns its working memory.
@safe public final class Resampler {
  /// What an element of a plane consists of: interleaved samples of equal form.
  public struct Element: Sendable, Hashable {
    /// The number of samples: 1, 2 for NV12's and P010's chroma, or 4 of one byte for RGBA.
    public var components: Int
    /// The bytes of a sample, 1 or 2 (in the CPU's byte order).
    public var size: Int
    /// The bits of a sample: 8 in one byte, 9...12 in two. A larger sample is read as the largest.
    public var depth: Int
    /// The unused bits below a sample of two bytes: 6 in P010. They are not read, and written as 0.
    public var shift: Int

    /// Describes an element; without arguments, one of 8 bits.
    public init(components: Int = 1, size: Int = 1, depth: Int = 8, shift: Int = 0) {
      (self.components, self.size, self.depth, self.shift) = (components, size, depth, shift)
    }

    /// Whether such elements can be resampled.
    var isResampled: Bool {
      switch (components, size) {
      case (1, 1), (2, 1), (4, 1):
        depth == 8 && shift == 0
      case (1, 2), (2, 2):
        (9...Int(UPRIGHT_RESAMPLE_MAX_DEPTH)).contains(depth) && (0...16 - depth).contains(shift)
      default: false
      }
    }

    fileprivate func check() throws(PixelKernelsError) {
      guard isResampled else {
        throw PixelKernelsError(
          code: .elementSize,
          message: "\(components) samples of \(depth) bits above \(shift) in \(size) bytes: "
            + "use 1, 2 or 4 samples of 8 bits in 1 byte, or 1 or 2 of 9 to 12 bits in 2")
      }
    }
  }

  private let plan: upright_resampling
  private let run: upright_resample_fn
  private let scratch: UnsafeMutableRawPointer
  private let down: BankStorage
  private let across: BankStorage
  private let destination: (width: Int, height: Int)
  private let elementSize: Int

  /// Creates a resampler for planes of these sizes.
  ///
  /// - Parameters:
  ///   - source: The plane as it is stored, along its rows (x) and its columns (y).
  ///   - destination: The plane that is written, upright, or of which a part is.
  ///   - orientation: The orientation that makes the source upright.
  ///   - filter: The filter kernel for both axes.
  ///   - element: What an element of both planes consists of.
  ///   - cpuMask: The CPU levels that may be used.
  /// - Throws: `elementSize` for other elements; `size` for grids without samples or lengths, or with a part that they don't
  ///   have, and if one axis
  ///   is scaled down so far (30 times with `bicubic`) that a filter has more than 127 coefficients.
  public init(
    source: (x: SampleGrid, y: SampleGrid), destination: (x: SampleGrid, y: SampleGrid),
    orientation: ImageOrientation, filter: ResampleFilter, element: Element = Element(),
    cpuMask: CPUFeatures = .all
  ) throws(PixelKernelsError) {
    try element.check()
    guard [source.x, source.y, destination.x, destination.y].allSatisfy(\.isValid) else {
      throw PixelKernelsError(
        code: .size,
        message:
          "an axis must have 1 to 65536 samples, a length within 1 of that, and a part of them")
    }
    let swapsAxes = orientation.swapsAxes
    let (alongY, alongX) =
      swapsAxes ? (destination.x, destination.y) : (destination.y, destination.x)
    try Self.checkRatio(source.y, alongY, filter)
    try Self.checkRatio(source.x, alongX, filter)
    down = BankStorage(
      FilterBank(
        from: source.y, to: alongY, filter: filter, isReversed: orientation.reversesColumns,
        startsEven: false))
    across = BankStorage(
      FilterBank(
        from: source.x, to: alongX, filter: filter, isReversed: orientation.reversesRows,
        startsEven: true))
    var plan = unsafe Self.plan(
      width: source.x.count, height: source.y.count, swapsAxes: swapsAxes, element, down, across)
    unsafe scratch = .allocate(byteCount: upright_resample_scratch(&plan), alignment: 64)
    unsafe upright_resample_prepare(&plan, scratch)
    unsafe run = upright_resampler(cpuMask.rawValue)
    unsafe self.plan = plan
    self.destination = (destination.x.written.count, destination.y.written.count)
    elementSize = element.components * element.size
  }

  private static func plan(
    width: Int, height: Int, swapsAxes: Bool, _ element: Element, _ down: BankStorage,
    _ across: BankStorage
  ) -> upright_resampling {
    var plan = unsafe upright_resampling()
    unsafe plan.width = width
    unsafe plan.height = height
    unsafe plan.down = down.bank
    unsafe plan.across = across.bank
    unsafe plan.swaps_axes = swapsAxes ? 1 : 0
    unsafe plan.components = element.components
    unsafe plan.component_size = element.size
    unsafe plan.bit_depth = Int32(element.depth)
    unsafe plan.bit_shift = Int32(element.shift)
    unsafe upright_resample_measure(&plan)
    return unsafe plan
  }

  deinit { unsafe scratch.deallocate() }

  /// Writes `source`, rotated and rescaled, to `destination`.
  ///
  /// - Parameters:
  ///   - source: A plane of the size that this was created for, in elements.
  ///   - destination: A plane of the size that this was created for. It must not overlap `source`.
  /// - Throws: `size` for planes of other sizes; `layout`.
  /// - Complexity: O(source samples x coefficients of the vertical kernel + destination samples x
  ///   coefficients of the horizontal one).
  public func resample(
    _ source: PlaneView, into destination: MutablePlaneView
  ) throws(PixelKernelsError) {
    try unsafe source.check(width: plan.width, height: plan.height)
    try destination.check(width: self.destination.width, height: self.destination.height)
    try source.check(elementSize: elementSize)
    try destination.check(elementSize: elementSize)
    unsafe withUnsafePointer(to: plan) { plan in
      unsafe run(
        plan, destination.bytes, destination.stride, source.bytes, source.stride, scratch)
    }
  }

  private static func checkRatio(
    _ source: SampleGrid, _ destination: SampleGrid, _ filter: ResampleFilter
  ) throws(PixelKernelsError) {
    let radius = filter.radius(scale: source.length / destination.length)
    guard 2 * radius + 2 <= 127 else {
      throw PixelKernelsError(
        code: .size,
        message: "\(source.count) to \(destination.count) samples: too large a ratio for \(filter)")
    }
  }
}

/// A filter bank in separate memory, in the layout of the kernels.
@safe private final class BankStorage {
  let bank: upright_filter_bank
  private let starts: UnsafeMutablePointer<UInt32>
  private let counts: UnsafeMutablePointer<UInt32>
  private let coefficients: UnsafeMutablePointer<Int16>

  init(_ filters: FilterBank) {
    let count = filters.rows.count
    let capacity = (filters.longest + 1) / 2 * 2
    unsafe starts = .allocate(capacity: count)
    unsafe counts = .allocate(capacity: count)
    unsafe coefficients = .allocate(capacity: count * capacity)
    unsafe coefficients.initialize(repeating: 0, count: count * capacity)
    for (index, row) in filters.rows.enumerated() {
      unsafe (starts + index).initialize(to: UInt32(row.start))
      unsafe (counts + index).initialize(to: UInt32(row.coefficients.count))
      for (place, coefficient) in row.coefficients.enumerated() {
        unsafe coefficients[index * capacity + place] = coefficient
      }
    }
    unsafe bank = upright_filter_bank(
      count: count, capacity: capacity, starts: starts, counts: counts, coefficients: coefficients)
  }

  deinit {
    unsafe starts.deallocate()
    unsafe counts.deallocate()
    unsafe coefficients.deallocate()
  }
}

extension ImageOrientation {
  /// Whether a row's first sample is right of, or below, its last one in the result.
  fileprivate var reversesRows: Bool {
    [.upMirrored, .down, .rightMirrored, .left].contains(self)
  }

  /// Whether a column's first sample is right of, or below, its last one in the result.
  fileprivate var reversesColumns: Bool {
    [.down, .downMirrored, .right, .rightMirrored].contains(self)
  }
}
