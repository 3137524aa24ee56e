public import RotationPolicy

/// What a session tells while it runs.
public enum SessionUpdate: Sendable {
  /// How far it is.
  case progress(SessionProgress)
  /// An event was answered: an entry of spec 4's `events`.
  case decision(RotationDecision)
  /// The format changed: an entry of spec 4's `formats`.
  case format(JSONValue)
}

/// How far a session is.
public struct SessionProgress: Sendable, Hashable {
  /// Frames written so far.
  public var frames: Int
  /// Seconds on the media timeline.
  public var seconds: Double
  /// The clip's length in seconds; nil where unknown.
  public var duration: Double?
  /// The app orientation at the present frame, by name.
  public var appOrientation: String
  /// Seconds since the start of the run.
  public var elapsed: Double

  package init(
    frames: Int, seconds: Double, duration: Double? = nil, appOrientation: String, elapsed: Double
  ) {
    self.frames = frames
    self.seconds = seconds
    self.duration = duration
    self.appOrientation = appOrientation
    self.elapsed = elapsed
  }
}
