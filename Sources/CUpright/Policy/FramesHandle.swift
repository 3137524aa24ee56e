// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
package import UprightOrientation
package import UprightKernels
internal import UprightFrames

/// `upright_frames`.
private final class FramesHandle: HandleObject {
  static let name = "upright_frames"

  let adapter: FrameAdapter
  private var last: (layout: FrameLayout, pixels: Int32)?

  init(_ options: AdapterOptions) throws(UprightError) { adapter = try FrameAdapter(options) }

  func layout(_ frame: upright_frame, into result: inout upright_layout) throws(UprightError) {
    let format = try frame.format
    guard frame.time_base.numerator > 0, frame.time_base.denominator > 0 else {
      throw UprightError(
        .usage, "the time base is not positive", at: "time_base", remedy: "give seconds per tick")
    }
    guard frame.orientation >= 0, frame.orientation <= 8 else {
      throw UprightError(
        .usage, "\(frame.orientation) is not an orientation", at: "orientation",
        remedy: "give 1 to 8 as in EXIF, or 0")
    }
    let signal = ImageOrientation(exif: Int(frame.orientation)).map(DisplayTurn.init)
    let layout = try adapter.layout(
      of: format, at: MediaTime(frame.pts, Rational(frame.time_base)), signal: signal)
    let pixels = layout.turn.swapsAxes ? PixelFormats.transposed(frame.pixels) : frame.pixels
    result.set(layout, pixels)
    result.changed = last?.layout.target == layout.target ? 0 : 1
    last = (layout, pixels)
  }

  func draw(_ source: upright_frame, _ target: upright_frame) throws(UprightError) {
    guard let layout = last?.layout else {
      throw UprightError(.misuse, "there is no layout", remedy: "call upright_frames_layout first")
    }
    try adapter.draw(
      PlaneSet(source.planeSet("source")), layout, into: target.planeSet("target"))
  }
}

extension Rational {
  package init(_ fraction: upright_rational) {
    self.init(Int(fraction.numerator), Int(fraction.denominator))
  }
}

/// The layouts of `UPRIGHT_I420` and the others.
package enum PixelFormats {
  /// Made once: a layout holds arrays, and frames don't allocate.
  private static let layouts: [PixelLayout?] = {
    var layouts = [PixelLayout?](repeating: nil, count: UPRIGHT_GRAY_10 + 1)
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
    layouts[UPRIGHT_RGB24] = PixelLayout(
      planes: [.init(elementSize: 3)], components: (0..<3).map { .init(plane: 0, offset: $0) },
      isRGB: true)
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

  /// The format after a quarter turn.
  static func transposed(_ pixels: Int32) -> Int32 {
    switch Int(pixels) {
    case UPRIGHT_I422, UPRIGHT_I422_10, UPRIGHT_I422_12: pixels + 1
    case UPRIGHT_I440, UPRIGHT_I440_10, UPRIGHT_I440_12: pixels - 1
    default: pixels
    }
  }
}

extension ChromaPosition {
  /// The position of `UPRIGHT_CHROMA_...`; `nil` for other numbers.
  fileprivate init?(_ number: Int32) {
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
  /// The matrix of MatrixCoefficients (ISO/IEC 23091-2, 8.3); `nil` for others.
  fileprivate init?(matrix: Int32, isFullRange: Bool) {
    switch matrix {
    case 0, 2, 5, 6: self = .bt601
    case 1: self = .bt709
    case 9: self = .bt2020
    default: return nil
    }
    self.isFullRange = isFullRange
  }
}

extension upright_frame {
  private static let longestSide: Int32 = 65535

  private func layout() throws(UprightError) -> PixelLayout {
    guard let layout = PixelFormats.layout(pixels) else {
      throw UprightError(
        .usage, "\(pixels) is not a format of pixels", at: "pixels",
        remedy: "give one of UPRIGHT_I420, UPRIGHT_NV12, ...")
    }
    guard width >= 1, width <= Self.longestSide, height >= 1, height <= Self.longestSide else {
      throw UprightError(
        .usage, "a frame of \(width)x\(height)", at: "width and height",
        remedy: "give 1 to \(Self.longestSide) pixels")
    }
    return layout
  }

  /// The format of the frame.
  fileprivate var format: FrameFormat {
    get throws(UprightError) {
      var format = FrameFormat(try layout(), PixelSize(Int(width), Int(height)))
      guard let chroma = ChromaPosition(chroma) else {
        throw UprightError(
          .usage, "\(chroma) is not a position of chroma", at: "chroma",
          remedy: "give one of UPRIGHT_CHROMA_LEFT, ...")
      }
      format.chroma = chroma
      guard let colour = ColourCoding(matrix: matrix, isFullRange: full_range != 0) else {
        throw UprightError(
          .usage, "\(matrix) is not a supported matrix", at: "matrix", remedy: "give 1, 5, 6 or 9")
      }
      format.colour = colour
      let ratio = sample_aspect_ratio
      guard ratio.numerator >= 0, ratio.denominator >= 0 else {
        throw UprightError(
          .usage, "the aspect ratio is negative", at: "sample_aspect_ratio",
          remedy: "give width and height of a pixel")
      }
      format.sampleAspectRatio = Rational(ratio).asSampleAspectRatio
      return format
    }
  }

  /// The planes, borrowed.
  ///
  /// - Throws: `usage` if one is missing.
  fileprivate func planeSet(_ name: String) throws(UprightError) -> MutablePlaneSet {
    let layout = try layout()
    var set = MutablePlaneSet(layout, size: PixelSize(Int(width), Int(height)))
    for index in layout.planes.indices {
      let (start, stride) =
        switch index {
        case 0: unsafe (planes.0, strides.0)
        case 1: unsafe (planes.1, strides.1)
        case 2: unsafe (planes.2, strides.2)
        default: unsafe (planes.3, strides.3)
        }
      guard let start = unsafe start else {
        throw UprightError(
          .usage, "plane \(index) is NULL", at: name, remedy: "give \(layout.planes.count) planes")
      }
      unsafe set.append(start, stride: stride)
    }
    return set
  }
}

extension upright_layout {
  /// The caller's struct, whose size is kept.
  fileprivate mutating func set(_ layout: FrameLayout, _ pixels: Int32) {
    self.pixels = pixels
    width = Int32(clamping: layout.target.size.width)
    height = Int32(clamping: layout.target.size.height)
    chroma = layout.target.chroma.number
    turn = Int32(layout.turn.exif)
    app_orientation = Int32(layout.format.appOrientation.rawValue)
    capture_enabled = layout.isCaptureEnabled ? 1 : 0
    capture_width = Int32(clamping: layout.format.captureResolution.width)
    capture_height = Int32(clamping: layout.format.captureResolution.height)
    let (from, to) = (layout.placement.sourceRect, layout.placement.canvasRect)
    source_rect = (
      Int32(clamping: from.x), Int32(clamping: from.y), Int32(clamping: from.width),
      Int32(clamping: from.height)
    )
    target_rect = (
      Int32(clamping: to.x), Int32(clamping: to.y), Int32(clamping: to.width),
      Int32(clamping: to.height)
    )
    let matrix = layout.placement.transform
    transform = (matrix.a, matrix.b, matrix.c, matrix.d, matrix.tx, matrix.ty)
  }
}

@c @implementation
public func upright_frames_new(
  _ policy: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?,
  _ frames: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(frames, "frames")
    var reader = unsafe try CUprightPolicy.options(options)
    let chosen = try AdapterOptions(unsafe CUprightPolicy.policy(policy), &reader)
    try reader.finish()
    unsafe result.pointee = try HandleTable.shared.add(FramesHandle(chosen))
    return Status.ok
  }
}

@c @implementation
public func upright_frames_free(_ frames: OpaquePointer?) -> upright_status {
  unsafe free(frames, FramesHandle.self)
}

/// Runs a call that uses frames.
private func use(
  _ frames: OpaquePointer?, _ part: HandlePart, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (FramesHandle) throws(UprightError) -> Void
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    unsafe try HandleTable.shared.use(frames, as: FramesHandle.self, part, body)
    return Status.ok
  }
}

