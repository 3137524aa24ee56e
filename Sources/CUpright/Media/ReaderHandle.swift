// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightFrames
internal import UprightKernels
internal import UprightMedia

/// `upright_reader`.
private final class ReaderHandle: HandleObject {
  static let name = "upright_reader"

  let reader: UprightReader
  /// What the caller's struct points to. Used by one call at a time.
  private var last: UprightFrame?

  init(_ input: String, _ options: inout OptionReader) throws(UprightError) {
    let policy = try PolicyDocument(option: options.json("policy"))
    let events = try EventSource(policy, option: options.json("events"))
    let format = try options.text("input-format")
    let pixels = try options.parsed("pixels", FramePixels.init(parsing:)) ?? .native
    let layout = try TranscodeOptions(&options)
    try options.finish()
    reader = try UprightReader(
      input, inputFormat: format, pixels: pixels, options: layout, policy: policy, events: events)
  }

  func close() { reader.close() }

  func keep() throws(UprightError) -> KeptFrame {
    guard let last else {
      throw UprightError(
        .misuse, "no frame was read", at: Self.name, remedy: "call upright_reader_next first")
    }
    return KeptFrame(last)
  }

  func next(into result: inout upright_read_frame) throws(UprightError) -> upright_status {
    guard let frame = try reader.next() else { return Status.end }
    guard let pixels = PixelFormats.number(of: frame.format.layout) else {
      throw UprightError(
        .unavailable, "frames in \(frame.pixels)", at: "pixels", remedy: "ask for yuv420p")
    }
    result.set(frame, pixels)
    last = frame
    return Status.ok
  }
}

/// `upright_kept_frame`.
private final class KeptFrame: HandleObject {
  static let name = "upright_kept_frame"

  private let frame: UprightFrame

  init(_ frame: UprightFrame) { self.frame = frame }
}

extension upright_read_frame {
  /// The caller's struct, whose size is kept.
  fileprivate mutating func set(_ read: UprightFrame, _ pixels: Int32) {
    let size = self.size
    self = upright_read_frame()
    self.size = size
    changed = read.changed ? 1 : 0
    turn = Int32(read.turn.exif)
    app_orientation = Int32(read.appOrientation.rawValue)
    primaries = Int32(clamping: read.colour.primaries)
    transfer = Int32(clamping: read.colour.transfer)
    writable = read.isWritable ? 1 : 0
    seconds = read.time.seconds
    duration = read.duration
    frame.size = MemoryLayout<upright_frame>.size
    frame.pixels = pixels
    frame.width = Int32(clamping: read.size.width)
    frame.height = Int32(clamping: read.size.height)
    frame.chroma = read.format.chroma.number
    frame.matrix = Int32(clamping: read.colour.matrix)
    frame.full_range = read.colour.isFullRange ? 1 : 0
    frame.sample_aspect_ratio = upright_rational(numerator: 1, denominator: 1)
    frame.pts = read.pts
    frame.time_base = upright_rational(
      numerator: Int32(clamping: read.timeBase.numerator),
      denominator: Int32(clamping: read.timeBase.denominator))
    frame.orientation = 1
    let planes = read.planes
    for index in 0..<planes.count {
      let start = unsafe UnsafeMutablePointer(
        mutating: planes[index].base.assumingMemoryBound(to: UInt8.self))
      unsafe frame.set(index, start, planes[index].stride)
    }
  }
}

extension upright_frame {
  fileprivate mutating func set(_ index: Int, _ start: UnsafeMutablePointer<UInt8>, _ stride: Int) {
    switch index {
    case 0: unsafe (planes.0, strides.0) = (start, stride)
    case 1: unsafe (planes.1, strides.1) = (start, stride)
    case 2: unsafe (planes.2, strides.2) = (start, stride)
    default: unsafe (planes.3, strides.3) = (start, stride)
    }
  }
}

@c @implementation
public func upright_reader_new(
  _ input: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?,
  _ reader: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(reader, "reader")
    var options = unsafe try CUprightPolicy.options(options)
    let made = unsafe try ReaderHandle(required(input, "input"), &options)
    unsafe result.pointee = try HandleTable.shared.add(made)
    return Status.ok
  }
}

@c @implementation
public func upright_reader_free(_ reader: OpaquePointer?) -> upright_status {
  unsafe free(reader, ReaderHandle.self)
}

/// Runs a call that uses a reader.
private func use(
  _ reader: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (ReaderHandle) throws(UprightError) -> upright_status
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    unsafe try HandleTable.shared.use(reader, as: ReaderHandle.self, .main, body)
  }
}

@c @implementation
public func upright_reader_next(
  _ reader: OpaquePointer?, _ frame: UnsafeMutablePointer<upright_read_frame>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(reader, error) { (handle) throws(UprightError) in
    guard let frame = unsafe frame else { throw .missing("frame") }
    guard unsafe frame.pointee.size >= MemoryLayout<upright_read_frame>.size else {
      throw .unprepared("frame")
    }
    return unsafe try handle.next(into: &frame.pointee)
  }
}

@c @implementation
public func upright_reader_keep(
  _ reader: OpaquePointer?, _ kept: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(reader, error) { (handle) throws(UprightError) in
    let result = unsafe try result(kept, "kept")
    unsafe result.pointee = try HandleTable.shared.add(handle.keep())
    return Status.ok
  }
}

@c @implementation
public func upright_kept_frame_free(_ kept: OpaquePointer?) -> upright_status {
  unsafe free(kept, KeptFrame.self)
}

@c @implementation
public func upright_reader_seek(
  _ reader: OpaquePointer?, _ seconds: Double, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(reader, error) { (handle) throws(UprightError) in
    try handle.reader.seek(to: seconds)
    return Status.ok
  }
}

@c @implementation
public func upright_reader_warnings(
  _ reader: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(reader, error) { (handle) throws(UprightError) in
    let result = unsafe try result(json, "json")
    unsafe result.pointee = owned(
      JSONValue.array(handle.reader.warnings.map(JSONValue.string)).text)
    return Status.ok
  }
}
