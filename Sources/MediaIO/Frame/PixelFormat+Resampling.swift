internal import CFFmpeg

extension PixelFormat {
  /// Whether frames of this format can be resampled plane by plane. Each plane must hold one or two
  /// components, all of the same depth, in the low bits of one byte, or of two bytes in the CPU's byte order,
  /// up to 12 bits.
  package var hasPlainSamples: Bool {
    guard let planes, let descriptor = av_pix_fmt_desc_get(raw)?.pointee,
      descriptor.flags & UInt64(AV_PIX_FMT_FLAG_BE) == 0, (8...12).contains(bitDepth)
    else { return false }
    let components = [
      descriptor.comp.0, descriptor.comp.1, descriptor.comp.2, descriptor.comp.3,
    ].prefix(Int(descriptor.nb_components))
    return components.allSatisfy { $0.shift == 0 && Int($0.depth) == bitDepth }
      && planes.allSatisfy { $0.elementSize <= 2 * sampleBytes }
  }
}
