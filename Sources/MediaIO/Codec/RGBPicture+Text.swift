internal import CUprightFFmpeg
package import UprightOrientation
package import UprightKernels

extension RGBPicture {
  /// A line of text.
  package struct Label: Sendable, Hashable {
    package let text: String
    /// The left edge of the first letter, in pixels.
    package let x: Int
    /// The baseline of the letters, in pixels from the top.
    package let baseline: Int
    package let colour: RGBColour

    package init(_ text: String, x: Int, baseline: Int, colour: RGBColour) {
      (self.text, self.x, self.baseline, self.colour) = (text, x, baseline, colour)
    }
  }

  /// Draws labels in the system's sans-serif typeface with libavfilter's drawtext, `height` pixels per em.
  ///
  /// - Throws: `unavailable` if drawtext or a typeface is missing.
  package mutating func write(_ labels: [Label], height: Int) throws(UprightError) {
    guard !labels.isEmpty else { return }
    let frame = try frame()
    let filters = labels.map { label in
      ("drawtext", Self.options(label, height))
    }
    let chain = try FilterChain(
      filters + [("format", "rgb24")], like: frame, subject: "text in a picture",
      remedy: "write SVG, or use an FFmpeg with libfreetype and install a typeface")
    try chain.send(frame)
    guard let written = try chain.receive(), let plane = written.plane(0) else {
      throw UprightError(.fault, "drawtext returned no picture")
    }
    write(plane)
  }

  private static func options(_ label: Label, _ height: Int) -> String {
    let colour = [label.colour.red, label.colour.green, label.colour.blue]
      .map { $0.digits(2, radix: 16) }.joined()
    // The characters that libavutil's option parser treats as special.
    let text = label.text.reduce(into: "") { text, letter in
      if "\\':".contains(letter) { text.append("\\") }
      text.append(letter)
    }
    return "font=Sans:fontsize=\(height):fontcolor=0x\(colour):expansion=none:x=\(label.x)"
      + ":y=\(label.baseline)-max_glyph_a:text=\(text)"
  }
}
