extension InterfaceOrientation {
  /// The word used in JSON and on the command line, in camelCase (`landscapeLeft`).
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .portrait: "portrait"
    case .portraitUpsideDown: "portraitUpsideDown"
    case .landscapeRight: "landscapeRight"
    case .landscapeLeft: "landscapeLeft"
    }
  }

  /// The orientation of that word (the four upright ones and `unknown`), upper and lower case
  /// alike; nil for any other word.
  public init?(name: String) {
    guard let match = Word.find(name, among: Self.allCases, \.name) else { return nil }
    self = match
  }
}

extension InterfaceOrientationMask {
  /// The words of more than one orientation, as UIKit names them.
  static let words: [(name: String, mask: Self)] = [
    ("landscape", .landscape), ("all", .all), ("allButUpsideDown", .allButUpsideDown),
  ]

  /// The mask of one word: an orientation's name, `landscape`, `all` or `allButUpsideDown`, upper
  /// and lower case alike; nil for any other word, `unknown` too (it is in no mask).
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

  /// The one word that means exactly this mask, or nil where it takes several.
  public var name: String? {
    let members = orientations
    if members.count == 1, self == Self(members[0]) { return members[0].name }
    return Self.words.first { $0.mask == self }?.name
  }
}
