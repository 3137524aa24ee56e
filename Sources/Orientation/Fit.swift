/// How a frame is fitted into a canvas with another aspect ratio.
public enum Fit: String, CaseIterable, Sendable, Hashable, Codable {
  /// Shows the whole frame and keeps its aspect ratio; the rest of the canvas stays empty.
  case fit
  /// Like `fit`, with a blurred copy of the frame, scaled to fill the canvas, behind it.
  case blur
  /// Fills the whole canvas and keeps the frame's aspect ratio; what extends past the canvas is
  /// cropped.
  case fill
  /// Scales the whole frame to the whole canvas; the aspect ratio is not kept.
  case stretch
}

/// The part of the frame that is kept when it is cropped, and its position when there is spare
/// space, in terms of the upright frame. Leading is left.
public enum Anchor: String, CaseIterable, Sendable, Hashable, Codable {
  /// The middle.
  case center
  /// The middle of the top edge.
  case top
  /// The middle of the bottom edge.
  case bottom
  /// The middle of the left edge.
  case leading
  /// The middle of the right edge.
  case trailing
  /// The top left corner.
  case topLeading
  /// The top right corner.
  case topTrailing
  /// The bottom left corner.
  case bottomLeading
  /// The bottom right corner.
  case bottomTrailing

  /// The share of the spare width to the left of the anchored part: 0, 0.5 or 1.
  public var x: Double {
    switch self {
    case .leading, .topLeading, .bottomLeading: 0
    case .center, .top, .bottom: 0.5
    case .trailing, .topTrailing, .bottomTrailing: 1
    }
  }

  /// The share of the spare height above the anchored part: 0, 0.5 or 1.
  public var y: Double {
    switch self {
    case .top, .topLeading, .topTrailing: 0
    case .center, .leading, .trailing: 0.5
    case .bottom, .bottomLeading, .bottomTrailing: 1
    }
  }

  /// Creates the anchor with this name, ignoring case. Returns `nil` for any other word.
  public init?(name: String) {
    guard let match = Word.find(name, among: Self.allCases, \.rawValue) else { return nil }
    self = match
  }
}
