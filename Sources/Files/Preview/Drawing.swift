internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// A drawing of simple shapes in pixels, x to the right and y down. It can be written as SVG or painted.
struct Drawing {
  /// A shape. Later shapes are drawn over earlier ones.
  enum Shape {
    case rectangle(PixelRect, RGBColour)
    /// A line one pixel wide, vertical or horizontal.
    case line(x: Int, y: Int, length: Int, isUpright: Bool, RGBColour)
    /// An arrowhead that points down, with its tip at (x, y).
    case arrow(x: Int, y: Int, RGBColour)
    /// Two crossing strokes, centred on (x, y).
    case cross(x: Int, y: Int, RGBColour)
    /// A small disc, centred on (x, y).
    case dot(x: Int, y: Int, RGBColour)
    /// A line of text whose letters are between y and y + `Text.height`.
    case text(String, x: Int, y: Int, RGBColour)
    case picture(RGBPicture, x: Int, y: Int)
    /// A tooltip of the rectangle, in formats that support tooltips.
    case note(String, PixelRect)
  }

  var size: PixelSize
  private(set) var shapes: [Shape] = []

  init(size: PixelSize) { self.size = size }

  mutating func add(_ shape: Shape) { shapes.append(shape) }

  /// Adds text, shortened to `width` pixels.
  mutating func add(_ text: String, x: Int, y: Int, width: Int, _ colour: RGBColour) {
    let room = width / Text.advance
    guard room >= 2 else { return }
    let cut = text.count <= room ? text : String(text.prefix(room - 1)) + "."
    add(.text(cut, x: x, y: y, colour))
  }

  /// Adds the shapes of another drawing, shifted down by `y`.
  mutating func add(_ other: Drawing, below y: Int) {
    for shape in other.shapes {
      switch shape {
      case .rectangle(var rect, let colour):
        rect.y += y
        add(.rectangle(rect, colour))
      case .line(let x, let top, let length, let isUpright, let colour):
        add(.line(x: x, y: top + y, length: length, isUpright: isUpright, colour))
      case .arrow(let x, let tip, let colour): add(.arrow(x: x, y: tip + y, colour))
      case .cross(let x, let middle, let colour): add(.cross(x: x, y: middle + y, colour))
      case .dot(let x, let middle, let colour): add(.dot(x: x, y: middle + y, colour))
      case .text(let text, let x, let top, let colour):
        add(.text(text, x: x, y: top + y, colour))
      case .picture(let picture, let x, let top): add(.picture(picture, x: x, y: top + y))
      case .note(let text, var rect):
        rect.y += y
        add(.note(text, rect))
      }
    }
  }

  /// Text metrics for layout, whatever typeface is used.
  enum Text {
    /// The font size in pixels.
    static let em = 16
    /// The advance per letter in pixels, enough for most letters of a sans-serif typeface.
    static let advance = 10
    /// The height of a capital letter with the space above it, in pixels.
    static let height = 14

    static func width(_ text: String) -> Int { text.count * advance }
  }
}

/// Okabe and Ito's colours, which are distinguishable with colour blindness, on a light background.
enum Palette {
  static let paper = RGBColour(red: 255, green: 255, blue: 255)
  static let cell = RGBColour(red: 232, green: 234, blue: 237)
  static let ink = RGBColour(red: 32, green: 33, blue: 36)
  static let faint = RGBColour(red: 95, green: 99, blue: 104)
  static let rule = RGBColour(red: 200, green: 204, blue: 209)
  static let rotate = RGBColour(red: 0, green: 114, blue: 178)
  /// Vermilion, darker than theirs: texts have it, and need a contrast of 4.5.
  static let refuse = RGBColour(red: 168, green: 67, blue: 0)
  static let keep = RGBColour(red: 140, green: 144, blue: 150)

  /// The colour of an orientation, light enough for dark text.
  static func colour(_ orientation: InterfaceOrientation?) -> RGBColour {
    switch orientation {
    case .portrait: RGBColour(red: 86, green: 180, blue: 233)
    case .landscapeLeft: RGBColour(red: 230, green: 159, blue: 0)
    case .landscapeRight: RGBColour(red: 240, green: 228, blue: 66)
    case .portraitUpsideDown: RGBColour(red: 221, green: 150, blue: 190)
    default: rule
    }
  }
}
