internal import UprightOrientation
internal import UprightSignals

/// iTunes' tag of the samples at the start of an audio track that aren't played: those of an encoder's delay. FFmpeg reads it
/// of fragmented MP4, and no edit list.
enum GaplessTag {
  /// Returns a movie's user data with the tag.
  ///
  /// - Parameter priming: The number of samples, from 0 on.
  static func userData(priming: Int) -> [UInt8] {
    // Flags, delay, padding at the end, length of the rest; then nothing that is used. The padding is in the last packet.
    let numbers = [(0, 8), (priming, 8), (0, 8), (0, 16)].map { number, count in
      number.digits(count, radix: 16, uppercase: true)
    }
    let text = " " + numbers.joined(separator: " ") + String(repeating: " 00000000", count: 8)
    let zeros = [UInt8](repeating: 0, count: 4)
    let item = MP4Box.bytes(
      "----",
      MP4Box.bytes("mean", zeros + "com.apple.iTunes".utf8)
        + MP4Box.bytes("name", zeros + "iTunSMPB".utf8)
        // UTF-8, of no country.
        + MP4Box.bytes("data", .big(1, bytes: 4) + zeros + text.utf8))
    // Metadata of iTunes' kind (ISO/IEC 14496-12, 8.4.3).
    let kind = zeros + zeros + "mdirappl".utf8 + zeros + zeros + [0]
    return MP4Box.bytes(
      "udta",
      MP4Box.bytes("meta", zeros + MP4Box.bytes("hdlr", kind) + MP4Box.bytes("ilst", item)))
  }
}
