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
  /// Frames that were decoded.
  public var framesIn = 0
  /// Pictures that were encoded, those that stood in for missing ones among them.
  public var framesOut = 0
  /// What was not encoded or not sent, by reason: frames that came `late`, frames that had to give way
  /// (`queue`, or `shed` before they were decoded), packets that did not `decode`, pictures that an
  /// `output` did not take, one for each of the outputs; and an `event` that made no sense when its time
  /// came.
  public var dropped: [String: Int] = [:]
  /// Changes of the stream's format.
  public var formatChanges = 0
  /// How often the input was lost.
  public var inputLosses = 0
  /// Bytes of packets that were read.
  public var bytesIn = 0
  /// Bytes of packets that were written, all outputs together.
  public var bytesOut = 0
  /// Seconds that each packet took to decode.
  public var decodeTimes = DurationHistogram()
  /// Seconds that each picture took to lay out, once for each encode.
  public var orientTimes = DurationHistogram()
  /// Seconds that each picture took to encode, once for each encode.
  public var encodeTimes = DurationHistogram()
  /// From an event's arrival to the first packet of a picture that obeys it, in seconds; the last 1024.
  public var eventToPicture: [Double] = []
  /// The same of all events.
  public var eventToPictureTimes = DurationHistogram()
  /// Frames that wait.
  public var queueDepth = 0

  /// Nothing counted.
  public init() {}
}

/// A live session at one moment.
public struct LiveSnapshot: Sendable {
  /// How it is.
  public var state: LiveState
  /// Why it failed or ended.
  public var reason: String?
  /// What it has counted.
  public var counters: LiveCounters
  /// How many seconds the session is behind its input, while it is overloaded: it is too slow and drops
  /// frames. `nil` if it keeps up.
  public var behind: Double?
  /// The app orientation at the last picture, by name; nil before the first.
  public var appOrientation: String?
  /// The encoded size, as `720x1280`; nil before the first picture.
  public var encodeResolution: String?
  /// Seconds of media time at the last picture.
  public var seconds: Double
  /// Of each output, in the order of the configuration, why nothing gets through; nil: it does.
  public var outputProblems: [String?] = []
}
