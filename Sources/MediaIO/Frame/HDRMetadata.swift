internal import CUprightFFmpeg
internal import UprightOrientation

/// HDR10's static metadata: the mastering display, and the brightness of the content.
package struct HDRMetadata: Sendable, Hashable {
  package var mastering: MasteringDisplay?
  package var light: ContentLightLevel?

  package init(mastering: MasteringDisplay? = nil, light: ContentLightLevel? = nil) {
    self.mastering = mastering
    self.light = light
  }

  /// Whether both parts are missing.
  package var isEmpty: Bool { mastering == nil && light == nil }

  /// Returns this metadata, with missing parts taken from `other`.
  func filled(from other: HDRMetadata) -> HDRMetadata {
    HDRMetadata(mastering: mastering ?? other.mastering, light: light ?? other.light)
  }
}

/// A mastering display's colour volume (SMPTE ST 2086), in the units of the SEI message (ITU-T H.265,
/// D.3.28): chromaticities in 0.00002, luminances in 0.0001 candela per square metre.
package struct MasteringDisplay: Sendable, Hashable {
  /// A chromaticity in the CIE 1931 diagram. Each coordinate is 0...50000.
  package struct Point: Sendable, Hashable {
    package var x: Int
    package var y: Int
  }

  package var red: Point
  package var green: Point
  package var blue: Point
  package var white: Point
  /// The maximum luminance. Greater than `minimum`, at most 10000 candela per square metre.
  package var maximum: Int
  package var minimum: Int

  /// Returns `nil` if a part is missing or out of range. Encoders fail to open with such values.
  init?(_ source: AVMasteringDisplayMetadata) {
    guard source.has_primaries != 0, source.has_luminance != 0 else { return nil }
    func units(_ value: AVRational, _ perOne: Int, limit: Int) -> Int? {
      guard value.den != 0 else { return nil }
      let number = (Double(value.num) / Double(value.den) * Double(perOne)).rounded()
      return number >= 0 && number <= Double(limit) ? Int(number) : nil
    }
    func point(_ pair: (AVRational, AVRational)) -> Point? {
      guard let x = units(pair.0, 50000, limit: 50000), let y = units(pair.1, 50000, limit: 50000)
      else { return nil }
      return Point(x: x, y: y)
    }
    let primaries = source.display_primaries
    guard let red = point(primaries.0), let green = point(primaries.1),
      let blue = point(primaries.2), let white = point(source.white_point),
      let maximum = units(source.max_luminance, 10000, limit: 100_000_000),
      let minimum = units(source.min_luminance, 10000, limit: 100_000_000), minimum < maximum
    else { return nil }
    (self.red, self.green, self.blue, self.white) = (red, green, blue, white)
    (self.maximum, self.minimum) = (maximum, minimum)
  }

  var raw: AVMasteringDisplayMetadata {
    func rational(_ value: Int, _ perOne: CInt) -> AVRational {
      AVRational(num: CInt(clamping: value), den: perOne)
    }
    func pair(_ point: Point) -> (AVRational, AVRational) {
      (rational(point.x, 50000), rational(point.y, 50000))
    }
    var result = AVMasteringDisplayMetadata()
    result.display_primaries = (pair(red), pair(green), pair(blue))
    result.white_point = pair(white)
    result.max_luminance = rational(maximum, 10000)
    result.min_luminance = rational(minimum, 10000)
    result.has_primaries = 1
    result.has_luminance = 1
    return result
  }

  /// The text form for x264 and x265, in integer units.
  var inUnits: String {
    text {
      "\($0)"
    } luminance: {
      "\($0)"
    }
  }

  /// The text form for SVT-AV1: chromaticities from 0 to 1, luminances in candela per square metre.
  var inFractions: String {
    text {
      "\(Double($0) / 50000)"
    } luminance: {
      "\(Double($0) / 10000)"
    }
  }

  private func text(_ place: (Int) -> String, luminance: (Int) -> String) -> String {
    func pair(_ point: Point) -> String { "(\(place(point.x)),\(place(point.y)))" }
    return "G\(pair(green))B\(pair(blue))R\(pair(red))WP\(pair(white))"
      + "L(\(luminance(maximum)),\(luminance(minimum)))"
  }
}

/// The maximum light level of a pixel and of a frame's average over the whole content, in candela per square
/// metre (CTA-861.3).
package struct ContentLightLevel: Sendable, Hashable {
  /// MaxCLL, 0...65535. 0 means unknown.
  package var maximum: Int
  /// MaxFALL, 0...65535. 0 means unknown.
  package var average: Int

  /// Returns `nil` if both values are unknown.
  init?(_ source: AVContentLightMetadata) {
    guard source.MaxCLL <= 65535, source.MaxFALL <= 65535, source.MaxCLL > 0 || source.MaxFALL > 0
    else { return nil }
    maximum = Int(source.MaxCLL)
    average = Int(source.MaxFALL)
  }

  var raw: AVContentLightMetadata {
    AVContentLightMetadata(MaxCLL: CUnsignedInt(maximum), MaxFALL: CUnsignedInt(average))
  }

  /// The text form for all encoders.
  var text: String { "\(maximum),\(average)" }
}

// MARK: - FFmpeg's storage

extension HDRMetadata {
  /// The metadata attached to a frame.
  init(frame: UnsafePointer<AVFrame>) {
    func read<Value>(_ kind: AVFrameSideDataType, _ type: Value.Type) -> Value? {
      guard let side = av_frame_get_side_data(frame, kind), let data = side.pointee.data,
        side.pointee.size >= MemoryLayout<Value>.size
      else { return nil }
      return UnsafeRawPointer(data).loadUnaligned(as: Value.self)
    }
    self.init(
      mastering: read(
        AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AVMasteringDisplayMetadata.self
      ).flatMap { MasteringDisplay($0) },
      light: read(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AVContentLightMetadata.self)
        .flatMap { ContentLightLevel($0) })
  }

  /// The metadata in the side data of a stream.
  init(_ sideData: [StreamSideData]) {
    func read<Value: BitwiseCopyable>(_ kind: AVPacketSideDataType, _ type: Value.Type) -> Value? {
      sideData.first { $0.type == kind }?.load(as: type)
    }
    self.init(
      mastering: read(
        AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AVMasteringDisplayMetadata.self
      ).flatMap { MasteringDisplay($0) },
      light: read(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AVContentLightMetadata.self)
        .flatMap { ContentLightLevel($0) })
  }

  /// Writes the metadata to a frame, replacing what is there.
  func write(to frame: UnsafeMutablePointer<AVFrame>) {
    av_frame_remove_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)
    av_frame_remove_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)
    if let mastering {
      av_mastering_display_metadata_create_side_data(frame)?.pointee = mastering.raw
    }
    if let light { av_content_light_metadata_create_side_data(frame)?.pointee = light.raw }
  }

  /// Writes the metadata to a stream for a muxer: `mdcv` and `clli` in MP4, the MasteringMetadata element in
  /// Matroska.
  func write(to stream: UnsafeMutablePointer<AVStream>) throws(UprightError) {
    if let mastering {
      try StreamSideData(type: AV_PKT_DATA_MASTERING_DISPLAY_METADATA, mastering.raw)
        .add(to: stream)
    }
    if let light {
      try StreamSideData(type: AV_PKT_DATA_CONTENT_LIGHT_LEVEL, light.raw).add(to: stream)
    }
  }
}
