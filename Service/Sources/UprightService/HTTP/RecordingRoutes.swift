internal import HTTPTypes
internal import Hummingbird
internal import UprightPolicy

/// `/v1/recordings`: lists, shows, downloads and removes recordings.
struct RecordingRoutes: Sendable {
  let recordings: Recordings

  /// The number of recordings of a page: the default and the maximum.
  private static let limits = (standard: 100, most: 1000)

  func add(to router: Router<ServiceContext>) {
    router.get("/v1/recordings") { request, _ in try await list(request) }
    router.get("/v1/recordings/:id") { _, context in
      let id = try id(context)
      return Response(json: try await onThread { () throws(Problem) in try recordings.find(id) })
    }
    router.delete("/v1/recordings/:id") { _, context in
      let id = try id(context)
      try await onThread { () throws(Problem) in try recordings.remove(id) }
      return Response(status: .noContent)
    }
    router.get("/v1/recordings/:id/file") { request, context in
      let id = try id(context)
      return try recordings.open(id).response(
        to: request,
        [
          .contentType: id.mediaType, .cacheControl: "no-cache",
          .contentDisposition: "attachment; filename=\"\(id.name)\"",
        ])
    }
  }

  /// - Throws: `Problem` 404 if the id is none.
  private func id(_ context: ServiceContext) throws -> RecordingID {
    guard let id = RecordingID(try context.parameters.require("id")) else {
      throw Problem.notFound("there is no recording with this id")
    }
    return id
  }

  private func list(_ request: Request) async throws -> Response {
    let query = try QueryReader(request.uri, ["session", "limit", "after"])
    let limit = try query.limit(in: 1...Self.limits.most) ?? Self.limits.standard
    var cursor: RecordingCursor?
    if let text = query["after"] {
      cursor = RecordingCursor(String(text))
      if cursor == nil { throw Problem.badRequest("after: must be the next of an earlier page") }
    }
    let session = query["session"].map(String.init)
    if let session, !AddressRules.isName(session) {
      throw Problem.badRequest("session: must be the name of a session")
    }
    let after = cursor
    let (page, next) = await blocking { recordings.list(of: session, after: after, limit: limit) }
    var members = [JSONValue.Member("recordings", .array(page))]
    if let next { members.append(.init("next", .string("\(next)"))) }
    return Response(json: .object(members))
  }

  /// Runs a call that waits for the disk.
  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(Problem) -> Value
  ) async throws -> Value {
    let result = await blocking {
      Result { () throws(Problem) in try body() }
    }
    return try result.get()
  }
}
