/// Something in a file because of which it may be shown wrong, or which says more than its owner may want.
public struct CheckProblem: Sendable, Hashable {
  /// The kinds of problems.
  public enum Kind: String, Sendable, CaseIterable {
    /// A turn that some classes of players miss.
    case missedTurn
    /// Signals that give the same frames different orientations.
    case contradiction
    /// An orientation that changes in mid-stream.
    case midStreamTurn
    /// Frames that are shown mirrored.
    case mirrored
    /// Pixels that aren't square.
    case aspectRatio
    /// An orientation that is no quarter turn, or a matrix that is no turn at all.
    case angle
    /// A motion photo whose image and video are turned differently.
    case motionPhoto
    /// A position (GPS) in the metadata.
    case location
    /// A playlist that violates a rule.
    case playlist
  }

  /// What is wrong.
  public let kind: Kind
  /// What was found, for the user.
  public let detail: String

  init(_ kind: Kind, _ detail: String) { (self.kind, self.detail) = (kind, detail) }
}
