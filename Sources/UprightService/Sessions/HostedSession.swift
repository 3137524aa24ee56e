internal import RotationPolicy
internal import Synchronization
internal import UprightFiles
internal import UprightLive
internal import UprightMediaIO

/// A session with the service's data about it: name, publish key, events.
final class HostedSession: Sendable {
  let id: String
  /// The credential for publishing to this session and for its state and events.
  let publishKey: String
  let session: any Session
  let feed: SessionEventLog
  /// The requested input and outputs, without secrets.
  let description: [JSONValue.Member]
  let budget = EventBudget()
  /// The secrets to remove from text until the session is forgotten.
  let secrets: [String]
  /// The session's RTMP stream path, released when it ends.
  let claim: RTMPAcceptor.Claim?
  /// The creation time, in seconds since 1970.
  let created: Double
  /// Whether the session is from the configuration.
  let isDeclared: Bool

  init(
    id: String, publishKey: String, session: any Session, feed: SessionEventLog,
    description: [JSONValue.Member], secrets: [String], claim: RTMPAcceptor.Claim?,
    created: Double, isDeclared: Bool
  ) {
    self.id = id
    self.publishKey = publishKey
    self.session = session
    self.feed = feed
    self.description = description
    self.secrets = secrets
    self.claim = claim
    self.created = created
    self.isDeclared = isDeclared
  }

  /// The reason if the input was stopped because it led to a forbidden address.
  private let refusal = Mutex<String?>(nil)

  var hasEnded: Bool { [.ended, .failed].contains(session.snapshot.state) }

  /// The current state. A session whose input was refused is `failed`, not `ended`.
  var snapshot: LiveSnapshot {
    var snapshot = session.snapshot
    if snapshot.state == .ended, let reason = refusal.withLock({ $0 }) {
      snapshot.state = .failed
      snapshot.reason = reason
    }
    return snapshot
  }

  /// Ends the session because its input led to a forbidden address.
  func refuse(_ reason: String) {
    refusal.withLock { $0 = $0 ?? "the input led to \(reason)" }
    session.stop(comesBack: false)
  }

  /// Returns the update to pass on: the end of a session whose input was refused becomes a failure.
  func reported(_ update: LiveUpdate) -> LiveUpdate {
    guard case .state(.ended, _) = update, let reason = refusal.withLock({ $0 }) else {
      return update
    }
    return .state(.failed, reason: reason)
  }

  /// Returns the JSON for responses. `extra` follows the id.
  func json(_ secrets: Secrets, extra: [JSONValue.Member] = []) -> JSONValue {
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
    members += description.map { Self.shown($0, snapshot.outputProblems, secrets) }
    members += [
      .init("appOrientation", snapshot.appOrientation.map { .string($0) } ?? .null),
      .init("encodeResolution", snapshot.encodeResolution.map { .string($0) } ?? .null),
      .init("seconds", .number(snapshot.seconds.isFinite ? snapshot.seconds : 0)),
      .init("counters", snapshot.counters.json),
    ]
    return .object(members)
  }

  /// Returns the member `outputs` with the current problem of each output added. Returns other members
  /// unchanged.
  private static func shown(
    _ member: JSONValue.Member, _ problems: [String?], _ secrets: Secrets
  ) -> JSONValue.Member {
    guard member.key == "outputs", case .array(let outputs) = member.value else { return member }
    let shown = outputs.enumerated().map { index, output -> JSONValue in
      guard case .object(let members) = output else { return output }
      let problem = problems.indices.contains(index) ? problems[index] : nil
      return .object(
        members + [.init("problem", problem.map { .string(secrets.redact($0)) } ?? .null)])
    }
    return .init("outputs", .array(shown))
  }

  /// Appends an update to the feed.
  static func record(_ update: LiveUpdate, in feed: SessionEventLog, secrets: Secrets) {
    switch update {
    case .state(let state, let reason):
      feed.append("state", state.json(reason, secrets))
      if state == .ended || state == .failed { feed.end() }
    case .decision(let decision):
      feed.append("decision", decision.json)
      for phase in decision.phases { feed.append("phase", phase.json) }
    case .format(let change): feed.append("format", change.json)
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
  var json: JSONValue {
    [
      "framesIn": .integer(framesIn), "framesOut": .integer(framesOut),
      "dropped": .object(
        dropped.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) }),
      "formatChanges": .integer(formatChanges), "inputLosses": .integer(inputLosses),
      "bytesIn": .integer(bytesIn), "bytesOut": .integer(bytesOut),
      "queueDepth": .integer(queueDepth),
    ]
  }
}
