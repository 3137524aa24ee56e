extension ImageOrientation {
  /// The name used in JSON and reports: `CGImagePropertyOrientation`'s in camelCase
  /// (`leftMirrored`).
  public var name: String {
    switch self {
    case .up: "up"
    case .upMirrored: "upMirrored"
    case .down: "down"
    case .downMirrored: "downMirrored"
    case .leftMirrored: "leftMirrored"
    case .right: "right"
    case .rightMirrored: "rightMirrored"
    case .left: "left"
    }
  }

  /// Creates the orientation with this name, ignoring case. Returns `nil` for any other word.
  public init?(name: String) {
    guard let match = Word.find(name, among: Self.allCases, \.name) else { return nil }
    self = match
  }
}
