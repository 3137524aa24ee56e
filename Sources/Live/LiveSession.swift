internal import Foundation
public import RotationPolicy
internal import Synchronization
public import UprightMediaIO
internal import UprightPipeline

/// One live stream from its input to its outputs: read, turned, encoded, and sent on, for as long as it
/// lasts.
///
/// It has threads of its own: one that reads and decodes, one that lays out and encodes, one for each
/// output. An output that stalls slows nothing else.
public final class LiveSession: Sendable {
  /// What it was made of.
  public let configuration: LiveConfiguration
  private let targets: [LiveTarget]
  private let ports: [UDPPort]
  private let control = LiveControl()
  private let hasStarted = Atomic(false)
  private let done = DispatchSemaphore(value: 0)

  /// The `at` of an event that takes effect at the next picture decoded.
  public static let nextPicture = -Double.infinity

  /// Checks what it is to be made of; opens nothing yet.
  ///
  /// - Throws: `usage` for what contradicts itself or cannot be live, `badData` for a policy that cannot
  ///   start or a description that cannot be read, `cannotCreate` for a file that is there already or a
  ///   port that is taken, `unavailable` where an encoder is missing.
  public init(_ configuration: LiveConfiguration) throws(UprightError) {
    var configuration = configuration
    configuration.options.isLive = true
    targets = try configuration.targets()
    ports = try configuration.input.ports()
    for port in ports { try port.check() }
    self.configuration = configuration
  }

  /// What the user should know of the outputs.
  public var warnings: [String] { targets.compactMap(\.warning) }

  /// Begins its threads; a second call does nothing.
  ///
  /// - Parameter observe: told what happens, on the session's own thread: it must not wait.
  public func start(observe: @escaping @Sendable (LiveUpdate) -> Void) {
    guard !hasStarted.exchange(true, ordering: .acquiringAndReleasing) else { return }
    control.observe(observe)
    let thread = Thread { [self] in
      let end: (state: LiveState, reason: String?)
      do throws(UprightError) {
        end = try LiveRun(configuration, targets, control).run()
      } catch {
        if case .published(let feed) = configuration.input { feed.close() }
        end = (.failed, error.description)
      }
      control.policy { $0.close() }
      control.tellAnswers()
      control.enter(end.state, reason: end.reason)
      done.signal()
    }
    thread.name = "upright-live"
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Waits until whoever sends may do so: the ports that the input comes in on are bound. False where
  /// they were not in that many seconds. Blocks; at once where nobody sends by UDP.
  public func listens(within seconds: Double) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !ports.allSatisfy(\.isOurs) {
      let hasEnded = control.interrupt.isRaised || control.state == .failed
      if hasEnded || ContinuousClock.now > deadline { return false }
      Thread.sleep(forTimeInterval: 0.005)
    }
    return true
  }

  /// Takes events; one at media time `at` waits for its frame, one at `nextPicture` or at a time that has
  /// gone by is obeyed by the next frame. Any task.
  ///
  /// - Returns: the answers to the events that the next frame obeys, when it has come; their `at` is that
  ///   frame's time. All answers are told as `LiveUpdate.decision`, these too. Before the first frame
  ///   there are none.
  /// - Throws: `badData` for an event that makes no sense (an unknown name, no time); those before it
  ///   stand, and the stream goes on. `usage` if ten thousand wait.
  public func post(_ events: [RotationEvent]) async throws(UprightError) -> [RotationDecision] {
    let result = await withCheckedContinuation { continuation in
      control.policy { $0.post(events) { continuation.resume(returning: $0) } }
    }
    return try result.get()
  }

  /// How it is at this moment.
  public var snapshot: LiveSnapshot { control.snapshot }

  /// Reads no more; every output is closed so that it plays, or left behind after ten seconds. Returns
  /// at once.
  ///
  /// - Parameter comesBack: whether the stream goes on in a later run: then its HLS playlist stays open.
  public func stop(comesBack: Bool = false) {
    if comesBack { control.comesBack = true }
    control.interrupt.raise()
  }

  /// Waits for the end; false where it did not come in that many seconds, or it was never started.
  public func join(timeout: Double) -> Bool {
    guard done.wait(timeout: .now() + max(0, timeout)) == .success else { return false }
    done.signal()
    return true
  }
}
