/// The scaler of frames (`--scaler`).
public enum ScalerChoice: String, Sendable, CaseIterable {
  /// Turning and scaling in one pass, at least as exact as libswscale, if the CPU has fast kernels for it and
  /// source and target have the same planes; otherwise libswscale.
  case auto
  /// libswscale, with an exact turn before or after it.
  case swscale
  /// Turning and scaling in one pass on every CPU, with shorter coefficients where that is faster
  /// (`Resampler.Precision`). If the pixel format changes too, libswscale is used.
  case fused
}
