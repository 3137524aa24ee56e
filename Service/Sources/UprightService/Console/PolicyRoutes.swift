internal import Hummingbird
internal import UprightPolicy
internal import Upright

/// The built-in policies, and what a policy decides for a list of events, without a session.
struct PolicyRoutes: Sendable {
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    router.get("/v1/policies") { _, _ in
      let policies = PolicyDocument.builtInNames.compactMap { name in
        PolicyDocument.builtIn(name).map { JSONValue.Member(name, $0.json) }
      }
      return Response(json: ["policies": .object(policies)])
    }
    router.post("/v1/explain") { request, _ in
      let body = try await request.json(limit: bodyLimit)
      return Response(json: try explain(body))
    }
  }

  /// The longest list of events.
  private static let maxEvents = 1000

  /// Returns the decisions, or the first error with the text that it is in. Both texts are given as they are typed, so that
  /// an error has its line.
  private func explain(_ body: JSONValue) throws -> JSONValue {
    let members = try SessionRequest.members(
      of: body, "request", allowing: ["policy", "events"])
    guard case .string(let policy)? = members["policy"],
      case .string(let lines)? = members["events"]
    else { throw Problem.badRequest("policy and events must be texts") }
    let document: PolicyDocument
    var plan: OrientationPlan
    do throws(PolicyError) {
      document = try PolicyDocument(json: policy.utf8)
      plan = try OrientationPlan(document)
    } catch { return ["error": error.json(in: "policy")] }
    do throws(PolicyError) {
      let events = try RotationEvent.parse(jsonLines: lines.utf8)
      guard events.count <= Self.maxEvents else {
        throw PolicyError(
          .value, "there are \(events.count) events", at: "line \(Self.maxEvents + 1)",
          remedy: "use at most \(Self.maxEvents)")
      }
      for event in events { try plan.push(event) }
    } catch { return ["error": error.json(in: "events")] }
    plan.finish()
    return [
      "error": .null,
      "start": .string(plan.start.startExplanation(in: plan.formats[0].format.appOrientation)),
      "decisions": .array(plan.entries.map(\.explained)),
      "warnings": .array(plan.warnings.map { .string($0) }),
      "svg": .string(TimelineDrawing(plan).svg),
    ]
  }
}

extension PolicyError {
  /// The error, and the text that it is in.
  fileprivate func json(in text: String) -> JSONValue {
    [
      "in": .string(text), "message": .string(message), "path": .string(path),
      "remedy": .string(remedy),
    ]
  }
}
