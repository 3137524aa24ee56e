extension DeviceOrientation {
  /// The name used in JSON and on the command line, in camelCase (`landscapeLeft`).
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .portrait: "portrait"
    case .portraitUpsideDown: "portraitUpsideDown"
    case .landscapeLeft: "landscapeLeft"
    case .landscapeRight: "landscapeRight"
    case .faceUp: "faceUp"
    case .faceDown: "faceDown"
    }
  }

  /// Creates the orientation with this name, ignoring case. Returns `nil` for any other word.
  public init?(name: String) {
    guard let match = Word.find(name, among: Self.allCases, \.name) else { return nil }
    self = match
  }
}
