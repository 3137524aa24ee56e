public import Orientation
public import UprightMediaIO

/// A picture that is laid over every frame (`--overlay`), as in `logo.png@topTrailing:24`.
public struct Overlay: Sendable, Hashable {
  /// What it is attached to.
  public enum Attachment: Sendable, Hashable {
    /// The canvas: upright, and laid out again for each canvas.
    case canvas
    /// The screen of the device: it stays where it was on the glass while the interface turns, and so
    /// lies as the device does.
    case window
  }

  /// The picture's file.
  public var path: String
  /// The place on the canvas, or on the screen.
  public var anchor: Anchor
  /// Pixels between the picture and the edges that it is anchored to.
  public var margin: Int
  /// The size it is fitted into, its shape kept; nil: its own.
  public var size: PixelSize?
  /// What it is attached to.
  public var attachment: Attachment

  /// An overlay.
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

  /// The largest margin and side, in pixels.
  static let limit = 16384

  /// Reads `FILE@ANCHOR[:MARGIN][:WxH][:window]`; the last `@` counts.
  ///
  /// - Throws: `usage`, saying what was expected.
  public init(parsing text: String) throws(MediaError) {
    func expected(_ what: String) -> MediaError {
      MediaError(
        .usage, what, at: "--overlay \(text)",
        remedy:
          "write FILE@ANCHOR[:MARGIN][:WxH][:window], as in logo.png@topTrailing:24; anchors: "
          + Anchor.allCases.map(\.rawValue).joined(separator: ", "))
    }
    guard let at = text.lastIndex(of: "@"), at > text.startIndex else {
      throw expected("an overlay without a place")
    }
    let words = text[text.index(after: at)...].split(
      separator: ":", omittingEmptySubsequences: false)
    guard let name = words.first, let anchor = Anchor(name: String(name)) else {
      throw expected("\(words.first ?? "") is no anchor")
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
        throw expected("\(word) is no margin, size or window")
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
