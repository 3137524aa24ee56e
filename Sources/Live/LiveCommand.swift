internal import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

/// What a host asks of a running session. The session's thread performs it.
///
/// Sendable by hand-over: the still pictures are decoded on one thread and used on another, never on both.
enum LiveCommand: @unchecked Sendable {
  typealias Reply<Value> = @Sendable (Result<Value, UprightError>) -> Void

  /// Changes settings, with the new still pictures, decoded.
  case change(LiveChange, SessionStills, Reply<AppliedChange>)
  /// Adds an output and starts it.
  case add(LiveTarget, id: String?, Reply<LiveOutputStatus>)
  case start(id: String, Reply<LiveOutputStatus>)
  case stop(id: String, Reply<LiveOutputStatus>)
  /// Stops an output and forgets it.
  case remove(id: String, Reply<LiveOutputStatus>)

  /// Answers that the command was not performed.
  func fail(_ error: UprightError) {
    switch self {
    case .change(_, _, let reply): reply(.failure(error))
    case .add(_, _, let reply), .start(_, let reply), .stop(_, let reply), .remove(_, let reply):
      reply(.failure(error))
    }
  }
}

/// The commands that wait for the session's thread, bounded.
struct WaitingCommands {
  private var waiting: [LiveCommand] = []
  private(set) var state = State.new

  enum State { case new, open, ended }

  /// The number of commands that may wait.
  static let capacity = 1024

  mutating func open() { if state == .new { state = .open } }

  /// Adds a command. Returns why that isn't possible.
  mutating func add(_ command: LiveCommand) -> UprightError? {
    switch state {
    case .new: return UprightError(.usage, "the session has not started", remedy: "start it first")
    case .ended: return Self.ended
    case .open: break
    }
    guard waiting.count < Self.capacity else {
      return UprightError(
        .usage, "\(Self.capacity) changes are already waiting", remedy: "send them later")
    }
    waiting.append(command)
    return nil
  }

  static var ended: UprightError {
    UprightError(.usage, "the session has ended", remedy: "start another session")
  }

  mutating func take() -> [LiveCommand] {
    defer { waiting.removeAll() }
    return waiting
  }

  /// Returns the commands that were not performed. No other is accepted.
  mutating func end() -> [LiveCommand] {
    state = .ended
    return take()
  }
}
