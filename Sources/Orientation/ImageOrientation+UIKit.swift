extension ImageOrientation {
  /// `UIImageOrientation`'s raw values (0...7), which are not EXIF's.
  private static let uiImageOrder: [ImageOrientation] = [
    .up, .down, .left, .right, .upMirrored, .downMirrored, .leftMirrored, .rightMirrored,
  ]

  /// The orientation of a `UIImageOrientation` raw value; nil outside 0...7.
  public init?(uiImageOrientation raw: Int) {
    guard Self.uiImageOrder.indices.contains(raw) else { return nil }
    self = Self.uiImageOrder[raw]
  }

  /// `UIImageOrientation`'s raw value, 0...7.
  public var uiImageOrientation: Int { Self.uiImageOrder.firstIndex(of: self) ?? 0 }
}
