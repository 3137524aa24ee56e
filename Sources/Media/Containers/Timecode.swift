package import UprightOrientation

/// The timecode of a track's first frame (SMPTE ST 12-1) as text, such as `14:23:55:07`. libavformat writes it as a
/// `tmcd` track, and fails for one that doesn't fit the frame rate.
package struct Timecode: Sendable, Hashable {
  package let text: String

  /// The name of the tag that libavformat reads and writes.
  package static let tag = "timecode"

  /// The four-character code of timecode tracks.
  package static let track = "tmcd"

  /// Returns `nil` if `text` isn't a timecode of frames at that rate.
  package init?(_ text: String, frameRate: Rational?) {
    let bytes = Array(text.utf8)
    guard bytes.count == 11, bytes[2] == UInt8(ascii: ":"), bytes[5] == UInt8(ascii: ":"),
      [":", ";", "."].contains(Character(UnicodeScalar(bytes[8]))), let frameRate,
      frameRate.numerator > 0
    else { return nil }
    let rate = frameRate.doubleValue.rounded(.up)
    var fields: [Double] = []
    for start in [0, 3, 6, 9] {
      let digits = bytes[start..<start + 2]
      guard digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
      fields.append(digits.reduce(0) { $0 * 10 + Double($1 - 48) })
    }
    guard zip(fields, [24, 60, 60, rate]).allSatisfy({ $0 >= 0 && $0 < $1 }) else { return nil }
    // Drop frame is defined for multiples of 30 frames per second.
    let drops = bytes[8] != UInt8(ascii: ":")
    guard !drops || rate.truncatingRemainder(dividingBy: 30) == 0 else { return nil }
    self.text = text
  }
}
