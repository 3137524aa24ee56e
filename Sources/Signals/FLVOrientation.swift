package import UprightOrientation

/// The orientation of the frames according to FLV's `onMetaData` script data.
///
/// No standard defines these two members; senders write them as numbers or as text. Supported are:
///
/// - `orientation`: EXIF's 1...8, a multiple of 90 (degrees clockwise), or one of the eight names
///   (`right`, `leftMirrored`);
/// - `rotation`: degrees clockwise, any number, like the `rotate` tag.
///
/// An angle of more than ten full turns either way is invalid. If both members are valid,
/// `orientation` is used, because it can represent mirroring too.
package struct FLVOrientation: Sendable, Hashable {
  /// A member's value.
  package enum Value: Sendable, Hashable {
    case number(Double)
    case text(String)
    /// A Boolean, an object, a date: nothing that can be converted to a rotation.
    case other
  }

  /// The member `orientation`; `nil` if absent.
  package var orientation: Value?
  /// The member `rotation`; `nil` if absent.
  package var rotation: Value?

  /// Creates a value from the two members as read.
  package init(orientation: Value?, rotation: Value?) {
    self.orientation = orientation
    self.rotation = rotation
  }

  /// Whether both members are absent.
  package var isEmpty: Bool { orientation == nil && rotation == nil }

  /// The rotation that makes the frames upright; `nil` if no member is valid.
  package var turn: DisplayTurn? { orientation.flatMap(Self.turn) ?? rotation.flatMap(Self.roll) }

  /// The invalid members, in a form such as `orientation "sideways"`.
  package var senseless: [String] {
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
  package var description: String {
    switch self {
    case .number(let number): "\(number)"
    case .text(let text): "\"\(text.prefix(40))\""
    case .other: "that is neither a number nor text"
    }
  }
}
