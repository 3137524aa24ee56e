internal import HTTPTypes
internal import Hummingbird
internal import UprightPolicy
internal import Upright

/// `/v1/sessions`: creates, shows, changes and ends sessions, and posts events to them.
struct SessionRoutes: Sendable {
  let sessions: Sessions
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/sessions") { request, context in
      try await create(request, at: context.address)
    }
    router.get("/v1/sessions") { request, context in
      list(try SessionFilter(request.uri), at: context.address)
    }
    router.get("/v1/sessions/:id") { _, context in
      Response(json: try sessions.find(context).json(sessions.secrets, at: context.address))
    }
    router.delete("/v1/sessions/:id") { request, context in
      try await delete(
        sessions.find(context), QueryReader(request.uri, ["continues"]), at: context.address)
    }
    router.patch("/v1/sessions/:id") { request, context in
      try await change(request, sessions.find(context))
    }
    router.get("/v1/sessions/:id/policy") { _, context in
      guard let report = await (try sessions.find(context)).session.policyReport() else {
        throw Problem.conflict("the policy can't start")
      }
      var response = Response(json: report)
      response.headers[.eTag] = Self.tag(report)
      return response
    }
    router.post("/v1/sessions/:id/events") { request, context in
      try await post(request, to: sessions.find(context))
    }
  }

  private func create(_ request: Request, at address: PublicURL) async throws -> Response {
    if sessions.isDraining { throw Problem.draining() }
    let wanted = try SessionRequest(await request.json(limit: bodyLimit), rules: sessions.rules)
    let hosted = try await sessions.create(wanted)
    // The publish key is returned only in this response.
    let key = JSONValue.Member("publishKey", .string(hosted.input.publishKey))
    var response = Response(
      .created, json: hosted.json(sessions.secrets, at: address, extra: [key]))
    response.headers[.location] = address.of("/v1/sessions/\(hosted.id)")
    return response
  }

  private func list(_ filter: SessionFilter, at address: PublicURL) -> Response {
    let (page, next) = filter.page(of: sessions.all)
    let list = JSONValue.array(page.map { $0.json(sessions.secrets, at: address) })
    guard let next else { return Response(json: ["sessions": list]) }
    return Response(json: ["sessions": list, "next": .string(next)])
  }

  /// Ends a running session and returns its final state. Forgets an ended session. With `continues=true` the
  /// playlist isn't ended, because the session goes on elsewhere.
  private func delete(
    _ hosted: HostedSession, _ query: QueryReader, at address: PublicURL
  ) async throws -> Response {
    let continues = query["continues"] ?? "false"
    guard ["true", "false"].contains(continues) else {
      throw Problem.badRequest("continues: must be true or false")
    }
    if hosted.hasEnded {
      sessions.forget(hosted)
      return Response(status: .noContent)
    }
    await sessions.end(hosted, comesBack: continues == "true")
    return Response(json: hosted.json(sessions.secrets, at: address))
  }

  /// Changes the settings of a running session.
  private func change(_ request: Request, _ hosted: HostedSession) async throws -> Response {
    let change = try SessionChange(await request.json(limit: bodyLimit))
    guard hosted.budget.take(1) else {
      throw Problem.tooMany("more than 1000 changes and events per second", retryAfter: 1)
    }
    let wanted = request.headers[.ifMatch]
    // RFC 9110, 13.2.1: what is wrong by itself has its answer before the condition.
    if wanted != nil { _ = try sessions.options(of: hosted, with: change) }
    // Between the comparison and the change no other such request is let in.
    if wanted != nil, !hosted.beginConditionalChange() { throw Self.outdated }
    defer { if wanted != nil { hosted.endConditionalChange() } }
    if let wanted, wanted != "*", await Self.tag(hosted.session.policyReport()) != wanted {
      throw Self.outdated
    }
    let applied = try await sessions.change(hosted, change)
    var response = Response(json: [
      "at": applied.at.map { .number($0) } ?? .null,
      "decisions": .array(applied.decisions.map(\.explained)),
      "options": hosted.options,
    ])
    if change.policy != nil {
      response.headers[.eTag] = await Self.tag(hosted.session.policyReport())
    }
    return response
  }

  private static let outdated = Problem(
    .preconditionFailed, "Precondition failed", "the policy isn't the one that If-Match names")

  /// Returns the entity tag (RFC 9110, 8.8.3) of a session's policy, which doesn't depend on the policy's state.
  private static func tag(_ report: JSONValue?) -> String? {
    report?["policy"].map { "\"\(Secrets.hash($0.compact, key: "policy").prefix(22))\"" }
  }

  // MARK: - Events

  private static let maxEvents = 1000

  private func post(_ request: Request, to hosted: HostedSession) async throws -> Response {
    let body = try await request.json(limit: bodyLimit)
    guard !hosted.hasEnded else { throw Problem.conflict("the session has ended") }
    let events: [JSONValue]
    if case .array(let list) = body { events = list } else { events = [body] }
    guard (1...Self.maxEvents).contains(events.count) else {
      throw Problem.badRequest("the body must be one event, or an array of 1 to \(Self.maxEvents)")
    }
    guard hosted.budget.take(events.count) else {
      throw Problem.tooMany("more than 1000 events per second", retryAfter: 1)
    }
    var read: [StreamEvent] = []
    for (index, event) in events.enumerated() {
      do { read.append(try StreamEvent(json: event)) } catch {
        let place = events.count == 1 ? "" : "event \(index): "
        throw Problem.unprocessable("\(place)\(error)")
      }
    }
    let decisions = try await hosted.session.post(hosted.turnedByHand(read))
    return Response(json: [
      "decisions": .array(decisions.map(\.explained)),
      "pending": .integer(max(0, read.count - decisions.count)),
    ])
  }
}
