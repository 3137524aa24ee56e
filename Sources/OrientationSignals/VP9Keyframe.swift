public import Orientation

/// Reads the picture size that a VP9 keyframe names (VP9 Bitstream Specification 6.2).
public enum VP9Keyframe {
  /// The size of the picture that `frame` begins with; nil where it is no keyframe or is cut off.
  public static func size(_ frame: some Collection<UInt8>) -> PixelSize? {
    var bits = BitReader(Array(frame.prefix(16)))
    guard bits.bits(2) == 2, let low = bits.bits(1), let high = bits.bits(1) else { return nil }
    let profile = high << 1 | low
    if profile == 3, bits.bits(1) != 0 { return nil }
    // show_existing_frame, frame_type; then show_frame and error_resilient_mode, of any value.
    guard bits.bits(2) == 0, bits.bits(2) != nil, bits.bits(24) == 0x49_8342 else { return nil }
    if profile >= 2 { _ = bits.bits(1) }
    let isRGB = bits.bits(3) == 7
    if !isRGB { _ = bits.bits(1) }
    if profile & 1 == 1 { _ = bits.bits(isRGB ? 1 : 3) }
    guard let width = bits.bits(16), let height = bits.bits(16) else { return nil }
    return PixelSize(Int(width) + 1, Int(height) + 1)
  }
}
