extension ImageOrientation {
  /// The orientations in the order of `UIImageOrientation`'s raw values (0...7), which differ from
  /// EXIF's.
  private static let uiImageOrder: [ImageOrientation] = [
    .up, .down, .left, .right, .upMirrored, .downMirrored, .leftMirrored, .rightMirrored,
  ]

  /// Creates an orientation from a `UIImageOrientation` raw value. Returns `nil` outside 0...7.
  public init?(uiImageOrientation raw: Int) {
    guard Self.uiImageOrder.indices.contains(raw) else { return nil }
    self = Self.uiImageOrder[raw]
  }

  /// `UIImageOrientation`'s raw value, 0...7.
  public var uiImageOrientation: Int { Self.uiImageOrder.firstIndex(of: self) ?? 0 }
}
