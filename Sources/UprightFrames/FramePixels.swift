package import UprightOrientation
package import UprightKernels

/// The pixel format that a reader or an adapter returns.
public struct FramePixels: Sendable, Hashable {
  /// The format by libavutil's name; `nil` for that of the input.
  package let name: String?
  /// How its samples are stored; `nil` for that of the input.
  package let layout: PixelLayout?

  /// The format of the input: its planes after the turn. For a reader, where YUV4MPEG2 has it (4:2:0, 4:2:2, 4:4:4 and
  /// luma alone, 8 to 12 bits), else 4:2:0; it is that of the first frame, whatever follows.
  public static let native = FramePixels(name: nil, layout: nil)
  /// Red, green and blue, a byte each.
  public static let rgb24 = FramePixels(name: "rgb24", layout: .rgb24)
  /// A plane of luma and one of Cb and Cr in pairs, 8 bits.
  public static let nv12 = FramePixels(name: "nv12", layout: .nv12)
  /// Three planes of 4:2:0, 8 bits.
  public static let yuv420p = FramePixels(name: "yuv420p", layout: .i420())

  /// The format of a name in options: `native`, `rgb24`, `nv12` or `yuv420p`.
  ///
  /// - Throws: `usage` for any other.
  package init(parsing text: String) throws(UprightError) {
    switch text.lowercased() {
    case "native": self = .native
    case "rgb24": self = .rgb24
    case "nv12": self = .nv12
    case "yuv420p": self = .yuv420p
    default:
      throw UprightError(
        .usage, "\(text) is not a format of frames", at: "pixels",
        remedy: "use native, rgb24, nv12 or yuv420p")
    }
  }

  private init(name: String?, layout: PixelLayout?) {
    self.name = name
    self.layout = layout
  }

  /// The layout of the planes that are drawn, of which those of the format are made.
  ///
  /// - Parameter turned: The planes of the input after the turn.
  /// - Returns: `nil` if the format can't be made of them.
  func drawn(of turned: PixelLayout) -> PixelLayout? {
    guard let layout, layout != turned else { return turned }
    // Three planes: those of chroma are drawn with the subsampling of the result.
    let isPlanar = turned.planes.count == 3 && !turned.isRGB && turned.bitDepth == 8
    let drawn = isPlanar && !layout.isRGB ? Self.yuv420p.layout ?? turned : turned
    if drawn == layout { return drawn }
    return SampleConversion(from: drawn, to: layout, .bt601) == nil ? nil : drawn
  }
}
