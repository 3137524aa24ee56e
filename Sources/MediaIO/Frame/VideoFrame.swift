internal import CFFmpeg
internal import CFFmpegShims
package import Orientation

/// Which line of an interlaced picture was filmed first: the first (top) or the second (bottom).
package enum FieldOrder: Sendable, Hashable {
  case topFirst, bottomFirst

  /// What it becomes where an even number of lines is turned upside down.
  package var flipped: FieldOrder { self == .topFirst ? .bottomFirst : .topFirst }
}

/// One decoded picture and the sole owner of its AVFrame.
///
/// Sendable because it is the only reference: it moves between threads, it is never shared. Its
/// buffers may be shared with the decoder, so a frame that came from one is only read.
package struct VideoFrame: ~Copyable, @unchecked Sendable {
  let raw: UnsafeMutablePointer<AVFrame>

  init() throws(MediaError) {
    guard let raw = av_frame_alloc() else { throw outOfMemory("frame") }
    self.raw = raw
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVFrame>? = raw
    av_frame_free(&pointer)
  }

  /// Presentation time in ticks of `timeBase`; nil where unknown.
  package var pts: Int64? {
    get { raw.pointee.pts == noTimestamp ? nil : raw.pointee.pts }
    set { raw.pointee.pts = newValue ?? noTimestamp }
  }

  /// The decoder's best guess at the presentation time.
  var bestEffortTimestamp: Int64? {
    raw.pointee.best_effort_timestamp == noTimestamp ? nil : raw.pointee.best_effort_timestamp
  }

  /// Seconds per tick.
  package var timeBase: Rational {
    get { Rational(raw.pointee.time_base) }
    set { raw.pointee.time_base = AVRational(newValue) }
  }

  /// How long it is shown, in ticks of `timeBase`; 0 where unknown.
  package var duration: Int64 {
    get { upright_frame_duration(raw) }
    set { upright_frame_set_duration(raw, newValue) }
  }

  /// Width and height of the picture in samples, cropping applied.
  package var size: PixelSize { PixelSize(Int(raw.pointee.width), Int(raw.pointee.height)) }

  /// Width to height of one sample; 1:1 where unknown.
  ///
  /// Whether it is known is `statesSampleAspectRatio`.
  package var sampleAspectRatio: Rational {
    get {
      let ratio = raw.pointee.sample_aspect_ratio
      return ratio.num > 0 && ratio.den > 0 ? Rational(ratio) : Rational(1, 1)
    }
    set { raw.pointee.sample_aspect_ratio = AVRational(newValue) }
  }

  /// Whether the bitstream says what shape its samples have.
  package var statesSampleAspectRatio: Bool {
    raw.pointee.sample_aspect_ratio.num > 0 && raw.pointee.sample_aspect_ratio.den > 0
  }

  package var format: PixelFormat { PixelFormat(AVPixelFormat(raw.pointee.format)) }

  package var colour: Colour {
    get { Colour(raw) }
    set { newValue.write(to: raw) }
  }

  /// Whether the frame's odd and even lines are two moments.
  package var isInterlaced: Bool { upright_frame_is_interlaced(raw) }

  /// Which of the two moments comes first; nil for a progressive picture.
  package var fields: FieldOrder? {
    get { isInterlaced ? (upright_frame_is_top_field_first(raw) ? .topFirst : .bottomFirst) : nil }
    set { upright_frame_set_fields(raw, newValue != nil, newValue == .topFirst) }
  }

  /// Metadata that follows the pictures frame by frame and that no encoder here takes, by name.
  package var dynamicMetadata: [String] {
    let kinds: [(AVFrameSideDataType, String)] = [
      (AV_FRAME_DATA_DOVI_RPU_BUFFER, "Dolby Vision metadata"),
      (AV_FRAME_DATA_DYNAMIC_HDR_PLUS, "HDR10+ metadata"),
      (AV_FRAME_DATA_DYNAMIC_HDR_VIVID, "HDR Vivid metadata"),
    ]
    return kinds.filter { av_frame_get_side_data(raw, $0.0) != nil }.map(\.1)
  }

  /// Whether the decoder patched over damage in this picture.
  package var isDamaged: Bool {
    raw.pointee.decode_error_flags != 0 || raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
  }

  /// The frame's own display matrix (EXIF in MJPEG, and what libavcodec makes of a SEI).
  package var displayMatrix: DisplayMatrix? {
    guard let side = av_frame_get_side_data(raw, AV_FRAME_DATA_DISPLAYMATRIX),
      let data = side.pointee.data, side.pointee.size >= 36
    else { return nil }
    return DisplayMatrix(bytes: data)
  }

  /// Asks the next encoder for an IDR here; otherwise the encoder decides the picture's type.
  package var forcesKeyframe: Bool {
    get { raw.pointee.pict_type == AV_PICTURE_TYPE_I }
    set { raw.pointee.pict_type = newValue ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE }
  }

  /// Rewrites timestamp and duration for `timeBase`, rounding to the nearest tick.
  package mutating func rescale(to timeBase: Rational) {
    let (from, to) = (raw.pointee.time_base, AVRational(timeBase))
    if raw.pointee.pts != noTimestamp { raw.pointee.pts = av_rescale_q(raw.pointee.pts, from, to) }
    duration = av_rescale_q(duration, from, to)
    raw.pointee.time_base = to
  }

  /// One plane's memory.
  package struct PlaneMemory {
    /// The first sample of the first row.
    package let start: UnsafeMutablePointer<UInt8>
    /// Bytes from one row to the next; may be negative.
    package let stride: Int
  }

  /// The memory of plane `index`; nil where the format has no such plane.
  package func plane(_ index: Int) -> PlaneMemory? {
    guard (0..<4).contains(index), let start = upright_frame_plane(raw, CInt(index)) else {
      return nil
    }
    return PlaneMemory(start: start, stride: Int(upright_frame_stride(raw, CInt(index))))
  }

  /// Takes over everything of `source` that is not pixels: timestamps, colour, side data. The display
  /// matrix stays behind: whoever copies is about to apply it.
  package mutating func adoptProperties(of source: borrowing VideoFrame) throws(MediaError) {
    try check(av_frame_copy_props(raw, source.raw)) { _ in outOfMemory("frame properties") }
    av_frame_remove_side_data(raw, AV_FRAME_DATA_DISPLAYMATRIX)
    raw.pointee.crop_top = 0
    raw.pointee.crop_left = 0
    raw.pointee.crop_right = 0
    raw.pointee.crop_bottom = 0
  }
}

extension DisplayMatrix {
  /// Reads nine native-endian 32-bit values, as libav* keeps them in side data.
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
