/// Where the samples of a plane lie along one axis of the picture.
///
/// Lengths are in samples of the plane: sample `k` stands for the stretch from `k` to `k + 1`, and its
/// centre is at `k + 0.5 + shift` of the picture's `length`.
public struct SampleGrid: Sendable, Hashable {
  /// Samples along the axis, 1...65536.
  public var count: Int
  /// The picture's length. Less than `count` where the last sample is only partly inside: the chroma
  /// of a 4:2:0 picture 5 pixels wide has 3 samples and a length of 2.5.
  public var length: Double
  /// How far the samples' centres are from the middle of their stretches: -0.25 for 4:2:0 chroma
  /// that sits on the left of its two luma samples, 0 for chroma between them.
  public var shift: Double

  /// A grid of `count` samples, by default one that fills the picture evenly.
  public init(_ count: Int, length: Double? = nil, shift: Double = 0) {
    self.count = count
    self.length = length ?? Double(count)
    self.shift = shift
  }

  /// Whether there is something to compute with.
  var isValid: Bool {
    (1...65536).contains(count) && length.isFinite && length > 0 && shift.isFinite
      && abs(length - Double(count)) <= 1 && abs(shift) <= 1
  }
}
