/// What rescales pictures (`--scaler`).
public enum ScalerChoice: String, Sendable, CaseIterable {
  /// The turn and the scaling in one pass, no less exact than libswscale, where the CPU has fast
  /// kernels for it and the picture goes from plane to plane; else libswscale.
  case auto
  /// libswscale, and an exact turn before or after it.
  case swscale
  /// The one pass on every CPU, with shorter coefficients where that is faster (`Resampler.Precision`).
  /// Where the picture's format changes too, libswscale.
  case fused
}
