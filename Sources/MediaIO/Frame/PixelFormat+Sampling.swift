extension PixelFormat {
  /// RGB with straight alpha, eight bits per channel.
  package static let rgba = PixelFormat(name: "rgba") ?? .yuv420p
  /// One plane of eight-bit luma.
  package static let gray = PixelFormat(name: "gray") ?? .yuv420p

  /// The number of bytes per sample.
  package var sampleBytes: Int { bitDepth > 8 ? 2 : 1 }
}
