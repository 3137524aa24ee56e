public import RotationPolicy

/// How a live session is.
public enum LiveState: String, Sendable, CaseIterable {
  /// No input yet.
  case waiting
  case live
  /// There was input; the last picture goes on.
  case inputLost
  /// Over as it should be.
  case ended
  /// Over, with a reason.
  case failed
}

/// What a live session tells while it runs.
public enum LiveUpdate: Sendable {
  /// The state changed; with the reason where it failed or ended.
  case state(LiveState, reason: String?)
  /// An event was answered.
  case decision(RotationDecision)
  /// The format changed: an entry of spec 4's `formats`.
  case format(JSONValue)
}

/// What a live session has counted.
public struct LiveCounters: Sendable, Hashable {
  public var framesIn = 0
  public var framesOut = 0
  /// Frames that were not encoded or not sent, by reason: `late`, `queue`, `decode`, `output`.
  public var dropped: [String: Int] = [:]
  public var formatChanges = 0
  public var inputLosses = 0
  public var bytesIn = 0
  public var bytesOut = 0
  /// Seconds that each frame took, in all.
  public var decodeSeconds = 0.0
  public var orientSeconds = 0.0
  public var encodeSeconds = 0.0
  /// From an event's arrival to the first packet of a picture that obeys it, in seconds; the last 1024.
  public var eventToPicture: [Double] = []
  /// Frames that wait.
  public var queueDepth = 0

  public init() {}
}

/// A live session at one moment.
public struct LiveSnapshot: Sendable {
  public var state: LiveState
  /// Why it failed or ended.
  public var reason: String?
  public var counters: LiveCounters
  /// The app orientation at the last picture, by name; nil before the first.
  public var appOrientation: String?
  /// The encoded size, as `720x1280`; nil before the first picture.
  public var encodeResolution: String?
  /// Seconds of media time at the last picture.
  public var seconds: Double
}
