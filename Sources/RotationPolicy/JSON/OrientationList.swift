public import UprightOrientation

/// A list of interface orientations, such as `["landscape"]` or `["portrait", "all"]`.
///
/// Only the mask has a meaning. The words are kept so that a report quotes an event as it was written.
public struct OrientationList: Sendable, Hashable, Codable {
  /// The union of the words.
  public let mask: InterfaceOrientationMask
  /// The words in their original order, in the camelCase of the output.
  public let words: [String]

  /// Creates the shortest list for `mask`.
  public init(_ mask: InterfaceOrientationMask) {
    self.mask = mask
    switch mask {
    case .all: words = ["all"]
    case .allButUpsideDown: words = ["allButUpsideDown"]
    case .landscape: words = ["landscape"]
    default: words = mask.orientations.map(\.name)
    }
  }

  init(reading node: JSONNode) throws(PolicyError) {
    var mask: InterfaceOrientationMask = []
    var words: [String] = []
    let elements = try node.elements("a list of orientations like [\"portrait\", \"landscape\"]")
    for element in elements {
      let index = try element.word("an interface orientation or mask", from: Self.indices)
      words.append(Self.vocabulary[index].0)
      mask.formUnion(Self.vocabulary[index].1)
    }
    self.mask = mask
    self.words = words
  }

  var json: JSONValue { .array(words.map { .string($0) }) }

  /// The words for orientations and masks, with their bits.
  private static let vocabulary: [(String, InterfaceOrientationMask)] =
    InterfaceOrientation.upright.map { ($0.name, InterfaceOrientationMask($0)) } + [
      ("landscape", .landscape), ("all", .all), ("allButUpsideDown", .allButUpsideDown),
    ]
  /// All words of `vocabulary`.
  static let known = vocabulary.map(\.0)
  private static let indices = vocabulary.indices.map { (vocabulary[$0].0, $0) }
}

extension JSONNode {
  /// Returns one of the four interface orientations. `unknown` is an error, because nothing can rotate to it.
  func interfaceOrientation() throws(PolicyError) -> InterfaceOrientation {
    if case .array = value {
      throw failure(
        .value, "a list where one orientation is expected",
        remedy: "write a single word: only one orientation can be requested or preferred")
    }
    if case .string(let text) = value,
      ["landscape", "all", "allbutupsidedown"].contains(text.lowercased())
    {
      throw failure(
        .value, "\(quoted(text)) is a mask of several orientations",
        remedy: "write one of them: only one orientation can be requested or preferred")
    }
    return try word("an interface orientation", from: Self.interfaceWords)
  }

  /// Returns one of the seven device orientations.
  func deviceOrientation() throws(PolicyError) -> DeviceOrientation {
    try word("a device orientation", from: Self.deviceWords)
  }

  private static let interfaceWords = InterfaceOrientation.upright.map { ($0.name, $0) }
  private static let deviceWords = DeviceOrientation.allCases.map { ($0.name, $0) }
}
