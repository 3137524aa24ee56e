internal import CFFmpeg
internal import Orientation

/// An opaque colour with eight bits per channel, full-range sRGB, written as `RRGGBB`.
public struct RGBColour: Sendable, Hashable {
  /// The red channel, 0...255.
  public var red: UInt8
  /// The green channel, 0...255.
  public var green: UInt8
  /// The blue channel, 0...255.
  public var blue: UInt8

  /// Creates a colour from its three channels.
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

  /// Black, `000000`.
  public static let black = RGBColour(red: 0, green: 0, blue: 0)
}

/// One pixel of a colour in a pixel format, plane by plane. It is repeated to fill an area.
package struct FillPattern: Sendable, Hashable {
  private let elements: [[UInt8]]

  /// Returns `nil` for a format without simple planes.
  package init?(_ rgb: RGBColour, format: PixelFormat, colour: Colour) {
    guard let planes = format.planes, let descriptor = av_pix_fmt_desc_get(format.raw)?.pointee
    else {
      return nil
    }
    var elements = planes.map { [UInt8](repeating: 0, count: $0.elementSize) }
    let components = [
      descriptor.comp.0, descriptor.comp.1, descriptor.comp.2, descriptor.comp.3,
    ]
    let values = Self.components(rgb, format: format, colour: colour)
    for index in 0..<Int(descriptor.nb_components) {
      let component = components[index]
      let isAlpha = format.hasAlpha && index == Int(descriptor.nb_components) - 1
      let top = Double((1 << Int(component.depth)) - 1)
      let level = isAlpha ? top : Self.level(values[min(index, 2)], depth: Int(component.depth))
      let sample = Int(clamping: max(0, min(top, level))) << Int(component.shift)
      let plane = Int(component.plane)
      let offset = Int(component.offset)
      guard plane < elements.count, offset < elements[plane].count else { return nil }
      let isBigEndian = descriptor.flags & UInt64(AV_PIX_FMT_FLAG_BE) != 0
      let isWide = Int(component.depth) + Int(component.shift) > 8
      if !isWide {
        elements[plane][offset] |= UInt8(truncatingIfNeeded: sample)
      } else if offset + 1 < elements[plane].count {
        let (low, high) = (
          UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)
        )
        elements[plane][offset] |= isBigEndian ? high : low
        elements[plane][offset + 1] |= isBigEndian ? low : high
      }
    }
    self.elements = elements
  }

  /// A component on an eight-bit scale.
  private struct Level {
    let value: Double
    /// Full range scales to all ones, limited range shifts (ITU-T H.273, 8.3).
    let isFullRange: Bool
  }

  private static func level(_ level: Level, depth: Int) -> Double {
    level.isFullRange
      ? level.value / 255 * Double((1 << depth) - 1) : level.value * Double(1 << (depth - 8))
  }

  private static func components(
    _ rgb: RGBColour, format: PixelFormat, colour: Colour
  ) -> [Level] {
    let (red, green, blue) = (
      Double(rgb.red) / 255, Double(rgb.green) / 255, Double(rgb.blue) / 255
    )
    if format.isRGB {
      return [red, green, blue].map { Level(value: $0 * 255, isFullRange: true) }
    }
    let weights = colour.lumaWeights
    let luma = weights.red * red + (1 - weights.red - weights.blue) * green + weights.blue * blue
    let cb = (blue - luma) / (2 * (1 - weights.blue))
    let cr = (red - luma) / (2 * (1 - weights.red))
    if colour.isFullRange {
      // The centre of chroma is 2^(n-1), which isn't half of the maximum.
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

  /// Fills the area of `view`.
  package func fill(_ view: FrameView) {
    guard let planes = view.format.planes else { return }
    for (index, plane) in planes.enumerated() where index < view.starts.count {
      let size = view.planeSize(plane)
      let element = elements[index]
      let first = view.starts[index]
      // Writes the first row element by element, the others as copies of it.
      for x in 0..<size.width {
        for byte in element.indices { first[x * element.count + byte] = element[byte] }
      }
      let bytes = size.width * element.count
      for y in 1..<max(1, size.height) {
        (first + y * view.strides[index]).update(from: first, count: bytes)
      }
    }
  }
}
