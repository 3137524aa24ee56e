internal import UprightOrientation
public import UprightPolicy

/// The state of a live session.
public enum LiveState: String, Sendable, CaseIterable, Codable {
  /// No input yet.
  case waiting
  /// Frames arrive and are sent.
  case live
  /// The input was lost; the last frame is repeated.
  case inputLost
  /// The process in which a host runs the session has ended, and another one takes its place.
  case recovering
  /// The session ended normally.
  case ended
  /// The session failed; the reason says why.
  case failed
}

/// How a live session ended.
enum LiveEnding {
  /// Normally, for this reason.
  case ended(String)
  case failed(UprightError)

  var state: LiveState { if case .ended = self { .ended } else { .failed } }

  var reason: String {
    switch self {
    case .ended(let reason): reason
    case .failed(let error): error.description
    }
  }
}

/// A notification from a running live session.
public enum LiveUpdate: Sendable, Codable {
  /// The state changed; with the reason if it failed or ended.
  case state(LiveState, reason: String?)
  /// An event was evaluated.
  case decision(RotationDecision)
  /// The format changed.
  case format(FormatChange)
  /// Settings were changed by `LiveSession.change(_:)`.
  case change(LiveChange, AppliedChange)
  /// An output was added, or its state changed.
  case output(LiveOutputStatus)
  /// An output has started a file, or its file is finished or has failed. On the thread of the output.
  case recording(LiveRecording)
  /// An output was removed.
  case outputRemoved(id: String)
}

/// The counters of a live session.
public struct LiveCounters: Sendable, Hashable, Codable {
  /// The number of decoded frames.
  public var framesIn = 0
  /// The number of encoded frames, including repeated ones.
  public var framesOut = 0
  /// What was not encoded or not sent, by reason: `late` for frames that arrived too late, `queue` for frames
  /// that were dropped to catch up, `shed` for packets that were skipped before decoding, `decode` for packets
  /// that could not be decoded, `output` for frames that an output did not take (counted for each output),
  /// and `event` for events that were found invalid when they were due.
  public var dropped: [String: Int] = [:]
  /// The number of changes of the stream's format.
  public var formatChanges = 0
  /// How often the input was lost.
  public var inputLosses = 0
  /// The number of bytes of packets that were read.
  public var bytesIn = 0
  /// The number of bytes of packets that were written, for all outputs together.
  public var bytesOut = 0
  /// The decoding time of each packet, in seconds.
  public var decodeTimes = DurationHistogram()
  /// The layout time of each frame, in seconds, counted once for each encode.
  public var orientTimes = DurationHistogram()
  /// The encoding time of each frame, in seconds, counted once for each encode.
  public var encodeTimes = DurationHistogram()
  /// The time from an event's arrival to the first packet of a frame that shows it, in seconds, for the last
  /// 1024 events.
  public var eventToFrame: [Double] = []
  /// The same as `eventToFrame`, for all events.
  public var eventToFrameTimes = DurationHistogram()
  /// The number of frames that wait.
  public var queueDepth = 0
  /// The number of packets of RTP, and of those that a `PublishedFeed` was told of, that never came or came too late to
  /// be used.
  public var packetsLost = 0
  /// The time between the last two keyframes that arrived, in seconds; `nil` before the second.
  public var keyframeInterval: Double?
  /// How often another process has taken the place of one that ended, in a host that runs sessions in processes.
  public var restarts = 0

  /// Creates counters that are zero.
  public init() {}
}

/// The state of a live session at one moment.
public struct LiveSnapshot: Sendable, Codable {
  /// The state.
  public var state: LiveState
  /// The reason for the state, for example why it failed or ended.
  public var reason: String?
  /// The counters.
  public var counters: LiveCounters
  /// How many seconds the session is behind its input while it is overloaded, that is, too slow and dropping
  /// frames. `nil` if it keeps up.
  public var behind: Double?
  /// The name of the app orientation at the last frame; `nil` before the first.
  public var appOrientation: String?
  /// The encoded size, as in `720x1280`; `nil` before the first frame.
  public var encodeResolution: String?
  /// How each canvas shows the last frame, the first one first. Empty before the first frame.
  public var layouts: [LiveLayout] = []
  /// The media time of the last frame, in seconds.
  public var seconds: Double
  /// The outputs, in the order in which they were added.
  public var outputs: [LiveOutputStatus] = []
}
