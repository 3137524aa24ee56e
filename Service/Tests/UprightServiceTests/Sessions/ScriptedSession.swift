import Foundation
import UprightOrientation
import UprightPolicy
import Synchronization
import Upright

@testable import UprightLive
@testable import UprightMedia
@testable import UprightService

extension LiveUpdate {
  /// A change of format to `orientation`, with the standard stream sizes.
  static func format(to orientation: InterfaceOrientation, from seconds: Double = 0) -> Self {
    .format(
      FormatChange(from: seconds, format: StreamGuidance.standard.format(for: orientation)))
  }
}

/// A session without media. Its policy is real; the test sets its states.
final class ScriptedSession: Session {
  private struct State {
    var plan: OrientationPlan
    var snapshot: LiveSnapshot
    var observe: @Sendable (LiveUpdate) -> Void = { _ in }
    var stops = true
    var picture: RGBPicture?
  }

  let configuration: LiveConfiguration
  private let state: Mutex<State>

  init(_ configuration: LiveConfiguration) throws(UprightError) {
    self.configuration = configuration
    let plan: OrientationPlan
    do throws(PolicyError) { plan = try OrientationPlan(configuration.policy) } catch {
      throw UprightError(error, code: .badData)
    }
    var snapshot = LiveSnapshot(
      state: .waiting, reason: nil, counters: LiveCounters(), appOrientation: nil,
      encodeResolution: nil, seconds: 0)
    snapshot.outputs = zip(configuration.outputIDs, configuration.outputs).map {
      LiveOutputStatus(id: $0, output: $1)
    }
    state = Mutex(State(plan: plan, snapshot: snapshot))
  }

  func start(observe: @escaping @Sendable (LiveUpdate) -> Void) {
    state.withLock { $0.observe = observe }
  }

  func listens(within seconds: Double) -> Bool { true }

  func post(_ events: [StreamEvent]) throws(UprightError) -> [RotationDecision] {
    let observe = state.withLock { $0.observe }
    let outcome: Result<[RotationDecision], UprightError> = state.withLock { state in
      do throws(PolicyError) {
        for event in events {
          let time = event.time ?? state.snapshot.seconds
          try state.plan.push(RotationEvent(at: time, event.action))
        }
        return .success(state.plan.takeEntries())
      } catch { return .failure(UprightError(error, code: .badData)) }
    }
    let decisions = try outcome.get()
    for decision in decisions { observe(.decision(decision)) }
    return decisions
  }

  /// The changes, in order.
  let changes = Mutex<[LiveChange]>([])

  func change(_ change: LiveChange) -> AppliedChange {
    changes.withLock { $0.append(change) }
    if let policy = change.policy, let plan = try? OrientationPlan(policy) {
      state.withLock { $0.plan = plan }
    }
    let applied = AppliedChange(at: snapshot.seconds, decisions: [])
    tell(.change(change, applied))
    return applied
  }

  func add(_ output: LiveOutput, id: String?, canvas: CanvasRule?) -> LiveOutputStatus {
    let status = LiveOutputStatus(id: id ?? "", output: output)
    state.withLock { $0.snapshot.outputs.append(status) }
    tell(.output(status))
    return status
  }

  func startOutput(_ id: String) throws(UprightError) -> LiveOutputStatus {
    try set(id, .starting)
  }

  func stopOutput(_ id: String) throws(UprightError) -> LiveOutputStatus { try set(id, .stopped) }

  func removeOutput(_ id: String) throws(UprightError) -> LiveOutputStatus {
    let status = try set(id, .stopped)
    state.withLock { $0.snapshot.outputs.removeAll { $0.id == id } }
    tell(.outputRemoved(id: id))
    return status
  }

  private func set(
    _ id: String, _ new: LiveOutputState
  ) throws(UprightError) -> LiveOutputStatus {
    let status: LiveOutputStatus? = state.withLock { state in
      guard let index = state.snapshot.outputs.firstIndex(where: { $0.id == id }) else {
        return nil
      }
      state.snapshot.outputs[index].state = new
      return state.snapshot.outputs[index]
    }
    guard let status else { throw UprightError(.usage, "no such output") }
    tell(.output(status))
    return status
  }

  /// How often a picture was asked for.
  let pictures = Mutex(0)

  func picture() -> RGBPicture? {
    pictures.withLock { $0 += 1 }
    return state.withLock { $0.picture }
  }

  /// Sets what `picture` returns.
  func paint(_ picture: RGBPicture) { state.withLock { $0.picture = picture } }

  var policy: LivePolicyState? {
    let document = changes.withLock { $0.last { $0.policy != nil }?.policy }
    return state.withLock {
      LivePolicyState(document: document ?? configuration.policy, reducer: $0.plan.reducer)
    }
  }

  func policyReport() -> JSONValue? { policy?.report }

  var snapshot: LiveSnapshot { state.withLock { $0.snapshot } }

  /// Whether each stop was one of a session that continues later.
  let stopped = Mutex<[Bool]>([])

  func stop(comesBack: Bool) {
    stopped.withLock { $0.append(comesBack) }
    if state.withLock({ $0.stops }) { become(.ended) }
  }

  func join(timeout: Double) -> Bool {
    let deadline = Date(timeIntervalSinceNow: timeout)
    while Date() < deadline {
      if [.ended, .failed].contains(snapshot.state) { return true }
      usleep(2000)
    }
    return false
  }

  // MARK: - The script

  /// Changes the session's state.
  func become(_ new: LiveState, reason: String? = nil) {
    let observe: (@Sendable (LiveUpdate) -> Void)? = state.withLock { state in
      guard state.snapshot.state != new else { return nil }
      state.snapshot.state = new
      state.snapshot.reason = reason
      return state.observe
    }
    observe?(.state(new, reason: reason))
  }

  func count(_ body: (inout LiveCounters) -> Void) {
    state.withLock { body(&$0.snapshot.counters) }
  }

  /// Changes the session's snapshot.
  func show(_ body: (inout LiveSnapshot) -> Void) { state.withLock { body(&$0.snapshot) } }

  func tell(_ update: LiveUpdate) { state.withLock { $0.observe }(update) }

  /// Makes the session ignore `stop`.
  func refuseToStop() { state.withLock { $0.stops = false } }
}

/// The sessions that a service created, in order.
final class Script: Sendable {
  private let made = Mutex<[ScriptedSession]>([])

  var sessions: [ScriptedSession] { made.withLock { $0 } }

  var make: MakeSession {
    { [self] (configuration, _) throws(UprightError) in
      let session = try ScriptedSession(configuration)
      made.withLock { $0.append(session) }
      return session
    }
  }
}
