/// The positions of a plane's samples along one axis of the frame.
///
/// Lengths are in samples of the plane. Sample `k` covers the interval from `k` to `k + 1`, and its centre is
/// at `k + 0.5 + shift` of the frame's `length`.
public struct SampleGrid: Sendable, Hashable {
  /// The number of samples along the axis, 1...65536.
  public var count: Int
  /// The frame's length. Less than `count` if the last sample is only partly inside: the chroma of a 4:2:0
  /// frame 5 pixels wide has 3 samples and a length of 2.5.
  public var length: Double
  /// The offset of the samples' centres from the middle of their intervals: -0.25 for 4:2:0 chroma at the
  /// left of its two luma samples, 0 for chroma between them.
  public var shift: Double
  /// The samples that are written, of a destination; `nil` for all.
  public var part: Range<Int>?

  /// Creates a grid of `count` samples, by default one that covers the frame evenly.
  public init(_ count: Int, length: Double? = nil, shift: Double = 0, part: Range<Int>? = nil) {
    self.count = count
    self.length = length ?? Double(count)
    self.shift = shift
    self.part = part
  }

  /// The samples that are written.
  var written: Range<Int> { part ?? 0..<count }

  /// Whether the values are in the allowed ranges.
  var isValid: Bool {
    (1...65536).contains(count) && length.isFinite && length > 0 && shift.isFinite
      && abs(length - Double(count)) <= 1 && abs(shift) <= 1
      && part.map { !$0.isEmpty && $0.lowerBound >= 0 && $0.upperBound <= count } ?? true
  }
}
