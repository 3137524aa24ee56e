package import UprightOrientation

/// The text of a multivariant playlist (RFC 8216, 4.3.4).
package struct MultivariantText {
  /// One variant stream.
  package struct Variant {
    package var uri: String
    package var peak: Double
    package var average: Double
    /// The names of all formats, in the order of their first segments.
    package var codecs: [String]
    package var size: PixelSize
    /// Frames per second; `nil` if unknown.
    package var frameRate: Rational?
    /// For players that let the viewer choose; `nil` for none.
    package var name: String?
  }

  /// The audio that all variants share.
  package struct Audio {
    package var uri: String
    package var peak: Double
    package var average: Double
    package var codec: String?
    /// `nil` if unknown.
    package var channels: Int?
    package var language: String?
  }

  package let version: Int
  package let variants: [Variant]
  package let audio: Audio?

  package init(version: Int, variants: [Variant], audio: Audio?) {
    self.version = version
    self.variants = variants
    self.audio = audio
  }

  package var text: String {
    var text = "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-INDEPENDENT-SEGMENTS\n"
    if let audio {
      var words = [
        "TYPE=AUDIO", "GROUP-ID=\"audio\"", "NAME=\"Audio\"", "DEFAULT=YES", "AUTOSELECT=YES",
      ]
      // The value must not hold what ends a quoted string (4.2).
      if let language = audio.language, language.utf8.allSatisfy(Self.isPlain) {
        words.append("LANGUAGE=\"\(language)\"")
      }
      if let channels = audio.channels, channels > 0 { words.append("CHANNELS=\"\(channels)\"") }
      words.append("URI=\"\(audio.uri)\"")
      text += "#EXT-X-MEDIA:" + words.joined(separator: ",") + "\n"
    }
    for variant in variants { text += line(of: variant) + "\n\(variant.uri)\n" }
    return text
  }

  private func line(of variant: Variant) -> String {
    // A variant's rate is that of its video and of the largest rendition of its groups.
    let peak = Self.rounded(variant.peak + (audio?.peak ?? 0))
    let average = min(peak, Self.rounded(variant.average + (audio?.average ?? 0)))
    var words = ["BANDWIDTH=\(peak)", "AVERAGE-BANDWIDTH=\(average)"]
    let codecs = variant.codecs + (audio?.codec.map { [$0] } ?? [])
    // CODECS must be complete (4.3.4.2).
    let isComplete = !variant.codecs.isEmpty && (audio == nil || audio?.codec != nil)
    if isComplete { words.append("CODECS=\"\(codecs.joined(separator: ","))\"") }
    words.append("RESOLUTION=\(variant.size.width)x\(variant.size.height)")
    if let rate = variant.frameRate.flatMap(Self.thousandths) {
      words.append("FRAME-RATE=\(rate / 1000)." + String(1000 + rate % 1000).dropFirst())
    }
    if audio != nil { words.append("AUDIO=\"audio\"") }
    if let name = variant.name { words.append("NAME=\"\(name)\"") }
    return "#EXT-X-STREAM-INF:" + words.joined(separator: ",")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
  }

  private static func thousandths(_ rate: Rational) -> Int? {
    guard rate.numerator > 0, rate.denominator > 0 else { return nil }
    return Int(exactly: (rate.doubleValue * 1000).rounded())
  }

  /// Rounds up to three digits, so that the playlist of a live stream doesn't change with each segment.
  private static func rounded(_ rate: Double) -> Int {
    let rate = max(1, Int(clamping: rate.rounded(.up)))
    var step = 1
    while rate / step >= 1000 { step *= 10 }
    return (rate + step - 1) / step * step
  }
}
