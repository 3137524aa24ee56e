internal import Dispatch
public import UprightOrientation
public import UprightPolicy
internal import Synchronization
public import UprightFrames
public import UprightMediaIO
public import UprightMedia

/// A live stream from its input to its outputs. The session reads, rotates, encodes and sends frames until it
/// is stopped or the input ends.
///
/// It uses one thread for reading and decoding, one for layout and encoding, and one for each output. An
/// output that stalls does not delay the others.
public final class LiveSession: Sendable {
  /// The configuration of the session.
  public let configuration: LiveConfiguration
  private let targets: [LiveTarget]
  private let ports: [UDPPort]
  private let control = LiveControl()
  private let log = LogScope.current
  private let hasStarted = Atomic(false)
  private let done = Latch()
  private let end = Mutex(End())
  /// Decodes still pictures, one change at a time, in the order of the changes.
  private let decoding = DispatchQueue(label: "upright-stills")

  private struct End {
    var isReached = false
    var error: UprightError?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// Creates a session and checks its configuration. Opens nothing.
  ///
  /// - Throws: `usage` for options that contradict each other or that a live session can't support; `badData`
  ///   for a policy that can't start or an SDP that can't be read; `cannotCreate` for a file that already
  ///   exists or a port that is in use; `unavailable` if an encoder is missing.
  public init(_ configuration: LiveConfiguration) throws(UprightError) {
    var configuration = configuration
    configuration.options.isLive = true
    targets = try configuration.targets()
    ports = try configuration.input.ports()
    for port in ports { try port.check() }
    self.configuration = configuration
    control.policy { $0.document = configuration.policy }
    let ids = LiveOutputList.ids(configuration.outputIDs, count: targets.count)
    control.update { snapshot in
      snapshot.seconds = configuration.startTime ?? 0
      snapshot.outputs = zip(ids, targets).map { LiveOutputStatus(id: $0, output: $1.output) }
    }
  }

  /// Warnings about the outputs, for the user.
  public var warnings: [String] { targets.compactMap(\.warning) }

  /// Starts the session's threads. A second call does nothing.
  ///
  /// - Parameter observe: Receives updates, on the session's thread. It must not block.
  public func start(observe: @escaping @Sendable (LiveUpdate) -> Void) {
    guard !hasStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
    control.observe(observe)
    control.acceptCommands()
    _ = WorkThread<Void>(name: "upright-live", log: log) { [self] in
      let ending: LiveEnding
      do throws(UprightError) {
        ending = try LiveRun(configuration, targets, control).run()
      } catch {
        configuration.input.close()
        ending = .failed(error)
      }
      control.endCommands()
      control.give(nil)
      control.policy { $0.close() }
      control.reportDecisions()
      control.enter(ending.state, reason: ending.reason)
      let waiting = end.withLock { end in
        end.isReached = true
        if case .failed(let error) = ending { end.error = error }
        return end.waiting
      }
      done.open()
      for continuation in waiting { continuation.resume() }
    }
  }

