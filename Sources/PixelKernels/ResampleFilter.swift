/// The filter kernels for resampling. When a frame is scaled down, all of them widen with the ratio, to avoid
/// aliasing.
public enum ResampleFilter: String, Sendable, CaseIterable {
  /// Keys' cubic with a = -0.6, as in libswscale: sharp, four samples wide.
  case bicubic
  /// A triangle two samples wide: soft.
  case bilinear
  /// The mean of the area that a destination sample covers. When a frame is scaled up, as `bilinear`.
  case area
  /// A sinc windowed by another sinc, six samples wide: the sharpest, with ringing.
  case lanczos

  /// Returns the kernel's radius in source samples, if a destination sample covers `scale` source samples.
  func radius(scale: Double) -> Double {
    let wider = max(1, scale)
    return switch self {
    case .bicubic: 2 * wider
    case .bilinear: wider
    case .area: scale > 1 ? (scale + 1) / 2 : 1
    case .lanczos: 3 * wider
    }
  }

  /// Returns the kernel's value, not normalised, at `distance` source samples from the centre.
  func weight(_ distance: Double, scale: Double) -> Double {
    let d = abs(distance) / max(1, scale)
    switch self {
    case .bicubic:
      let a = -0.6
      if d < 1 { return ((a + 2) * d - (a + 3)) * d * d + 1 }
      return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0
    case .bilinear:
      return max(0, 1 - d)
    case .area:
      // The part of the source sample that is inside the destination sample.
      return scale > 1 ? min(1, max(0, (scale + 1) / 2 - abs(distance))) : max(0, 1 - d)
    case .lanczos:
      return d < 3 ? Self.sinc(d) * Self.sinc(d / 3) : 0
    }
  }

  /// sin(pi x) / (pi x), for 0 <= x < 3.
  private static func sinc(_ x: Double) -> Double {
    if x < 1e-9 { return 1 }
    let whole = x.rounded()
    let angle = (x - whole) * Double.pi
    // Within a quarter turn eleven terms are exact to the last bit.
    var term = angle
    var sine = angle
    for n in 1...10 {
      term *= -angle * angle / Double(2 * n * (2 * n + 1))
      sine += term
    }
    return (whole.truncatingRemainder(dividingBy: 2) == 0 ? sine : -sine) / (x * Double.pi)
  }
}
