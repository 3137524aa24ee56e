package import UprightOrientation

/// Parses the start of a VP9 keyframe (VP9 Bitstream Specification 6.2).
package enum VP9Keyframe {
  /// Returns whether `frame` starts with a keyframe that is shown.
  static func isShown(_ frame: some Collection<UInt8>) -> Bool {
    var bits = BitReader(Array(frame.prefix(16)))
    // show_frame follows.
    return profile(&bits) != nil && bits.bits(1) == 1
  }

  /// Reads up to show_frame. Returns `nil` if it is not a keyframe.
  private static func profile(_ bits: inout BitReader) -> UInt32? {
    guard bits.bits(2) == 2, let low = bits.bits(1), let high = bits.bits(1) else { return nil }
    let profile = high << 1 | low
    if profile == 3, bits.bits(1) != 0 { return nil }
    // show_existing_frame, frame_type.
    return bits.bits(2) == 0 ? profile : nil
  }

  /// Returns the size in the keyframe header at the start of `frame`, or `nil` if it is not a
  /// keyframe or is truncated.
  package static func size(_ frame: some Collection<UInt8>) -> PixelSize? {
    var bits = BitReader(Array(frame.prefix(16)))
    guard let profile = profile(&bits) else { return nil }
    // show_frame and error_resilient_mode, any value; then frame_sync_code.
    guard bits.bits(2) != nil, bits.bits(24) == 0x49_8342 else { return nil }
    if profile >= 2 { _ = bits.bits(1) }
    let isRGB = bits.bits(3) == 7
    if !isRGB { _ = bits.bits(1) }
    if profile & 1 == 1 { _ = bits.bits(isRGB ? 1 : 3) }
    guard let width = bits.bits(16), let height = bits.bits(16) else { return nil }
    return PixelSize(Int(width) + 1, Int(height) + 1)
  }
}
