// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
package import UprightOrientation
internal import UprightKernels
internal import UprightFrames

/// `upright_frames`.
private final class FramesHandle: HandleObject {
  static let name = "upright_frames"

  let adapter: FrameAdapter
  private var last: (layout: FrameLayout, pixels: Int32)?

  /// The number of the pixel format that the caller asked for.
  private let asked: Int32?

  init(_ options: AdapterOptions, _ pixels: FramePixels) throws(UprightError) {
    adapter = try FrameAdapter(options, pixels: pixels)
    asked = pixels.layout.flatMap(PixelFormats.number(of:))
  }

  func layout(
    _ frame: upright_frame, into result: inout upright_layout, peeks: Bool = false
  ) throws(UprightError) {
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
    let time = MediaTime(frame.pts, Rational(frame.time_base))
    let layout =
      peeks
      ? try adapter.peek(of: format, at: time, signal: signal)
      : try adapter.layout(of: format, at: time, signal: signal)
    let pixels =
      asked ?? PixelFormats.drawn(frame.pixels, isTransposed: layout.turn.swapsAxes)
    result.set(layout, pixels)
    result.changed = last?.layout.target == layout.target ? 0 : 1
    if !peeks { last = (layout, pixels) }
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
      format.colour = ColourCoding(matrix: matrix, isFullRange: full_range != 0)
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
    is_identity = layout.isIdentity ? 1 : 0
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
    let pixels = try reader.parsed("pixels", FramePixels.init(parsing:)) ?? .native
    try reader.finish()
    unsafe result.pointee = try HandleTable.shared.add(FramesHandle(chosen, pixels))
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
  unsafe layOut(frames, frame, layout, error, peeks: false)
}

@c @implementation
public func upright_frames_peek(
  _ frames: OpaquePointer?, _ frame: UnsafePointer<upright_frame>?,
  _ layout: UnsafeMutablePointer<upright_layout>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe layOut(frames, frame, layout, error, peeks: true)
}

private func layOut(
  _ frames: OpaquePointer?, _ frame: UnsafePointer<upright_frame>?,
  _ layout: UnsafeMutablePointer<upright_layout>?, _ error: UnsafeMutablePointer<upright_error>?,
  peeks: Bool
) -> upright_status {
  unsafe use(frames, .main, error) { (handle) throws(UprightError) in
    let frame = unsafe try prepared(frame, "frame")
    guard let layout = unsafe layout else { throw .missing("layout") }
    // A program that was compiled before `is_identity` has a shorter struct.
    let size = unsafe layout.pointee.size
    guard size >= MemoryLayout<upright_layout>.offset(of: \.is_identity) ?? .max else {
      throw .unprepared("layout")
    }
    var result = upright_layout()
    result.size = size
    try handle.layout(frame, into: &result, peeks: peeks)
    unsafe withUnsafePointer(to: &result) {
      unsafe UnsafeMutableRawPointer(layout).copyMemory(
        from: $0, byteCount: min(size, MemoryLayout<upright_layout>.size))
    }
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
