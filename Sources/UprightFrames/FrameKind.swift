public import UprightOrientation

/// How the input frames are oriented (`--frames`).
public enum FrameKind: Sendable, Hashable {
  /// Orientation metadata in the stream says how each frame must be turned.
  case metadata
  /// As `metadata`. Where the stream has none, the camera's motion sensors say it, whose readings some cameras record
  /// (GPMF, CAMM).
  case gravity
  /// Raw sensor frames: the rotation follows from how the device is held.
  case sensor(Camera)
  /// Upright already. Orientation metadata is ignored.
  case upright

  /// Whether the stream says how its frames lie.
  package var isSignalled: Bool { self == .metadata || self == .gravity }
}

/// What the frames are oriented to (`--reference`).
public enum Reference: String, Sendable, CaseIterable {
  /// Always upright.
  case gravity
  /// The app orientation: frames are laid out as the app would send them.
  case interface
}
