internal import UprightOrientation
internal import Upright
internal import UprightPolicy

/// The interface of a live session: one of this process, `LiveSession`, or one of another process, `WorkerSession`.
protocol Session: Sendable {
  /// Sets how much of the processors it gets while all are in use. Must be called before it starts. Sessions of one
  /// process share alike.
  func prioritize(_ priority: SessionPriority)
  /// Whether the session waits for its first publisher, and has no process for it.
  var isAsleep: Bool { get }
  /// Starts the session. `observe` is called on the session's threads.
  func start(observe: @escaping @Sendable (LiveUpdate) -> Void)
  /// Blocks until the session can receive its input. Returns `false` if that takes longer than `seconds`.
  func listens(within seconds: Double) -> Bool
  /// Posts events, in the order of their arrival. Returns the decisions on the events that take effect at the
  /// next frame, after that frame has arrived.
  func post(_ events: [StreamEvent]) async throws(UprightError) -> [RotationDecision]
  /// Changes settings at the next frame. Returns when that frame has been encoded.
  func change(_ change: LiveChange) async throws(UprightError) -> AppliedChange
  /// Adds an output and starts it.
  func add(
    _ output: LiveOutput, id: String?, canvas: CanvasRule?
  ) async throws(UprightError) -> LiveOutputStatus
  /// Starts an output that was stopped or has failed.
  func startOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus
  /// Stops an output. Returns when it is closed.
  func stopOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus
  /// Stops an output and forgets it.
  func removeOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus
  var snapshot: LiveSnapshot { get }
  /// Returns a picture of the next frame as it is sent. `nil` if there is no frame.
  func picture() async -> RGBPicture?
  /// The policy and its state at the last frame. `nil` if it can't start.
  func policyReport() async -> JSONValue?
  /// Starts to end the session and returns immediately. Every output is closed so that it is playable.
  ///
  /// - Parameter comesBack: Whether a later run of the service continues this session.
  func stop(comesBack: Bool)
  /// Blocks until the session has ended. Returns `false` if that takes longer than `timeout` seconds.
  func join(timeout: Double) -> Bool
}

/// Creates a session. Checks the configuration, but opens nothing.
typealias MakeSession =
  @Sendable (LiveConfiguration, SessionFolders) throws(UprightError) -> any Session

extension Session {
  func prioritize(_ priority: SessionPriority) {}
  var isAsleep: Bool { false }
}

extension LiveSession: Session {
  func policyReport() -> JSONValue? { policy?.report }
}

extension LivePolicyState {
  /// The policy and its state, as `/policy` answers.
  var report: JSONValue { ["policy": document.json, "state": reducer.json] }
}
