public import UprightPolicy

/// An update from a running session.
public enum SessionUpdate: Sendable {
  /// The progress so far.
  case progress(SessionProgress)
  /// An event was decided: an entry of the report's `events`.
  case decision(RotationDecision)
  /// The format changed.
  case format(FormatChange)
}

/// The progress of a session.
public struct SessionProgress: Sendable, Hashable {
  /// The number of frames written so far.
  public var frames: Int
  /// The position on the media timeline, in seconds.
  public var seconds: Double
  /// The length of the input in seconds; `nil` if unknown.
  public var duration: Double?
  /// The name of the app orientation at the current frame.
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
