public import Orientation

/// What FLV's script data `onMetaData` says of how the pictures lie.
///
/// No standard names these two members; senders write them as numbers or as text. Read here are:
///
/// - `orientation`: EXIF's 1...8, a multiple of 90 (degrees clockwise), or a name of the eight
///   (`right`, `leftMirrored`);
/// - `rotation`: degrees clockwise, any number, as the `rotate` tag.
///
/// More than ten whole turns either way are no angle that anybody meant.
/// Where both make sense `orientation` stands: it can say a mirror as well.
public struct FLVOrientation: Sendable, Hashable {
  /// A member's value.
  public enum Value: Sendable, Hashable {
    case number(Double)
    case text(String)
    /// A truth value, an object, a date: nothing that a turn could be read from.
    case other
  }

  /// The member `orientation`; nil where there is none.
  public var orientation: Value?
  /// The member `rotation`; nil where there is none.
  public var rotation: Value?

  /// The two members as they were read.
  public init(orientation: Value?, rotation: Value?) {
    self.orientation = orientation
    self.rotation = rotation
  }

  /// Whether anything is said.
  public var isEmpty: Bool { orientation == nil && rotation == nil }

  /// What stands the pictures upright; nil where nothing is said that makes sense.
  public var turn: DisplayTurn? { orientation.flatMap(Self.turn) ?? rotation.flatMap(Self.roll) }

  /// The members that make no sense, as `orientation "sideways"`.
  public var senseless: [String] {
    var words: [String] = []
    if let orientation, Self.turn(orientation) == nil { words.append("orientation \(orientation)") }
    if let rotation, Self.roll(rotation) == nil { words.append("rotation \(rotation)") }
    return words
  }

  private static func turn(_ orientation: Value) -> DisplayTurn? {
    if case .text(let text) = orientation, let named = ImageOrientation(name: text) {
      return DisplayTurn(named)
    }
    guard let number = orientation.number else { return nil }
    if let exif = Int(exactly: number).flatMap(ImageOrientation.init(exif:)) {
      return DisplayTurn(exif)
    }
    return number.truncatingRemainder(dividingBy: 90) == 0 ? angle(number) : nil
  }

  private static func roll(_ rotation: Value) -> DisplayTurn? {
    rotation.number.flatMap { angle($0) }
  }

  private static func angle(_ degrees: Double) -> DisplayTurn? {
    abs(degrees) <= 3600 ? DisplayTurn(clockwiseDegrees: degrees) : nil
  }
}

extension FLVOrientation.Value {
  var number: Double? {
    switch self {
    case .number(let number): number
    case .text(let text): Double(text)
    case .other: nil
    }
  }
}

extension FLVOrientation.Value: CustomStringConvertible {
  /// The number, or the text in quotes.
  public var description: String {
    switch self {
    case .number(let number): "\(number)"
    case .text(let text): "\"\(text.prefix(40))\""
    case .other: "that is no number and no text"
    }
  }
}
