public import UprightOrientation
public import UprightKernels
public import UprightFrames
public import UprightMediaIO
internal import UprightMedia

/// A decoded frame, upright. Its memory is shared by all copies, and is only read.
public struct UprightFrame: Sendable {
  /// The pixel format by libavutil's name, such as `yuv420p10le`.
  public let pixels: String
  /// The layout of the planes, the size, the chroma position, and the matrix and range of YUV samples. Pixels
  /// are square.
  public let format: FrameFormat
  /// The code points of the colour.
  public let colour: ColourCodes
  /// The presentation time in ticks of the input. The clocks of MPEG-TS are joined, and begin at zero.
  public let pts: Int64
  /// The duration in ticks; 0 if unknown.
  public let duration: Int64
  /// Seconds per tick.
  public let timeBase: Rational
  /// The time on the media timeline, whose zero is the first frame of the input.
  public let time: MediaTime
  /// What turned the stored frame upright.
  public let turn: ImageOrientation
  /// The orientation of the app, which the policy decides.
  public let appOrientation: InterfaceOrientation
  /// Whether an encoder of the frames has to be opened anew: at the first frame, and where the size, the pixel
  /// format, the range or the chroma position differ from the last frame's.
  public let changed: Bool
  private let memory: SharedFrame

  /// What an encoder depends on.
  struct Kind: Equatable {
    let size: PixelSize
    let format: PixelFormat
    let isFullRange: Bool
    let chroma: ChromaPosition

    init(_ frame: borrowing VideoFrame) {
      (size, format) = (frame.size, frame.format)
      isFullRange = format.isRGB || frame.colour.isFullRange
      chroma = format.isRGB ? .left : frame.colour.chromaPosition
    }
  }

  /// The times of a frame.
  struct Times {
    let pts: Int64
    let duration: Int64
    let timeBase: Rational
    let time: MediaTime
  }

  /// - Throws: `unavailable` if the planes don't hold whole samples.
  init(
    _ frame: consuming VideoFrame, _ kind: Kind, _ times: Times, _ direction: FrameDirection,
    changed: Bool
  ) throws(UprightError) {
    guard let layout = frame.format.layout else {
      throw UprightError(.unavailable, "frames in \(frame.format) have no planes of whole samples")
    }
    var format = FrameFormat(layout, frame.size)
    format.chroma = kind.chroma
    format.colour = frame.colour.coding
    self.format = format
    pixels = frame.format.name
    colour = ColourCodes(frame.colour, isRGB: frame.format.isRGB)
    (pts, duration) = (times.pts, times.duration)
    (timeBase, time) = (times.timeBase, times.time)
    turn = direction.turn
    appOrientation = direction.format.appOrientation
    self.changed = changed
    memory = SharedFrame(frame)
  }

  /// The size in pixels.
  public var size: PixelSize { format.size }

  /// Calls `body` with the planes, which are valid during the call only, and returns its result.
  ///
  /// - Throws: What `body` throws.
  public func withPlanes<Result, Failure: Error>(
    _ body: (PlaneSet) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(planes)
  }

  /// The planes, which are valid while the frame is.
  package var planes: PlaneSet {
    // The first is never absent: the format has a layout.
    PlaneSet(
      FrameView(memory.frame)?.planes ?? MutablePlaneSet(format.layout, size: PixelSize(0, 0)))
  }

  /// Returns the frame as a picture. HDR is tone-mapped.
  ///
  /// - Parameter size: The size of the picture, of any shape; `nil` for the frame's.
  /// - Throws: `unavailable` for HDR if libavfilter isn't installed or lacks a filter.
  public func picture(size: PixelSize? = nil) throws(UprightError) -> RGBPicture {
    try picture(size: size ?? self.size, scaler: Scaler())
  }

  func picture(size: PixelSize, scaler: Scaler) throws(UprightError) -> RGBPicture {
    guard memory.frame.colour.isHDR, memory.frame.format.bitDepth > 8 else {
      return try RGBPicture(memory.frame, size: size, scaler: scaler)
    }
    let even = PixelSize((size.width + 1) / 2 * 2, (size.height + 1) / 2 * 2)
    let mapped = try ToneMapper(like: memory.frame, size: even).mapped(memory.frame.shared())
    return try RGBPicture(mapped, size: size, scaler: scaler)
  }

  /// Whether the decoder doesn't need the memory any more, nor another frame.
  package var isWritable: Bool { memory.frame.isWritable }

  /// Returns a copy of a plane, row by row without padding.
  ///
  /// - Parameter index: 0 to one less than `format.layout.planes.count`.
  public func bytes(ofPlane index: Int) -> [UInt8] {
    let plane = planes[index]
    let row = plane.width * format.layout.planes[index].elementSize
    var bytes: [UInt8] = []
    bytes.reserveCapacity(row * plane.height)
    for y in 0..<plane.height {
      unsafe bytes.append(
        contentsOf: UnsafeRawBufferPointer(start: plane.base + y * plane.stride, count: row))
    }
    return bytes
  }
}

/// The code points of a frame's colour: ISO/IEC 23091-2, which FFmpeg has too. 2 is unspecified.
public struct ColourCodes: Sendable, Hashable {
  /// ColourPrimaries.
  public let primaries: Int
  /// TransferCharacteristics.
  public let transfer: Int
  /// MatrixCoefficients; 0 for RGB.
  public let matrix: Int
  /// Whether luma is 0...255 rather than 16...235.
  public let isFullRange: Bool

  init(_ colour: Colour, isRGB: Bool) {
    let codes = colour.codePoints
    (primaries, transfer) = (codes.primaries, codes.transfer)
    matrix = isRGB ? 0 : codes.matrix
    isFullRange = isRGB || colour.isFullRange
  }
}

extension FramePixels {
  /// libavutil's format; `nil` for that of the input.
  var format: PixelFormat? { name.flatMap(PixelFormat.init(name:)) }
}
