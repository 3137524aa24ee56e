public import UprightOrientation
internal import UprightMedia

/// Which signals a file has, and which classes of players show it wrong: `upright check`.
public struct CheckedFile: Sendable, Hashable {
  /// What a file holds.
  public enum Kind: String, Sendable {
    /// Video, with or without audio.
    case video
    /// A still picture.
    case image
    /// A playlist of HLS.
    case playlist
    /// Neither a video nor an image, such as audio.
    case other
  }

  /// What a fix does.
  public enum Fix: String, Sendable, CaseIterable {
    /// Changes the bytes that say the orientation, as `upright tag`.
    case metadata
    /// Turns the frames, as `upright transcode`.
    case pixels
  }

  /// The path, as it was named.
  public let path: String
  /// What the file holds.
  public let kind: Kind
  /// The orientation that makes the first frames upright, by the strongest signal. `nil` if there is no picture.
  public package(set) var orientation: ImageOrientation?
  /// The changes of the signals over time.
  public package(set) var signals: [Probe.Signal] = []
  /// How each class of players shows the video. Empty for other files.
  public package(set) var classes: [PlayerClass: PlayerClass.Verdict] = [:]
  /// What was found, each kind once, in the order of the kinds.
  public package(set) var problems: [CheckProblem] = []

  package init(path: String, kind: Kind) { (self.path, self.kind) = (path, kind) }

  /// Adds a problem, unless there is one of its kind.
  package mutating func add(_ kind: CheckProblem.Kind, _ detail: String) {
    guard !has(kind) else { return }
    problems.append(CheckProblem(kind, detail))
    let order = CheckProblem.Kind.allCases
    problems.sort { one, other in
      (order.firstIndex(of: one.kind) ?? 0) < (order.firstIndex(of: other.kind) ?? 0)
    }
  }

  func has(_ kind: CheckProblem.Kind) -> Bool { problems.contains { $0.kind == kind } }

  /// Whether `fix` would change something that is wrong.
  public func needs(_ fix: Fix) -> Bool {
    switch fix {
    case .metadata: has(.contradiction) || has(.motionPhoto) || classes[.file] == .wrong
    case .pixels:
      classes.values.contains(.wrong) || has(.contradiction) || has(.angle) && kind == .video
    }
  }

  /// Returns why `fix` can't mend the file; `nil` if it can.
  public func obstacle(to fix: Fix) -> String? {
    switch fix {
    case .metadata:
      if has(.midStreamTurn) { return "its orientation changes in mid-stream: use --fix pixels" }
      if has(.angle) { return "its turn is no quarter turn: use --fix pixels" }
      return kind == .playlist ? "a playlist has no orientation: use --fix pixels" : nil
    case .pixels:
      return kind == .image ? "the pixels of still images aren't turned: use --fix metadata" : nil
    }
  }
}
