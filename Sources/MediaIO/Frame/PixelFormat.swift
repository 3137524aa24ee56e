internal import CUprightFFmpeg
package import UprightOrientation
package import UprightKernels

/// The memory layout of a raw frame, by libavutil's name.
///
/// The `yuvj*` formats are mapped to the formats without the `j`. The range is part of `Colour`.
package struct PixelFormat: Sendable, Hashable {
  let raw: AVPixelFormat

  init(_ raw: AVPixelFormat) {
    switch raw {
    case AV_PIX_FMT_YUVJ420P: self.raw = AV_PIX_FMT_YUV420P
    case AV_PIX_FMT_YUVJ422P: self.raw = AV_PIX_FMT_YUV422P
    case AV_PIX_FMT_YUVJ444P: self.raw = AV_PIX_FMT_YUV444P
    case AV_PIX_FMT_YUVJ440P: self.raw = AV_PIX_FMT_YUV440P
    case AV_PIX_FMT_YUVJ411P: self.raw = AV_PIX_FMT_YUV411P
    default: self.raw = raw
    }
  }

  /// The format with libavutil's `name`, such as `yuv420p`. `nil` if there is none.
  package init?(name: String) {
    let raw = av_get_pix_fmt(name)
    if raw == AV_PIX_FMT_NONE { return nil }
    self.init(raw)
  }

  package static let yuv420p = Self(AV_PIX_FMT_YUV420P)
  package static let yuv420p10 = Self(AV_PIX_FMT_YUV420P10LE)

  /// libavutil's name of the format.
  package var name: String {
    av_get_pix_fmt_name(raw).map { String(cString: $0) } ?? "unknown"
  }

  private var descriptor: AVPixFmtDescriptor? { av_pix_fmt_desc_get(raw)?.pointee }

  private func has(_ flag: CInt) -> Bool {
    (descriptor?.flags ?? 0) & UInt64(flag) != 0
  }

  /// The number of bits of the first component.
  package var bitDepth: Int { Int(descriptor?.comp.0.depth ?? 8) }

  /// log2 of the horizontal and the vertical chroma subsampling.
  package var chromaShift: (x: Int, y: Int) {
    guard let descriptor, descriptor.nb_components >= 3 else { return (0, 0) }
    return (Int(descriptor.log2_chroma_w), Int(descriptor.log2_chroma_h))
  }

  /// Luma samples per chroma sample. Positions must be multiples of it.
  package var alignment: PixelSize { PixelSize(1 << chromaShift.x, 1 << chromaShift.y) }

  /// Whether the components are red, green and blue, or a palette of them.
  package var isRGB: Bool { has(AV_PIX_FMT_FLAG_RGB) || has(AV_PIX_FMT_FLAG_PAL) }
  /// Whether the format has luma only.
  package var isMonochrome: Bool { !isRGB && (descriptor?.nb_components ?? 3) < 3 }
  package var hasAlpha: Bool { has(AV_PIX_FMT_FLAG_ALPHA) }

  /// The format with the chroma subsampling of the other axis, which a quarter turn of every plane produces.
  /// The format itself if both axes are subsampled alike; `nil` if libavutil has no such format.
  package var transposed: PixelFormat? {
    let (x, y) = chromaShift
    if x == y { return self }
    let twin =
      switch raw {
      case AV_PIX_FMT_YUV422P: AV_PIX_FMT_YUV440P
      case AV_PIX_FMT_YUV440P: AV_PIX_FMT_YUV422P
      case AV_PIX_FMT_YUV422P10LE: AV_PIX_FMT_YUV440P10LE
      case AV_PIX_FMT_YUV440P10LE: AV_PIX_FMT_YUV422P10LE
      case AV_PIX_FMT_YUV422P12LE: AV_PIX_FMT_YUV440P12LE
      case AV_PIX_FMT_YUV440P12LE: AV_PIX_FMT_YUV422P12LE
      default: AV_PIX_FMT_NONE
      }
    return twin == AV_PIX_FMT_NONE ? nil : PixelFormat(twin)
  }

  /// The nearest format that a YUV4MPEG2 header can declare and that can be rotated: the format itself, or
  /// 4:2:0 with the same depth. (The header can declare 4:1:1, but there is no format for a quarter turn of
  /// it.)
  var y4mFormat: PixelFormat {
    let names: Set = [
      "gray", "yuv420p", "yuv422p", "yuv444p", "gray10le", "yuv420p10le", "yuv422p10le",
      "yuv444p10le", "yuv420p12le", "yuv422p12le", "yuv444p12le",
    ]
    if names.contains(name) { return self }
    return bitDepth > 8 ? .yuv420p10 : .yuv420p
  }

  /// The planes, if moving whole elements moves whole samples. A rotation can then be done plane by plane.
  /// `nil` for packed 4:2:2, palettes, bit streams and hardware surfaces.
  package var layout: PixelLayout? {
    Self.layouts.indices.contains(Int(raw.rawValue)) ? Self.layouts[Int(raw.rawValue)] : nil
  }

  /// The layouts of all formats. Cached, because they are needed several times per frame.
  private static let layouts = (0..<AV_PIX_FMT_NB.rawValue).map {
    PixelFormat(AVPixelFormat($0)).makeLayout()
  }

  private func makeLayout() -> PixelLayout? {
    guard let descriptor else { return nil }
    let unsupported =
      AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL
      | AV_PIX_FMT_FLAG_BAYER
    if has(unsupported) { return nil }
    let components = [
      descriptor.comp.0, descriptor.comp.1, descriptor.comp.2, descriptor.comp.3,
    ].prefix(Int(descriptor.nb_components))
    var planes: [Int: PixelLayout.Plane] = [:]
    for (index, component) in components.enumerated() {
      let isChroma = !isRGB && (index == 1 || index == 2)
      let plane = PixelLayout.Plane(
        elementSize: Int(component.step), shiftX: isChroma ? Int(descriptor.log2_chroma_w) : 0,
        shiftY: isChroma ? Int(descriptor.log2_chroma_h) : 0)
      let position = Int(component.plane)
      if let other = planes[position], other != plane { return nil }
      planes[position] = plane
    }
    let ordered = (0..<planes.count).compactMap { planes[$0] }
    guard ordered.count == planes.count,
      ordered.allSatisfy({ [1, 2, 3, 4].contains($0.elementSize) })
    else { return nil }
    return PixelLayout(
      planes: ordered,
      components: components.map {
        PixelLayout.Component(
          plane: Int($0.plane), offset: Int($0.offset), shift: Int($0.shift), depth: Int($0.depth))
      }, isRGB: isRGB, hasAlpha: hasAlpha, isBigEndian: has(AV_PIX_FMT_FLAG_BE))
  }
}

extension PixelFormat: CustomStringConvertible {
  package var description: String { name }
}
