import UprightOrientation
import UprightPolicy
import Testing

/// Returns JSON from text with single quotation marks, which are easier to read in tests.
func json(_ text: String) -> [UInt8] { Array(text.replacing("'", with: "\"").utf8) }

func document(_ text: String) throws -> PolicyDocument { try PolicyDocument(json: json(text)) }

/// A policy and the events that are sent to it, one second apart unless a time is given.
struct Scene {
  var reducer: RotationReducer
  var outputs: [RotationOutput] = []
  private var next = 1.0

  init(_ policy: String = "{}") throws { reducer = try RotationReducer(document(policy)) }

  var app: String { reducer.state.appOrientation.name }
  var state: RotationState { reducer.state }

  var decisions: [RotationDecision] {
    outputs.compactMap { if case .decision(let decision) = $0 { decision } else { nil } }
  }

  var phases: [RotationPhase] {
    outputs.compactMap { if case .phase(let phase) = $0 { phase } else { nil } }
  }

  var captures: [Bool] {
    outputs.compactMap { if case .captureEnabled(_, let flag) = $0 { flag } else { nil } }
  }

  /// Sends an event, given without braces and time, and returns the decisions made in the meantime.
  @discardableResult
  mutating func send(_ body: String, at time: Double? = nil) throws -> [String] {
    let at = time ?? next
    next = at + 1
    let line = json("{'at': \(at), \(body)}")
    let event = try #require(try RotationEvent.parse(line: line, number: 1))
    let new = try reducer.reduce(event)
    outputs += new
    return new.compactMap { if case .decision(let decision) = $0 { decision.short } else { nil } }
  }

  @discardableResult
  mutating func advance(to seconds: Double) -> [String] {
    let new = reducer.advance(to: seconds)
    outputs += new
    return new.compactMap { if case .decision(let decision) = $0 { decision.short } else { nil } }
  }

  /// Sends an event that is decided immediately and returns the decision.
  mutating func answer(_ body: String, at time: Double? = nil) throws -> String {
    let answers = try send(body, at: time)
    #expect(answers.count == 1, "\(body): \(answers)")
    return answers.first ?? "none"
  }

  var last: RotationDecision { get throws { try #require(decisions.last) } }
}

/// Returns the decisions of `policy` on `events`, which are one second apart.
func answers(_ policy: String, _ events: String...) throws -> [String] {
  var scene = try Scene(policy)
  return try events.map { try scene.answer($0) }
}

/// Returns the orientation in which a policy starts.
func start(_ policy: String) throws -> String { try Scene(policy).app }

extension RotationDecision {
  /// `rotate landscapeRight`, `keep`, `refuse notSupported`, `invalid common`, `keep superseded`.
  var short: String {
    switch (outcome, reason) {
    case (.rotate, _): "rotate \(to.name)"
    case (.invalid, let reason?):
      reason.hasPrefix("Supported orientations") ? "invalid common" : "invalid preferred"
    case (let outcome, let reason?): "\(outcome.rawValue) \(reason)"
    default: outcome.rawValue
    }
  }
}

/// Returns the error that `body` throws.
func policyError(_ body: () throws -> Void) throws -> PolicyError {
  let error = #expect(throws: PolicyError.self) { try body() }
  return try #require(error)
}

/// Returns UIKit's message for an empty intersection.
func nothingInCommon(_ name: String) -> String {
  "Supported orientations has no common orientation with the application, and [\(name) shouldAutorotate] is returning YES"
}

let preferredMessage =
  "preferredInterfaceOrientationForPresentation must return a supported interface orientation!"
