extension PixelFormat {
  /// The usual name of the chroma subsampling, such as `4:2:0`. `nil` for RGB, for luma alone, and for others.
  package var chromaName: String? {
    guard !isRGB, !isMonochrome else { return nil }
    return switch chromaShift {
    case (0, 0): "4:4:4"
    case (1, 0): "4:2:2"
    case (1, 1): "4:2:0"
    case (0, 1): "4:4:0"
    case (2, 0): "4:1:1"
    case (2, 2): "4:1:0"
    default: nil
    }
  }

  /// RGB with straight alpha, eight bits per channel.
  package static let rgba = PixelFormat(name: "rgba") ?? .yuv420p
  /// One plane of eight-bit luma.
  package static let gray = PixelFormat(name: "gray") ?? .yuv420p

  /// The number of bytes per sample.
  package var sampleBytes: Int { bitDepth > 8 ? 2 : 1 }
}
