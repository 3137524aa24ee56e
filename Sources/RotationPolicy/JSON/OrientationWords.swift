public import Orientation

/// A list of interface orientations as it was written: `["landscape"]`, `["portrait", "all"]`.
///
/// The mask is what counts; the words are kept so that a report quotes an event in its own words.
public struct OrientationWords: Sendable, Hashable {
  /// The union of the words.
  public let mask: InterfaceOrientationMask
  /// The words in the order written, in the camelCase of the output.
  public let words: [String]

  /// The fewest words for `mask`.
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

  /// The words a mask is written with, and their bits.
  private static let vocabulary: [(String, InterfaceOrientationMask)] =
    InterfaceOrientation.upright.map { ($0.name, InterfaceOrientationMask($0)) } + [
      ("landscape", .landscape), ("all", .all), ("allButUpsideDown", .allButUpsideDown),
    ]
  /// All of these words.
  static let known = vocabulary.map(\.0)
  private static let indices = vocabulary.indices.map { (vocabulary[$0].0, $0) }
}

extension JSONNode {
  /// One of the four orientations a screen can be in. `unknown` is not one: nothing turns to it.
  func interfaceOrientation() throws(PolicyError) -> InterfaceOrientation {
    if case .array = value {
      throw failure(
        .value, "a list where one orientation is expected",
        remedy: "write a single word: only one orientation can be asked for or preferred")
    }
    if case .string(let text) = value,
      ["landscape", "all", "allbutupsidedown"].contains(text.lowercased())
    {
      throw failure(
        .value, "\(quoted(text)) is a mask of several orientations",
        remedy: "write the one that is meant: only one can be asked for or preferred")
    }
    return try word("an interface orientation", from: Self.interfaceWords)
  }

  /// One of the seven ways a device is held.
  func deviceOrientation() throws(PolicyError) -> DeviceOrientation {
    try word("a device orientation", from: Self.deviceWords)
  }

  private static let interfaceWords = InterfaceOrientation.upright.map { ($0.name, $0) }
  private static let deviceWords = DeviceOrientation.allCases.map { ($0.name, $0) }
}
