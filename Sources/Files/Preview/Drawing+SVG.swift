internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

extension Drawing {
  /// The drawing as SVG, without its images, which are not vector graphics.
  var svg: String {
    let head =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(size.width)\" height=\"\(size.height)\" "
      + "viewBox=\"0 0 \(size.width) \(size.height)\" "
      + "font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" "
      + "font-size=\"\(Text.em)\">\n"
    return head + "<rect width=\"100%\" height=\"100%\" fill=\"\(Self.word(Palette.paper))\"/>\n"
      + shapes.map(Self.element).joined() + "</svg>\n"
  }

  private static func element(_ shape: Shape) -> String {
    switch shape {
    case .rectangle(let rect, let colour):
      "<rect x=\"\(rect.x)\" y=\"\(rect.y)\" width=\"\(rect.width)\" height=\"\(rect.height)\" fill=\"\(word(colour))\"/>\n"
    case .line(let x, let y, let length, let isUpright, let colour):
      "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(isUpright ? 1 : length)\" height=\"\(isUpright ? length : 1)\" fill=\"\(word(colour))\"/>\n"
    case .arrow(let x, let y, let colour):
      "<path d=\"M\(x) \(y)l-6 -11h12z\" fill=\"\(word(colour))\"/>\n"
    case .cross(let x, let y, let colour):
      "<path d=\"M\(x - 4) \(y - 4)l8 8m0 -8l-8 8\" stroke=\"\(word(colour))\" stroke-width=\"3\"/>\n"
    case .dot(let x, let y, let colour):
      "<circle cx=\"\(x)\" cy=\"\(y)\" r=\"4\" fill=\"\(word(colour))\"/>\n"
    case .text(let text, let x, let y, let colour):
      "<text x=\"\(x)\" y=\"\(y + Text.height)\" fill=\"\(word(colour))\">\(escaped(text))</text>\n"
    case .picture: ""
    case .note(let text, let rect):
      "<rect x=\"\(rect.x)\" y=\"\(rect.y)\" width=\"\(rect.width)\" height=\"\(rect.height)\" fill=\"none\" pointer-events=\"all\"><title>\(escaped(text))</title></rect>\n"
    }
  }

  private static func word(_ colour: RGBColour) -> String {
    "#" + [colour.red, colour.green, colour.blue].map { $0.digits(2, radix: 16) }.joined()
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar.value < 32 && scalar != "\n" ? " " : scalar)
      }
    }
    return result
  }
}
