internal import CUprightFFmpeg
internal import UprightOrientation
package import UprightKernels

extension PixelFormat {
  /// RGBA with two bytes per channel, interleaved.
  package static let rgba64 = Self(AV_PIX_FMT_RGBA64LE)

  /// The format with simple planes to which this format is converted without loss. The format itself if it
  /// has simple planes.
  package var unpacked: PixelFormat {
    if layout != nil { return self }
    let isDeep = bitDepth > 8
    if isRGB { return PixelFormat(isDeep ? AV_PIX_FMT_GBRP16LE : AV_PIX_FMT_RGB24) }
    if isMonochrome { return PixelFormat(isDeep ? AV_PIX_FMT_GRAY16LE : AV_PIX_FMT_GRAY8) }
    return switch chromaShift {
    case (1, 0): PixelFormat(isDeep ? AV_PIX_FMT_YUV422P16LE : AV_PIX_FMT_YUV422P)
    case (2, 0): PixelFormat(AV_PIX_FMT_YUV411P)
    default: PixelFormat(isDeep ? AV_PIX_FMT_YUV444P16LE : AV_PIX_FMT_YUV444P)
    }
  }
}

extension VideoFrame {
  /// Blends an `rgba` or `rgba64` frame onto `background`, so that all of it is opaque. Returns whether any
  /// pixel was not opaque. Doesn't change a frame of another format.
  package func flatten(on background: RGBColour) -> Bool {
    switch format {
    case .rgba:
      flatten([background.red, background.green, background.blue], UInt8.self)
    case .rgba64:
      flatten(
        [background.red, background.green, background.blue].map { UInt16($0) * 257 }, UInt16.self)
    default: false
    }
  }

  private func flatten<Sample: FixedWidthInteger & UnsignedInteger>(
    _ background: [Sample], _ type: Sample.Type
  ) -> Bool {
    guard let plane = plane(0) else { return false }
    let (width, full) = (size.width, UInt64(Sample.max))
    let ground = background.map { UInt64($0) }
    var found = false
    for row in 0..<size.height {
      let line = UnsafeMutableRawPointer(plane.start + row * plane.stride)
        .assumingMemoryBound(to: Sample.self)
      for column in 0..<width {
        let pixel = line + column * 4
        let opacity = UInt64(pixel[3])
        if opacity == full { continue }
        found = true
        for channel in 0..<3 {
          let mixed = UInt64(pixel[channel]) * opacity + ground[channel] * (full - opacity)
          pixel[channel] = Sample((mixed + full / 2) / full)
        }
        pixel[3] = .max
      }
    }
    return found
  }
}
