extension InterfaceOrientation {
  /// The name used in JSON and on the command line, in camelCase (`landscapeLeft`).
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .portrait: "portrait"
    case .portraitUpsideDown: "portraitUpsideDown"
    case .landscapeRight: "landscapeRight"
    case .landscapeLeft: "landscapeLeft"
    }
  }

  /// Creates the orientation with this name (the four upright ones and `unknown`), ignoring case.
  /// Returns `nil` for any other word.
  public init?(name: String) {
    guard let match = Word.find(name, among: Self.allCases, \.name) else { return nil }
    self = match
  }
}

extension InterfaceOrientationMask {
  /// UIKit's names of masks with more than one orientation.
  static let words: [(name: String, mask: Self)] = [
    ("landscape", .landscape), ("all", .all), ("allButUpsideDown", .allButUpsideDown),
  ]

  /// Creates the mask with this name, ignoring case: an orientation's name, `landscape`, `all` or
  /// `allButUpsideDown`. Returns `nil` for any other word, and for `unknown`, which is in no mask.
  public init?(name: String) {
    if let orientation = InterfaceOrientation(name: name) {
      guard orientation != .unknown else { return nil }
      self.init(orientation)
    } else if let word = Word.find(name, among: Self.words, \.name) {
      self = word.mask
    } else {
      return nil
    }
  }

  /// The name of exactly this mask, or `nil` if no single name matches.
  public var name: String? {
    let members = orientations
    if members.count == 1, self == Self(members[0]) { return members[0].name }
    return Self.words.first { $0.mask == self }?.name
  }
}
