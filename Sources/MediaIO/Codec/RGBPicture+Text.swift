internal import CFFmpeg

extension RGBPicture {
  /// A line of text.
  package struct Label: Sendable, Hashable {
    package let text: String
    /// Where its first letter begins.
    package let x: Int
    /// What its letters stand on.
    package let baseline: Int
    package let colour: RGBColour

    package init(_ text: String, x: Int, baseline: Int, colour: RGBColour) {
      (self.text, self.x, self.baseline, self.colour) = (text, x, baseline, colour)
    }
  }

  /// Writes labels in the system's sans-serif typeface, `height` pixels an em, by libavfilter's drawtext.
  ///
  /// - Throws: `unavailable` where that is missing, or every typeface.
  package mutating func write(_ labels: [Label], height: Int) throws(MediaError) {
    guard !labels.isEmpty else { return }
    let frame = try frame()
    let filters = labels.map { label in
      ("drawtext", Self.options(label, height))
    }
    let chain = try FilterChain(
      filters + [("format", "rgb24")], like: frame, subject: "text in a picture",
      remedy: "write SVG, or take an FFmpeg with libfreetype and install a typeface")
    try chain.send(frame)
    guard let written = try chain.receive(), let plane = written.plane(0) else {
      throw MediaError(.fault, "a picture went into drawtext and none came out")
    }
    take(plane)
  }

  private static func options(_ label: Label, _ height: Int) -> String {
    let colour = [label.colour.red, label.colour.green, label.colour.blue]
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    // What libavutil's reader of options takes for its own.
    let text = label.text.reduce(into: "") { text, letter in
      if "\\':".contains(letter) { text.append("\\") }
      text.append(letter)
    }
    return "font=Sans:fontsize=\(height):fontcolor=0x\(colour):expansion=none:x=\(label.x)"
      + ":y=\(label.baseline)-max_glyph_a:text=\(text)"
  }
}