extension EventInbox {
  /// Posts one event at a time in seconds, or now if it is NaN.
  fileprivate func post(_ action: RotationEvent.Action, at seconds: Double) throws(UprightError) {
    try post([seconds.isNaN ? .now(action) : .at(seconds, action)])
  }
}

@c @implementation
public func upright_frames_events(
  _ frames: OpaquePointer?, _ lines: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(frames, .none, error) { (handle) throws(UprightError) in
    try handle.adapter.inbox.post(StreamEvent.parse(jsonLines: unsafe required(lines, "lines")))
  }
}

@c @implementation
public func upright_frames_device(
  _ frames: OpaquePointer?, _ at: Double, _ device: Int32,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(frames, .none, error) { (handle) throws(UprightError) in
    guard device >= 1, let device = DeviceOrientation(rawValue: Int(device)) else {
      throw UprightError(
        .usage, "\(device) is not an orientation of a device", at: "device",
        remedy: "give one of UPRIGHT_DEVICE_PORTRAIT, ...")
    }
    try handle.adapter.inbox.post(.device(device), at: at)
  }
}

@c @implementation
public func upright_frames_gravity(
  _ frames: OpaquePointer?, _ at: Double, _ x: Double, _ y: Double, _ z: Double,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(frames, .none, error) { (handle) throws(UprightError) in
    guard x.isFinite, y.isFinite, z.isFinite else {
      throw UprightError(.usage, "the reading is not finite", at: "gravity", remedy: "leave it out")
    }
    try handle.adapter.inbox.post(.gravity(x: x, y: y, z: z), at: at)
  }
}

@c @implementation
public func upright_frames_layout(
  _ frames: OpaquePointer?, _ frame: UnsafePointer<upright_frame>?,
  _ layout: UnsafeMutablePointer<upright_layout>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(frames, .main, error) { (handle) throws(UprightError) in
    let frame = unsafe try prepared(frame, "frame")
    guard let layout = unsafe layout else { throw .missing("layout") }
    guard unsafe layout.pointee.size >= MemoryLayout<upright_layout>.size else {
      throw .unprepared("layout")
    }
    unsafe try handle.layout(frame, into: &layout.pointee)
  }
}

@c @implementation
public func upright_frames_draw(
  _ frames: OpaquePointer?, _ source: UnsafePointer<upright_frame>?,
  _ target: UnsafePointer<upright_frame>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(frames, .main, error) { (handle) throws(UprightError) in
    unsafe try handle.draw(prepared(source, "source"), prepared(target, "target"))
  }
}

private func prepared(
  _ frame: UnsafePointer<upright_frame>?, _ name: String
) throws(UprightError) -> upright_frame {
  guard let frame = unsafe frame else { throw .missing(name) }
  guard unsafe frame.pointee.size >= MemoryLayout<upright_frame>.size else {
    throw .unprepared(name)
  }
  return unsafe frame.pointee
}

@c @implementation
public func upright_frames_decisions(
  _ frames: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(frames, .main, error) { (handle) throws(UprightError) in
    let result = unsafe try result(json, "json")
    let decisions = handle.adapter.takeDecisions()
    if decisions.isEmpty { return }
    unsafe result.pointee = owned(JSONValue.array(decisions.map(\.json)).text)
  }
}
