internal import Foundation
internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import Upright

/// A session with the service's data about it: name, publish key, events.
final class HostedSession: Sendable {
  let id: String
  let session: any Session
  let feed = SessionEventLog()
  let input: HostedInput
  /// Who may play the HLS output.
  let playback: Playback
  /// The playlists and parts of an HLS output with low latency; `nil` for normal latency.
  let origin: HLSOrigin?
  /// The number of the session's owner; `nil` if the session belongs to this machine.
  let epoch: Int?
  let priority: SessionPriority
  /// The outputs as they were requested.
  let outputs: HostedOutputs
  let budget = EventBudget()
  /// The creation time, in seconds since 1970.
  let created = (Date().timeIntervalSince1970 * 1000).rounded() / 1000
  /// Whether the session is from the configuration.
  let isDeclared: Bool

  /// - Parameters:
  ///   - playback: Who may play the HLS output.
  ///   - origin: The playlists and parts of an HLS output with low latency.
  init(
    _ id: String, _ session: any Session, _ request: SessionRequest, input: HostedInput,
    outputs: HostedOutputs, playback: Playback, origin: HLSOrigin?
  ) {
    (self.id, self.session, self.input, self.outputs) = (id, session, input, outputs)
    (self.playback, self.origin) = (playback, origin)
    (epoch, priority) = (request.epoch, request.priority)
    isDeclared = request.isDeclared
    state = Mutex(State(options: request.options, secrets: input.secrets))
  }

  private struct State {
    /// The current options, as they were given.
    var options: JSONValue
    /// The secrets to remove from text until the session is forgotten.
    var secrets: [String]
    /// The reason if the input was stopped because it led to a forbidden address.
    var refusal: String?
    /// Whether a change is made on the condition that nothing else has changed.
    var isChanging = false
  }

  private let state: Mutex<State>

  /// The current options, as they were given at the start and changed since.
  var options: JSONValue { state.withLock { $0.options } }

  /// Begins a change that depends on the settings before it. Returns `false` while there is another one.
  func beginConditionalChange() -> Bool {
    state.withLock { state in
      defer { state.isChanging = true }
      return !state.isChanging
    }
  }

  func endConditionalChange() { state.withLock { $0.isChanging = false } }

  /// Records changed options.
  func change(options patch: JSONValue) {
    state.withLock { $0.options = SessionOptions.merged($0.options, with: patch) }
  }

  /// The secrets to remove from text until the session is forgotten.
  var secrets: [String] { state.withLock { $0.secrets } }

  /// Adds secrets. Returns those that are new.
  func add(secrets new: [String]) -> [String] {
    state.withLock { state in
      let added = Set(new).subtracting(state.secrets)
      state.secrets += added
      return Array(added)
    }
  }

  /// Whether it continues in a later run of the service, or on another machine.
  var comesBack: Bool { isDeclared || epoch != nil }

  var hasEnded: Bool { [.ended, .failed].contains(session.snapshot.state) }

  /// The current state. A session whose input was refused is `failed`, not `ended`.
  var snapshot: LiveSnapshot {
    var snapshot = session.snapshot
    if snapshot.state == .ended, let reason = state.withLock({ $0.refusal }) {
      snapshot.state = .failed
      snapshot.reason = reason
    }
    return snapshot
  }

  /// Turns the phone of this session, the sample, by itself, until somebody else does.
  func turnBySample() {
    input.sample?.turn { [weak self] event in _ = try? await self?.session.post([event]) }
  }

  /// Returns events that somebody has posted, as the session takes them. The phone of the sample is turned by them, and no
  /// longer by itself.
  func turnedByHand(_ events: [StreamEvent]) -> [StreamEvent] {
    guard let sample = input.sample, events.contains(where: \.turnsDevice) else { return events }
    sample.stopTurning()
    return events.map(sample.placed)
  }

  /// Ends the session because its input led to a forbidden address.
  func refuse(_ reason: String) {
    state.withLock { $0.refusal = $0.refusal ?? "the input led to \(reason)" }
    session.stop(comesBack: false)
  }

  /// Returns the update to pass on: the end of a session whose input was refused becomes a failure.
  func reported(_ update: LiveUpdate) -> LiveUpdate {
    guard case .state(.ended, _) = update, let reason = state.withLock({ $0.refusal }) else {
      return update
    }
    return .state(.failed, reason: reason)
  }

