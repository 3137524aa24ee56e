/// How a picture goes into a canvas of another shape.
public enum Fit: String, CaseIterable, Sendable, Hashable {
  /// All of the picture, its shape kept; the rest of the canvas is left over.
  case fit
  /// As `fit`; a blurred copy of the picture that fills the canvas stands in the rest.
  case blur
  /// All of the canvas, the picture's shape kept; what sticks out is cropped.
  case fill
  /// All of the picture over all of the canvas; its shape is lost.
  case stretch
}

/// Which part of the picture stays when it is cropped, and where it stands when room is left over,
/// as seen on the upright picture. Leading is left.
public enum Anchor: String, CaseIterable, Sendable, Hashable {
  case center, top, bottom, leading, trailing
  case topLeading, topTrailing, bottomLeading, bottomTrailing

  /// How much of the spare width lies to the left of the anchored part: 0, 0.5 or 1.
  public var x: Double {
    switch self {
    case .leading, .topLeading, .bottomLeading: 0
    case .center, .top, .bottom: 0.5
    case .trailing, .topTrailing, .bottomTrailing: 1
    }
  }

  /// How much of the spare height lies above the anchored part: 0, 0.5 or 1.
  public var y: Double {
    switch self {
    case .top, .topLeading, .topTrailing: 0
    case .center, .leading, .trailing: 0.5
    case .bottom, .bottomLeading, .bottomTrailing: 1
    }
  }

  /// The anchor of that word, upper and lower case alike; nil for any other word.
  public init?(name: String) {
    guard let match = Word.find(name, among: Self.allCases, \.rawValue) else { return nil }
    self = match
  }
}
