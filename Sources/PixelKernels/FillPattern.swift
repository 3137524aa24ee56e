package import UprightOrientation

/// An opaque colour, eight bits per channel, full-range sRGB as written in `RRGGBB`.
public struct RGBColour: Sendable, Hashable, Codable {
  /// 0...255.
  public var red: UInt8
  /// 0...255.
  public var green: UInt8
  /// 0...255.
  public var blue: UInt8

  /// A colour of three channels.
  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Reads `RRGGBB`, with or without a `#`. Returns `nil` for anything else.
  public init?(hex: String) {
    let digits = hex.hasPrefix("#") ? hex.dropFirst() : Substring(hex)
    guard digits.utf8.count == 6, let value = UInt32(digits, radix: 16), !digits.hasPrefix("+")
    else { return nil }
    self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
  }

  /// `000000`.
  public static let black = RGBColour(red: 0, green: 0, blue: 0)
}

/// How YUV samples are made of red, green and blue (ISO/IEC 23091-2).
public struct ColourCoding: Sendable, Hashable {
  /// Red's weight in luma.
  public var redWeight: Double
  /// Blue's weight in luma.
  public var blueWeight: Double
  /// Whether luma uses 0...255 rather than 16...235.
  public var isFullRange: Bool

  /// A matrix by its two weights, and a range.
  public init(redWeight: Double, blueWeight: Double, isFullRange: Bool = false) {
    self.redWeight = redWeight
    self.blueWeight = blueWeight
    self.isFullRange = isFullRange
  }

  /// BT.601, limited range.
  public static let bt601 = ColourCoding(redWeight: 0.299, blueWeight: 0.114)
  /// BT.709, limited range.
  public static let bt709 = ColourCoding(redWeight: 0.2126, blueWeight: 0.0722)
  /// BT.2020, limited range.
  public static let bt2020 = ColourCoding(redWeight: 0.2627, blueWeight: 0.0593)
}

/// One pixel of a colour in a layout, plane by plane: what is repeated to fill an area.
package struct FillPattern: Sendable, Hashable {
  private let layout: PixelLayout
  private let elements: [[UInt8]]

  /// The samples of `rgb`.
  package init(_ rgb: RGBColour, _ layout: PixelLayout, _ coding: ColourCoding) {
    self.layout = layout
    var elements = layout.planes.map { [UInt8](repeating: 0, count: $0.elementSize) }
    let values = Self.levels(rgb, isRGB: layout.isRGB, coding)
    for (index, component) in layout.components.enumerated() {
      let isAlpha = layout.hasAlpha && index == layout.components.count - 1
      let top = Double((1 << component.depth) - 1)
      let level = isAlpha ? top : values[min(index, 2)].scaled(to: component.depth)
      let sample = Int(clamping: max(0, min(top, level))) << component.shift
      let (plane, offset) = (component.plane, component.offset)
      guard plane < elements.count, offset < elements[plane].count else { continue }
      if component.depth + component.shift <= 8 {
        elements[plane][offset] |= UInt8(truncatingIfNeeded: sample)
      } else if offset + 1 < elements[plane].count {
        let (low, high) = (
          UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)
        )
        elements[plane][offset] |= layout.isBigEndian ? high : low
        elements[plane][offset + 1] |= layout.isBigEndian ? low : high
      }
    }
    self.elements = elements
  }

  /// A component on the scale of eight bits.
  private struct Level {
    let value: Double
    /// Full range stretches to all ones, limited range shifts (ITU-T H.273, 8.3).
    let isFullRange: Bool

    func scaled(to depth: Int) -> Double {
      isFullRange ? value / 255 * Double((1 << depth) - 1) : value * Double(1 << (depth - 8))
    }
  }

  private static func levels(_ rgb: RGBColour, isRGB: Bool, _ coding: ColourCoding) -> [Level] {
    let (red, green, blue) = (
      Double(rgb.red) / 255, Double(rgb.green) / 255, Double(rgb.blue) / 255
    )
    if isRGB { return [red, green, blue].map { Level(value: $0 * 255, isFullRange: true) } }
    let luma =
      coding.redWeight * red + (1 - coding.redWeight - coding.blueWeight) * green
      + coding.blueWeight * blue
    let cb = (blue - luma) / (2 * (1 - coding.blueWeight))
    let cr = (red - luma) / (2 * (1 - coding.redWeight))
    if coding.isFullRange {
      // The centre of chroma is 2^(n-1), which isn't half of all ones.
      return [
        Level(value: luma * 255, isFullRange: true),
        Level(value: 128 + cb * 255, isFullRange: false),
        Level(value: 128 + cr * 255, isFullRange: false),
      ]
    }
    return [
      Level(value: 16 + luma * 219, isFullRange: false),
      Level(value: 128 + cb * 224, isFullRange: false),
      Level(value: 128 + cr * 224, isFullRange: false),
    ]
  }

  /// Fills `frame`, whose layout must be the pattern's.
  package func fill(_ frame: MutablePlaneSet) {
    for index in 0..<min(frame.count, elements.count) {
      let (plane, element) = (frame[index], elements[index])
      guard plane.width > 0 else { continue }
      let first = unsafe plane.bytes
      // The first row by elements, the others as copies of it.
      for x in 0..<plane.width {
        for byte in element.indices { unsafe first[x * element.count + byte] = element[byte] }
      }
      let bytes = plane.width * element.count
      for y in 1..<max(1, plane.height) {
        unsafe (first + y * plane.stride).update(from: first, count: bytes)
      }
    }
  }

  /// Fills what is around `rect` in `frame`. The rectangle's edges must be multiples of the alignment, or
  /// the frame's own.
  package func fill(_ frame: MutablePlaneSet, around rect: PixelRect) {
    let margins = frame.size.margins(around: rect)
    for index in margins.indices {
      if let window = frame.window(margins[index]) { fill(window) }
    }
  }
}

extension PixelSize {
  /// The areas of a frame of this size around `rect`: above, below, left and right of it. Some may be empty.
  package func margins(around rect: PixelRect) -> InlineArray<4, PixelRect> {
    let below = rect.y + rect.height
    let right = rect.x + rect.width
    return [
      PixelRect(x: 0, y: 0, width: width, height: rect.y),
      PixelRect(x: 0, y: below, width: width, height: height - below),
      PixelRect(x: 0, y: rect.y, width: rect.x, height: rect.height),
      PixelRect(x: right, y: rect.y, width: width - right, height: rect.height),
    ]
  }
}