  /// Returns the JSON for responses, with URLs at `address`. `extra` follows the id.
  func json(
    _ secrets: Secrets, at address: PublicURL, extra: [JSONValue.Member] = []
  ) -> JSONValue {
    let snapshot = snapshot
    var members: [JSONValue.Member] = [.init("id", .string(id))]
    members += extra
    members += [
      .init("state", .string(snapshot.state.rawValue)),
      .init("reason", snapshot.reason.map { .string(secrets.redact($0)) } ?? .null),
      .init("created", .number(created)),
      .init("overloaded", .bool(snapshot.behind != nil)),
      .init("behind", .number(snapshot.behind ?? 0)),
    ]
    members += [
      .init("input", input.description),
      .init("options", options),
      .init("outputs", .array(snapshot.outputs.map { outputs.json($0, secrets, at: address) })),
      .init("playback", .string(playback.rawValue)),
      .init("latency", .string(origin == nil ? "normal" : "low")),
      .init("priority", .string(priority.rawValue)),
      .init("appOrientation", snapshot.appOrientation.map { .string($0) } ?? .null),
      .init("encodeResolution", snapshot.encodeResolution.map { .string($0) } ?? .null),
      .init("layouts", .array(snapshot.layouts.map(\.json))),
      .init("seconds", .number(snapshot.seconds.isFinite ? snapshot.seconds : 0)),
      .init("counters", snapshot.counters.json),
    ]
    if let epoch { members.append(.init("epoch", .integer(epoch))) }
    return .object(members)
  }

  /// Appends an update to the feed.
  func record(_ update: LiveUpdate, _ secrets: Secrets) {
    switch update {
    case .state(let state, let reason):
      feed.append("state", state.json(reason, secrets))
      if state == .ended || state == .failed { feed.end() }
    case .decision(let decision):
      feed.append("decision", decision.explained)
      for phase in decision.phases { feed.append("phase", phase.json) }
    case .format(let change): feed.append("format", change.json)
    case .change(let change, let applied): feed.append("change", change.json(applied))
    case .output(let status): feed.append("output", outputs.json(status, secrets, at: .relative))
    // `Recordings` adds those that are finished.
    case .recording: break
    case .outputRemoved(let id):
      feed.append("output", ["id": .string(id), "state": "removed"])
    }
  }
}

extension LiveLayout {
  fileprivate var json: JSONValue {
    func array(_ rect: Rect) -> JSONValue {
      .array([rect.origin.x, rect.origin.y, rect.size.width, rect.size.height].map { .number($0) })
    }
    return [
      "canvas": .string(canvas.description), "part": array(part), "place": array(place),
    ]
  }
}

extension RotationDecision {
  /// The decision with the controller that decided, and the explanation in sentences.
  var explained: JSONValue {
    guard case .object(let members) = json else { return json }
    return .object(
      members + [
        .init("controller", .string(why.controller)), .init("why", .string(explanation)),
      ])
  }
}

extension StreamEvent {
  /// Whether it says how the device is held.
  fileprivate var turnsDevice: Bool {
    switch action {
    case .device, .gravity: true
    default: false
    }
  }
}

extension LiveState {
  func json(_ reason: String?, _ secrets: Secrets) -> JSONValue {
    [
      "state": .string(rawValue),
      "reason": reason.map { .string(secrets.redact($0)) } ?? .null,
    ]
  }
}

extension LiveCounters {
  /// Adds the counts and times of another session, but not its waiting frames.
  mutating func add(_ other: LiveCounters) {
    framesIn += other.framesIn
    framesOut += other.framesOut
    dropped.merge(other.dropped, uniquingKeysWith: +)
    formatChanges += other.formatChanges
    inputLosses += other.inputLosses
    restarts += other.restarts
    packetsLost += other.packetsLost
    bytesIn += other.bytesIn
    bytesOut += other.bytesOut
    decodeTimes.add(other.decodeTimes)
    orientTimes.add(other.orientTimes)
    encodeTimes.add(other.encodeTimes)
    eventToFrameTimes.add(other.eventToFrameTimes)
  }

  var json: JSONValue {
    [
      "framesIn": .integer(framesIn), "framesOut": .integer(framesOut),
      "dropped": .object(
        dropped.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) }),
      "formatChanges": .integer(formatChanges), "inputLosses": .integer(inputLosses),
      "restarts": .integer(restarts),
      "bytesIn": .integer(bytesIn), "bytesOut": .integer(bytesOut),
      "queueDepth": .integer(queueDepth), "packetsLost": .integer(packetsLost),
      "keyframeInterval": keyframeInterval.map { .number($0) } ?? .null,
      "eventToFrame": eventToFrame.last.map { .number($0) } ?? .null,
    ]
  }
}
