/// The state of one output of a live session.
public enum LiveOutputState: String, Sendable, CaseIterable, Codable {
  /// Not open yet. It opens at the next keyframe, which is requested.
  case starting
  /// Open: packets are written.
  case live
  /// A network output that failed, or a playlist or recording for which the disk was full or too many files were
  /// open. It is opened again with growing delays, as long as the session runs.
  case reconnecting
  /// Closed, on request or at the end of the session. It can be started again while the session runs.
  case stopped
  /// A file or a folder that failed. It can be started again while the session runs.
  case failed
}

/// One output of a live session at one moment.
public struct LiveOutputStatus: Sendable, Hashable, Codable {
  /// The id, unique among the outputs of the session.
  public var id: String
  /// The output. A file that was started again has another path: `take-2.mp4` after `take.mp4`.
  public var output: LiveOutput
  /// The state.
  public var state: LiveOutputState
  /// Why the output is `reconnecting` or has `failed`; otherwise `nil`.
  public var reason: String?
  /// The number of frames that were written since it was started.
  public var frames = 0
  /// The number of bytes of packets that were written since it was started.
  public var bytes = 0
  /// The number of frames that it did not take since it was started.
  public var dropped = 0
  /// How often it could not be opened or written since it was started.
  public var failures = 0
  /// How often it was opened again after a failure since it was started.
  public var reconnects = 0
  /// The file that it writes, or has written last; `nil` if it has not started one.
  public var recording: LiveRecording?

  /// Creates the status of an output that starts.
  public init(id: String, output: LiveOutput, state: LiveOutputState = .starting) {
    self.id = id
    self.output = output
    self.state = state
  }
}
