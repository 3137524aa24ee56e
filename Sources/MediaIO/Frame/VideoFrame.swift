internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

/// Which field of an interlaced frame was captured first: top or bottom.
package enum FieldOrder: Sendable, Hashable {
  case topFirst, bottomFirst

  /// The order after an even number of lines is flipped vertically.
  package var flipped: FieldOrder { self == .topFirst ? .bottomFirst : .topFirst }
}

/// One decoded frame, the sole owner of its `AVFrame`.
///
/// Sendable because it is the only reference: it is moved between threads, never shared. Its buffers may be
/// shared with the decoder, so a frame from a decoder is only read.
package struct VideoFrame: ~Copyable, @unchecked Sendable {
  let raw: UnsafeMutablePointer<AVFrame>
  /// Shown lines per stored line: the scale of the track's matrix.
  package var lineScale = 1.0

  init() throws(UprightError) {
    guard let raw = av_frame_alloc() else { throw outOfMemory("frame") }
    self.raw = raw
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVFrame>? = raw
    av_frame_free(&pointer)
  }

  /// The presentation timestamp in ticks of `timeBase`. `nil` if unknown.
  package var pts: Int64? {
    get { raw.pointee.pts == noTimestamp ? nil : raw.pointee.pts }
    set { raw.pointee.pts = newValue ?? noTimestamp }
  }

  /// The decoder's best estimate of the presentation timestamp.
  var bestEffortTimestamp: Int64? {
    raw.pointee.best_effort_timestamp == noTimestamp ? nil : raw.pointee.best_effort_timestamp
  }

  /// Seconds per tick.
  package var timeBase: Rational {
    get { Rational(raw.pointee.time_base) }
    set { raw.pointee.time_base = AVRational(newValue) }
  }

  /// The duration in ticks of `timeBase`. 0 if unknown.
  package var duration: Int64 {
    get { upright_frame_duration(raw) }
    set { upright_frame_set_duration(raw, newValue) }
  }

  /// The width and height of the frame in samples, cropping applied.
  package var size: PixelSize { PixelSize(Int(raw.pointee.width), Int(raw.pointee.height)) }

  /// The sample aspect ratio, width to height. 1:1 if unknown; `statesSampleAspectRatio` tells whether it is
  /// known.
  package var sampleAspectRatio: Rational {
    get {
      let ratio = raw.pointee.sample_aspect_ratio
      return ratio.num > 0 && ratio.den > 0 ? Rational(ratio) : Rational(1, 1)
    }
    set { raw.pointee.sample_aspect_ratio = AVRational(newValue) }
  }

  /// Whether the bitstream gives the sample aspect ratio.
  package var statesSampleAspectRatio: Bool {
    raw.pointee.sample_aspect_ratio.num > 0 && raw.pointee.sample_aspect_ratio.den > 0
  }

  /// The shape in which the frame is shown.
  package var shape: FrameShape {
    FrameShape(stored: size, sampleAspectRatio: sampleAspectRatio, lineScale: lineScale)
  }

  package var format: PixelFormat { PixelFormat(AVPixelFormat(raw.pointee.format)) }

  package var colour: Colour {
    get { Colour(raw) }
    set { newValue.write(to: raw) }
  }

  /// Whether the frame's odd and even lines were captured at two different times.
  package var isInterlaced: Bool { upright_frame_is_interlaced(raw) }

  /// Which field comes first. `nil` for a progressive frame.
  package var fields: FieldOrder? {
    get { isInterlaced ? (upright_frame_is_top_field_first(raw) ? .topFirst : .bottomFirst) : nil }
    set { upright_frame_set_fields(raw, newValue != nil, newValue == .topFirst) }
  }

  /// The names of the per-frame metadata in this frame that none of the encoders here can carry.
  package var dynamicMetadata: [String] {
    let kinds: [(AVFrameSideDataType, String)] = [
      (AV_FRAME_DATA_DOVI_RPU_BUFFER, "Dolby Vision metadata"),
      (AV_FRAME_DATA_DYNAMIC_HDR_PLUS, "HDR10+ metadata"),
      (AV_FRAME_DATA_DYNAMIC_HDR_VIVID, "HDR Vivid metadata"),
    ]
    return kinds.filter { av_frame_get_side_data(raw, $0.0) != nil }.map(\.1)
  }

  /// Whether the frame carries closed captions (CEA-608 or CEA-708, in ATSC A/53's user data).
  package var hasCaptions: Bool { av_frame_get_side_data(raw, AV_FRAME_DATA_A53_CC) != nil }

  /// Whether the decoder concealed damage in this frame.
  package var isDamaged: Bool {
    raw.pointee.decode_error_flags != 0 || raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  /// The display matrix attached to the frame (EXIF in MJPEG, or derived from an SEI message by libavcodec).
  package var displayMatrix: DisplayMatrix? {
    guard let side = av_frame_get_side_data(raw, AV_FRAME_DATA_DISPLAYMATRIX),
      let data = side.pointee.data, side.pointee.size >= 36
    else { return nil }
    return DisplayMatrix(bytes: data)
  }

  /// Whether the encoder must code this frame as an IDR. Otherwise the encoder decides the frame's type.
  package var forcesKeyframe: Bool {
    get { raw.pointee.pict_type == AV_PICTURE_TYPE_I }
    set { raw.pointee.pict_type = newValue ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE }
  }

  /// Converts the timestamp and the duration to `timeBase`, rounding to the nearest tick.
  package mutating func rescale(to timeBase: Rational) {
    let (from, to) = (raw.pointee.time_base, AVRational(timeBase))
    if raw.pointee.pts != noTimestamp { raw.pointee.pts = av_rescale_q(raw.pointee.pts, from, to) }
    duration = av_rescale_q(duration, from, to)
    raw.pointee.time_base = to
  }

  /// The memory of one plane.
  package struct PlaneMemory {
    /// The first sample of the first row.
    package let start: UnsafeMutablePointer<UInt8>
    /// The number of bytes from one row to the next. May be negative.
    package let stride: Int
  }

  /// Returns the memory of plane `index`. Returns `nil` if the format has no such plane.
  package func plane(_ index: Int) -> PlaneMemory? {
    guard (0..<4).contains(index), let start = upright_frame_plane(raw, CInt(index)) else {
      return nil
    }
    return PlaneMemory(start: start, stride: Int(upright_frame_stride(raw, CInt(index))))
  }

  /// Gives the frame the shape that its stream has at this frame: crops it, and sets the aspect ratio of its
  /// pixels. The corner of the crop moves to the grid of chroma, and of the fields, so that its size is kept.
  mutating func fit(_ stream: StreamShape, first: Rational?) {
    let own = statesSampleAspectRatio ? sampleAspectRatio : nil
    let shape = stream.shape(of: size, own: own, first: first)
    if let part = stream.crop(of: size) {
      let grid = format.alignment
      let lines = isInterlaced ? 2 * grid.height : grid.height
      let (x, y) = (part.x - part.x % grid.width, part.y - part.y % lines)
      raw.pointee.crop_left = x
      raw.pointee.crop_top = y
      raw.pointee.crop_right = size.width - part.width - x
      raw.pointee.crop_bottom = size.height - part.height - y
      // Without this flag, the corner would move to a whole vector.
      av_frame_apply_cropping(raw, CInt(AV_FRAME_CROP_UNALIGNED))
    }
    sampleAspectRatio = shape.sampleAspectRatio
    lineScale = shape.lineScale
  }

  /// Copies everything of `source` that isn't pixels: timestamps, colour, side data. Leaves out the display
  /// matrix, because the caller is about to apply it, and the cropping.
  package mutating func copyProperties(of source: borrowing VideoFrame) throws(UprightError) {
    try check(av_frame_copy_props(raw, source.raw)) { _ in outOfMemory("frame properties") }
    av_frame_remove_side_data(raw, AV_FRAME_DATA_DISPLAYMATRIX)
    raw.pointee.crop_top = 0
    raw.pointee.crop_left = 0
    raw.pointee.crop_right = 0
    raw.pointee.crop_bottom = 0
  }
}

extension DisplayMatrix {
  /// Reads nine native-endian 32-bit values, as FFmpeg stores them in side data.
  init(bytes: UnsafePointer<UInt8>) {
    var values = [Int32](repeating: 0, count: 9)
    values.withUnsafeMutableBytes {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: 36))
    }
    self.init(
      a: values[0], b: values[1], c: values[3], d: values[4], x: values[6], y: values[7])
    (u, v, w) = (values[2], values[5], values[8])
  }
}
