public import UprightOrientation
internal import UprightMediaIO

/// A still picture that is drawn over every frame (`--overlay`), such as `logo.png@topTrailing:24`.
public struct Overlay: Sendable, Hashable, Codable {
  /// What an overlay is attached to.
  public enum Attachment: Sendable, Hashable, Codable {
    /// The canvas: the picture is upright and is placed again for each canvas.
    case canvas
    /// The screen of the device: the picture keeps its place on the screen while the interface turns, so it
    /// has the orientation of the device.
    case window
  }

  /// The path of the picture's file.
  public var path: String
  /// The position on the canvas or on the screen.
  public var anchor: Anchor
  /// The distance in pixels between the picture and the edges that it is anchored to.
  public var margin: Int
  /// The size that the picture is fitted into, with its aspect ratio kept; `nil` for the picture's original
  /// size.
  public var size: PixelSize?
  /// What the overlay is attached to.
  public var attachment: Attachment

  /// Creates an overlay.
  public init(
    path: String, anchor: Anchor = .topTrailing, margin: Int = 0, size: PixelSize? = nil,
    attachment: Attachment = .canvas
  ) {
    self.path = path
    self.anchor = anchor
    self.margin = margin
    self.size = size
    self.attachment = attachment
  }

  /// The largest margin and the largest side length, in pixels.
  static let limit = 16384

  /// Parses `FILE@ANCHOR[:MARGIN][:WxH][:window]`. The last `@` separates the file from the anchor.
  ///
  /// - Throws: `usage` if the text has another form; the remedy shows the expected form.
  public init(parsing text: String) throws(UprightError) {
    func expected(_ what: String) -> UprightError {
      UprightError(
        .usage, what, at: "--overlay \(text)",
        remedy:
          "write FILE@ANCHOR[:MARGIN][:WxH][:window], such as logo.png@topTrailing:24; anchors: "
          + Anchor.allCases.map(\.rawValue).joined(separator: ", "))
    }
    guard let at = text.lastIndex(of: "@"), at > text.startIndex else {
      throw expected("the overlay has no anchor")
    }
    let words = text[text.index(after: at)...].split(
      separator: ":", omittingEmptySubsequences: false)
    guard let name = words.first, let anchor = Anchor(name: String(name)) else {
      throw expected("\(words.first ?? "") is not an anchor")
    }
    self.init(path: String(text[..<at]), anchor: anchor)
    var hasMargin = false
    for word in words.dropFirst() {
      if word.lowercased() == "window", attachment == .canvas {
        attachment = .window
      } else if !hasMargin, let margin = Self.number(word) {
        self.margin = margin
        hasMargin = true
      } else if size == nil, let size = Self.size(word) {
        self.size = size
      } else {
        throw expected("\(word) is not a margin, a size or window")
      }
    }
  }

  private static func number(_ word: Substring) -> Int? {
    guard word.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(word), value <= limit
    else { return nil }
    return value
  }

  private static func size(_ word: Substring) -> PixelSize? {
    let sides = word.lowercased().split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, let width = number(sides[0]), let height = number(sides[1]),
      width > 0, height > 0
    else { return nil }
    return PixelSize(width, height)
  }
}
