internal import CUprightFFmpeg
package import UprightOrientation

/// The parameters of a video stream as numbers, for another process that has the same libraries.
extension CodecParameters {
  private typealias Field = (
    name: String, get: @Sendable (AVCodecParameters) -> Int64,
    set: @Sendable (inout AVCodecParameters, Int64) -> Void
  )

  /// The fields of FFmpeg's structure that a muxer of video reads, by FFmpeg's names.
  private static let fields: [Field] = [
    (
      "codec_id", { Int64($0.codec_id.rawValue) },
      { $0.codec_id = AVCodecID(rawValue: UInt32(clamping: $1)) }
    ),
    ("codec_tag", { Int64($0.codec_tag) }, { $0.codec_tag = UInt32(clamping: $1) }),
    ("format", { Int64($0.format) }, { $0.format = CInt(clamping: $1) }),
    ("bit_rate", { $0.bit_rate }, { $0.bit_rate = $1 }),
    (
      "bits_per_coded_sample", { Int64($0.bits_per_coded_sample) },
      { $0.bits_per_coded_sample = CInt(clamping: $1) }
    ),
    (
      "bits_per_raw_sample", { Int64($0.bits_per_raw_sample) },
      { $0.bits_per_raw_sample = CInt(clamping: $1) }
    ),
    ("profile", { Int64($0.profile) }, { $0.profile = CInt(clamping: $1) }),
    ("level", { Int64($0.level) }, { $0.level = CInt(clamping: $1) }),
    ("width", { Int64($0.width) }, { $0.width = CInt(clamping: $1) }),
    ("height", { Int64($0.height) }, { $0.height = CInt(clamping: $1) }),
    (
      "sample_aspect_num", { Int64($0.sample_aspect_ratio.num) },
      { $0.sample_aspect_ratio.num = CInt(clamping: $1) }
    ),
    (
      "sample_aspect_den", { Int64($0.sample_aspect_ratio.den) },
      { $0.sample_aspect_ratio.den = CInt(clamping: $1) }
    ),
    (
      "field_order", { Int64($0.field_order.rawValue) },
      { $0.field_order = AVFieldOrder(rawValue: UInt32(clamping: $1)) }
    ),
    (
      "color_range", { Int64($0.color_range.rawValue) },
      { $0.color_range = AVColorRange(rawValue: UInt32(clamping: $1)) }
    ),
    (
      "color_primaries", { Int64($0.color_primaries.rawValue) },
      { $0.color_primaries = AVColorPrimaries(rawValue: UInt32(clamping: $1)) }
    ),
    (
      "color_trc", { Int64($0.color_trc.rawValue) },
      { $0.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(clamping: $1)) }
    ),
    (
      "color_space", { Int64($0.color_space.rawValue) },
      { $0.color_space = AVColorSpace(rawValue: UInt32(clamping: $1)) }
    ),
    (
      "chroma_location", { Int64($0.chroma_location.rawValue) },
      { $0.chroma_location = AVChromaLocation(rawValue: UInt32(clamping: $1)) }
    ),
    ("video_delay", { Int64($0.video_delay) }, { $0.video_delay = CInt(clamping: $1) }),
  ]

  /// The names and values of the fields, and those of the HDR10 metadata if there is any. The extradata isn't
  /// included.
  package var numbers: [(name: String, value: Int)] {
    Self.fields.map { ($0.name, Int($0.get(raw.pointee))) } + hdr.numbers
  }

  /// Creates the parameters of a video stream from `numbers` and `extradata`. A field that isn't given has
  /// FFmpeg's default.
  ///
  /// - Throws: `badData` for values that no video stream has.
  package convenience init(
    numbers: [String: Int], extradata: [UInt8]
  ) throws(UprightError) {
    var made: UnsafeMutablePointer<AVCodecParameters>? = avcodec_parameters_alloc()
    guard let target = made else { throw outOfMemory("codec parameters") }
    defer { avcodec_parameters_free(&made) }
    target.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    for field in Self.fields {
      if let value = numbers[field.name] { field.set(&target.pointee, Int64(value)) }
    }
    let isVideo = avcodec_get_type(target.pointee.codec_id) == AVMEDIA_TYPE_VIDEO
    guard isVideo, target.pointee.width > 0, target.pointee.height > 0,
      av_image_check_size(
        CUnsignedInt(target.pointee.width), CUnsignedInt(target.pointee.height), 0, nil) >= 0,
      extradata.count < 1 << 24
    else { throw UprightError(.badData, "these are not the parameters of a video stream") }
    try self.init(copying: target, hdr: HDRMetadata(numbers: numbers))
    if !extradata.isEmpty { try setExtradata(extradata) }
  }
}

extension HDRMetadata {
  /// The names of the values of `mastering`, in the order of `MasteringDisplay.values`.
  private static let names = [
    "red_x", "red_y", "green_x", "green_y", "blue_x", "blue_y", "white_x", "white_y",
    "max_luminance", "min_luminance",
  ]

  fileprivate var numbers: [(name: String, value: Int)] {
    var numbers: [(name: String, value: Int)] = []
    if let display = mastering {
      let points = [display.red, display.green, display.blue, display.white]
      let values = points.flatMap { [$0.x, $0.y] } + [display.maximum, display.minimum]
      numbers += zip(Self.names, values).map { ($0, $1) }
    }
    if let light { numbers += [("max_cll", light.maximum), ("max_fall", light.average)] }
    return numbers
  }

  fileprivate init(numbers: [String: Int]) {
    var display: MasteringDisplay?
    let values = Self.names.compactMap { numbers[$0] }
    if values.count == Self.names.count {
      func part(_ index: Int, _ perOne: CInt) -> AVRational {
        AVRational(num: CInt(clamping: values[index]), den: perOne)
      }
      func pair(_ index: Int) -> (AVRational, AVRational) {
        (part(index, 50000), part(index + 1, 50000))
      }
      var raw = AVMasteringDisplayMetadata()
      raw.display_primaries = (pair(0), pair(2), pair(4))
      raw.white_point = pair(6)
      (raw.max_luminance, raw.min_luminance) = (part(8, 10000), part(9, 10000))
      (raw.has_primaries, raw.has_luminance) = (1, 1)
      display = MasteringDisplay(raw)
    }
    var level: ContentLightLevel?
    if let maximum = numbers["max_cll"], let average = numbers["max_fall"] {
      level = ContentLightLevel(
        AVContentLightMetadata(
          MaxCLL: CUnsignedInt(clamping: maximum), MaxFALL: CUnsignedInt(clamping: average)))
    }
    self.init(mastering: display, light: level)
  }
}