  /// Runs the session to its end, instead of `start` and `join`. If the task is cancelled, the session stops:
  /// every output is closed so that it is playable.
  ///
  /// - Parameter updates: Receives updates, on the session's thread. It must not block.
  /// - Throws: The error that ended the session.
  public func run(updates: @escaping @Sendable (LiveUpdate) -> Void) async throws(UprightError) {
    start(observe: updates)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReached = end.withLock { end in
          if !end.isReached { end.waiting.append(continuation) }
          return end.isReached
        }
        if isReached { continuation.resume() }
      }
    } onCancel: {
      stop()
    }
    if let error { throw error }
  }

  /// The error that ended the session. `nil` while it runs, and if it ended normally.
  package var error: UprightError? { end.withLock { $0.error } }

  /// Waits until the input's UDP ports are bound, so that a sender may start. Returns `false` if they are not
  /// bound within `seconds`. Blocks; returns immediately if the input does not use UDP.
  public func listens(within seconds: Double) -> Bool {
    let deadline = ContinuousClock.Instant.after(seconds: seconds)
    while !ports.allSatisfy(\.isOurs) {
      let hasEnded = control.interrupt.isRaised || control.state == .failed
      if hasEnded || ContinuousClock.now > deadline { return false }
      // libavformat binds ports too, and the kernel's table of sockets tells no changes.
      control.interrupt.wait(until: min(deadline, .now + .milliseconds(5)))
    }
    return true
  }

  /// Posts events, from any task. Their times are media times of the session.
  ///
  /// - Returns: The decisions on the events that take effect at the next frame, after that frame has arrived.
  ///   Their `at` is that frame's time. All decisions, including these, are also sent as
  ///   `LiveUpdate.decision`. Before the first frame, the result is empty.
  /// - Throws: `badData` for an invalid event (an unknown name, no valid time); the events before it remain
  ///   in effect, and the stream continues. `usage` if ten thousand events are waiting.
  public func post(_ events: [StreamEvent]) async throws(UprightError) -> [RotationDecision] {
    let result = await withCheckedContinuation { continuation in
      post(events) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// The same without waiting, in the order of the calls.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - reply: Receives the result once, on any thread.
  public func post(
    _ events: [StreamEvent],
    reply: @escaping @Sendable (Result<[RotationDecision], UprightError>) -> Void
  ) {
    let newest = control.packets.newest
    control.policy { $0.post(events, after: newest, reply: reply) }
  }

  /// Changes settings, from any task. The input is not interrupted. Changes are applied in order, each as a
  /// whole.
  ///
  /// - Returns: The time of the first frame with the change, after that frame was encoded, and the decisions at
  ///   it. Before the first frame, the change is applied at once.
  /// - Throws: `badData` for a policy that can't start or a file without a picture, `noInput` for a file that
  ///   doesn't exist, `usage` for a policy with other stream sizes, for more than 1024 waiting changes, and if
  ///   the session has not started or has ended. Nothing is changed then.
  public func change(_ change: LiveChange) async throws(UprightError) -> AppliedChange {
    if let policy = change.policy { try check(policy) }
    let result = await withCheckedContinuation { continuation in
      decoding.async { [control] in
        do throws(UprightError) {
          let stills = try SessionStills(change.stillOptions)
          control.perform(.change(change, stills) { continuation.resume(returning: $0) })
        } catch {
          continuation.resume(returning: Result<AppliedChange, UprightError>.failure(error))
        }
      }
    }
    return try result.get()
  }

  private func check(_ policy: PolicyDocument) throws(UprightError) {
    do throws(PolicyError) { _ = try RotationReducer(policy) } catch {
      throw UprightError(error, code: .badData)
    }
    let options = configuration.options
    guard let stream = policy.stream, options.size == nil, options.ladder.isEmpty else { return }
    guard stream == configuration.policy.stream else {
      throw UprightError(
        .usage, "the stream sizes of a running session can't change", at: "policy.stream",
        remedy: "leave them out, or start another session")
    }
  }

  /// Adds an output and starts it at the next keyframe, which is requested. Outputs of the same format share one
  /// encode. The times of a file count from its first frame. The session and its other outputs go on.
  ///
  /// - Parameters:
  ///   - output: Where the output goes.
  ///   - id: The id; `nil` for a generated one.
  ///   - canvas: The output's canvas; `nil` for that of the session.
  /// - Returns: The output, as it starts. `LiveUpdate.output` and `snapshot` tell what becomes of it.
  /// - Throws: `cannotCreate` for an id or a target that is in use, a file that already exists, or too many
  ///   outputs; `usage` for an output that can't be live, and if the session has not started or has ended.
  public func add(
    _ output: LiveOutput, id: String? = nil, canvas: CanvasRule? = nil
  ) async throws(UprightError) -> LiveOutputStatus {
    let target = try LiveTarget(output, configuration, canvas: canvas)
    return try await perform { .add(target, id: id, $0) }
  }

  /// Starts an output that was stopped or has failed, at the next keyframe, which is requested. A file is
  /// written to a new path: `take-2.mp4` after `take.mp4`. Does nothing if the output runs.
  ///
  /// - Throws: `usage` if there is no such output, for one in memory, and if the session has ended.
  public func startOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus {
    try await perform { .start(id: id, $0) }
  }

  /// Stops an output and closes it, so that it is playable; one that does not close within ten seconds is
  /// abandoned. The session goes on, even without outputs. Does nothing if the output is stopped.
  ///
  /// - Throws: `usage` if there is no such output, and if the session has ended.
  public func stopOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus {
    try await perform { .stop(id: id, $0) }
  }

  /// Stops an output like `stopOutput(_:)`, and forgets it. Its files stay.
  ///
  /// - Returns: The last state of the output.
  /// - Throws: `usage` if there is no such output, and if the session has ended.
  public func removeOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus {
    try await perform { .remove(id: id, $0) }
  }

  private func perform(
    _ command: @Sendable (@escaping LiveCommand.Reply<LiveOutputStatus>) -> LiveCommand
  ) async throws(UprightError) -> LiveOutputStatus {
    let result = await withCheckedContinuation { continuation in
      control.perform(command { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// The current state of the session.
  public var snapshot: LiveSnapshot { control.snapshot }

  /// The policy and its state at the last frame. `nil` if it can't start.
  public var policy: LivePolicyState? { control.policy { $0.current } }

  /// Returns a picture of the next frame as it is sent, with 320 pixels on its longer side. `nil` if no frame follows within
  /// a second, and before the first frame.
  public func picture() async -> RGBPicture? {
    guard [.live, .inputLost].contains(control.state) else { return nil }
    return await withCheckedContinuation { continuation in
      let request = PictureRequest(continuation)
      control.askForPicture { request.answer($0) }
      DispatchQueue.global().asyncAfter(deadline: .now() + 1) { request.answer(nil) }
    }
  }

  /// Stops reading, and closes every output so that it is playable. An output that does not close within ten
  /// seconds is abandoned. Returns immediately.
  ///
  /// - Parameter comesBack: Whether the stream continues in a later run. If so, its HLS playlist stays open.
  public func stop(comesBack: Bool = false) {
    if comesBack { control.comesBack = true }
    control.stop()
    configuration.input.close()
  }

  /// Waits for the end of the session. Returns `false` if it did not end within `timeout` seconds, or was
  /// never started.
  public func join(timeout: Double) -> Bool {
    done.wait(until: .after(seconds: timeout))
  }
}

/// A caller that waits for a picture. The first answer counts.
private final class PictureRequest: Sendable {
  private let continuation: Mutex<CheckedContinuation<RGBPicture?, Never>?>

  init(_ continuation: CheckedContinuation<RGBPicture?, Never>) {
    self.continuation = Mutex(continuation)
  }

  func answer(_ picture: RGBPicture?) {
    continuation.withLock { $0.take() }?.resume(returning: picture)
  }
}
