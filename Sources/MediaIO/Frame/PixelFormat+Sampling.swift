package import Orientation

extension PixelFormat {
  /// RGB with straight alpha, eight bits per channel.
  package static let rgba = PixelFormat(name: "rgba") ?? .yuv420p
  /// One plane of eight-bit luma.
  package static let gray = PixelFormat(name: "gray") ?? .yuv420p

  /// The number of bytes per sample.
  package var sampleBytes: Int { bitDepth > 8 ? 2 : 1 }

  /// Returns the transform from the continuous coordinates of a plane, in which the centres of samples are at
  /// .5, to those of the frame.
  package func transform(of plane: Plane, siting: ChromaPosition) -> AffineMatrix {
    /// A chroma sample is at the centre of a luma sample, or between two of them.
    func place(_ shift: Int, _ position: Int) -> (step: Double, start: Double) {
      guard shift > 0 else { return (1, 0) }
      let step = Double(1 << shift)
      return (step, 0.5 + Double(position) / 256 - step / 2)
    }
    let (x, y) = (place(plane.shiftX, siting.x), place(plane.shiftY, siting.y))
    return AffineMatrix(a: x.step, b: 0, c: 0, d: y.step, tx: x.start, ty: y.start)
  }
}
