package import UprightOrientation

/// The text of a multivariant playlist (RFC 8216, 4.3.4).
package struct MultivariantText {
  /// One variant stream.
  package struct Variant {
    package var uri: String
    /// In bits per second; the average is `nil` if it is unknown.
    package var peak: Double
    package var average: Double?
    /// The names of all formats, in the order of their first segments.
    package var codecs: [String]
    package var size: PixelSize
    /// Frames per second; `nil` if unknown.
    package var frameRate: Rational?
    /// For players that let the viewer choose; `nil` for none.
    package var name: String?
    /// `VIDEO-RANGE` of frames with a high dynamic range (RFC 8216bis, 4.4.6.2); `nil` for others.
    package var range: String?
    /// The playlist of its keyframes alone, and the peak of its rate; `nil` if there is none.
    package var keyframes: (uri: String, peak: Double)?

    package init(
      uri: String, peak: Double, average: Double?, codecs: [String], size: PixelSize,
      frameRate: Rational?, name: String? = nil
    ) {
      (self.uri, self.peak, self.average) = (uri, peak, average)
      (self.codecs, self.size) = (codecs, size)
      (self.frameRate, self.name) = (frameRate, name)
    }
  }

  /// An audio track that all variants share. The first is the default.
  package struct Audio {
    package var uri: String
    package var name = "Audio"
    /// In bits per second; the average is `nil` if it is unknown.
    package var peak: Double
    package var average: Double?
    package var codec: String?
    /// `nil` if unknown.
    package var channels: Int?
    package var language: String?

    package init(
      uri: String, name: String = "Audio", peak: Double, average: Double?, codec: String?,
      channels: Int?, language: String?
    ) {
      (self.uri, self.name, self.peak, self.average) = (uri, name, peak, average)
      (self.codec, self.channels, self.language) = (codec, channels, language)
    }
  }

  /// A track of WebVTT captions that all variants share.
  package struct Captions {
    package var uri: String
    package var name: String
    package var language: String?

    package init(uri: String, name: String, language: String?) {
      (self.uri, self.name, self.language) = (uri, name, language)
    }
  }

  package let version: Int
  package let variants: [Variant]
  package let audio: [Audio]
  package var captions: [Captions] = []

  package init(version: Int, variants: [Variant], audio: [Audio]) {
    self.version = version
    self.variants = Self.raised(variants)
    self.audio = audio
  }

  /// Returns variants of which none has lower rates than a smaller one, which a player with too little bandwidth would take it
  /// for. Segments of other lengths have other peaks.
  private static func raised(_ variants: [Variant]) -> [Variant] {
    variants.map { variant in
      let below = variants.filter {
        $0.size.width * $0.size.height < variant.size.width * variant.size.height
      }
      var variant = variant
      variant.peak = max(variant.peak, below.map(\.peak).max() ?? 0)
      variant.average = variant.average.map { max($0, below.compactMap(\.average).max() ?? 0) }
      return variant
    }
  }

  package var text: String {
    var text = "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-INDEPENDENT-SEGMENTS\n"
    for (index, track) in audio.enumerated() {
      let channels = track.channels.flatMap { $0 > 0 ? "CHANNELS=\"\($0)\"" : nil }
      text += Self.media(
        "TYPE=AUDIO,GROUP-ID=\"audio\"", track.name, isDefault: index == 0, track.language,
        channels, uri: track.uri)
    }
    for track in captions {
      text += Self.media(
        "TYPE=SUBTITLES,GROUP-ID=\"captions\"", track.name, isDefault: false, track.language, nil,
        uri: track.uri)
    }
    for variant in variants { text += line(of: variant) + "\n\(variant.uri)\n" }
    for variant in variants {
      if let keyframes = variant.keyframes { text += line(of: variant, keyframes) + "\n" }
    }
    return text
  }

  /// Returns the line of a rendition (4.3.4.1). A language that isn't a plain word is left out.
  private static func media(
    _ group: String, _ name: String, isDefault: Bool, _ language: String?, _ more: String?,
    uri: String
  ) -> String {
    let plain = language.flatMap { $0.utf8.allSatisfy(isPlain) ? "LANGUAGE=\"\($0)\"" : nil }
    let words = [
      group, "NAME=\"\(quotable(name))\"", "DEFAULT=\(isDefault ? "YES" : "NO")",
      "AUTOSELECT=YES", plain, more, "URI=\"\(uri)\"",
    ]
    return "#EXT-X-MEDIA:" + words.compactMap(\.self).joined(separator: ",") + "\n"
  }

  /// Returns a text without what ends a quoted string (4.2).
  private static func quotable(_ text: String) -> String {
    String(text.filter { $0 != "\"" && !$0.isNewline })
  }

  private func line(of variant: Variant) -> String {
    // A variant's rate is that of its video and of the largest rendition of its groups.
    let peak = Self.rounded(variant.peak + (audio.map(\.peak).max() ?? 0))
    var words = ["BANDWIDTH=\(peak)"]
    let largest = audio.compactMap(\.average)
    if let average = variant.average, largest.count == audio.count {
      words.append(
        "AVERAGE-BANDWIDTH=\(min(peak, Self.rounded(average + (largest.max() ?? 0))))")
    }
    var codecs = variant.codecs
    for case let codec? in audio.map(\.codec) where !codecs.contains(codec) { codecs.append(codec) }
    // CODECS must be complete (4.3.4.2).
    if !variant.codecs.isEmpty, audio.allSatisfy({ $0.codec != nil }) {
      words.append("CODECS=\"\(codecs.joined(separator: ","))\"")
    }
    words.append(Self.resolution(of: variant))
    if let rate = variant.frameRate.flatMap(Self.thousandths) {
      words.append("FRAME-RATE=\(rate / 1000)." + String(1000 + rate % 1000).dropFirst())
    }
    if let range = variant.range { words.append("VIDEO-RANGE=\(range)") }
    if !audio.isEmpty { words.append("AUDIO=\"audio\"") }
    if !captions.isEmpty { words.append("SUBTITLES=\"captions\"") }
    if let name = variant.name { words.append("NAME=\"\(name)\"") }
    return "#EXT-X-STREAM-INF:" + words.joined(separator: ",")
  }

  private func line(of variant: Variant, _ keyframes: (uri: String, peak: Double)) -> String {
    var words = ["BANDWIDTH=\(Self.rounded(keyframes.peak))"]
    if !variant.codecs.isEmpty {
      words.append("CODECS=\"\(variant.codecs.joined(separator: ","))\"")
    }
    words.append(Self.resolution(of: variant))
    if let range = variant.range { words.append("VIDEO-RANGE=\(range)") }
    words.append("URI=\"\(keyframes.uri)\"")
    return "#EXT-X-I-FRAME-STREAM-INF:" + words.joined(separator: ",")
  }

  private static func resolution(of variant: Variant) -> String {
    "RESOLUTION=\(variant.size.width)x\(variant.size.height)"
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
