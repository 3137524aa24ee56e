internal import HTTPTypes
internal import Hummingbird
internal import UprightPolicy
internal import Upright

/// `/v1/sessions/{id}/outputs`: shows, adds, starts, stops and removes the outputs of a session.
struct OutputRoutes: Sendable {
  let sessions: Sessions
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    let path: RouterPath = "/v1/sessions/:id/outputs"
    let one: RouterPath = "/v1/sessions/:id/outputs/:output"
    router.get(path) { _, context in
      let hosted = try sessions.find(context)
      return Response(json: [
        "outputs": .array(
          hosted.snapshot.outputs.map {
            hosted.outputs.json($0, sessions.secrets, at: context.address)
          })
      ])
    }
    router.post(path) { request, context in
      try await add(request, to: sessions.find(context), at: context.address)
    }
    router.get(one) { _, context in
      let hosted = try sessions.find(context)
      return response(try output(context, of: hosted), of: hosted, at: context.address)
    }
    router.delete(one) { _, context in
      let hosted = try sessions.find(context)
      let response = try await perform(context, on: hosted) { try await $0.removeOutput($1) }
      try hosted.outputs.release(context.parameters.require("output"))
      return response
    }
    router.post("/v1/sessions/:id/outputs/:output/start") { _, context in
      try await perform(context, on: sessions.find(context)) { try await $0.startOutput($1) }
    }
    router.post("/v1/sessions/:id/outputs/:output/stop") { _, context in
      try await perform(context, on: sessions.find(context)) { try await $0.stopOutput($1) }
    }
  }

  /// - Throws: `Problem` 404.
  private func output(
    _ context: ServiceContext, of hosted: HostedSession
  ) throws -> LiveOutputStatus {
    let id = try context.parameters.require("output")
    guard let status = hosted.snapshot.outputs.first(where: { $0.id == id }) else {
      throw Problem.notFound("the session has no output with this id")
    }
    return status
  }

  private func response(
    _ status: LiveOutputStatus, of hosted: HostedSession, at address: PublicURL,
    _ code: HTTPResponse.Status = .ok
  ) -> Response {
    Response(code, json: hosted.outputs.json(status, sessions.secrets, at: address))
  }

  private func add(
    _ request: Request, to hosted: HostedSession, at address: PublicURL
  ) async throws -> Response {
    let (output, id, canvas) = try SessionRequest.output(
      await request.json(limit: bodyLimit), sessions.rules)
    let status = try await sessions.add(output, id: id, canvas: canvas, to: hosted)
    var response = response(status, of: hosted, at: address, .created)
    response.headers[.location] = address.of("/v1/sessions/\(hosted.id)/outputs/\(status.id)")
    return response
  }

  /// Performs `body` with the session and the id of an output. Returns the output's state.
  private func perform(
    _ context: ServiceContext, on hosted: HostedSession,
    _ body: (any Session, String) async throws -> LiveOutputStatus
  ) async throws -> Response {
    let id = try output(context, of: hosted).id
    let status = try await sessions.running(hosted) { try await body(hosted.session, id) }
    return response(status, of: hosted, at: context.address)
  }
}
