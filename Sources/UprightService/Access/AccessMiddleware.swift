internal import HTTPTypes
internal import Hummingbird

/// Lets a request through that may come through (RFC 6750): the one place where tokens are compared.
struct AccessMiddleware<Context: RequestContext>: RouterMiddleware {
  let token: String
  /// The publish key of a session; nil where there is none of that name.
  let publishKey: @Sendable (_ session: String) -> String?

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    switch AccessRule(method: request.method, path: request.uri.path) {
    case .open: break
    case .control:
      let given = try Self.bearer(request)
      if !constantTimeEqual(given, token) { throw Problem.unauthorized("the token is not known") }
    case .publish(let session):
      let given = try Self.bearer(request)
      // Compared whether the session exists or not: the time says nothing of it.
      let key = publishKey(session) ?? token
      let isKey = constantTimeEqual(given, key)
      let isToken = constantTimeEqual(given, token)
      if !isKey && !isToken { throw Problem.unauthorized("the token is not known") }
    }
    return try await next(request, context)
  }

  private static func bearer(_ request: Request) throws(Problem) -> Substring {
    guard let header = request.headers[.authorization] else {
      throw .unauthorized("send Authorization: Bearer TOKEN")
    }
    let words = header.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      throw .unauthorized("send Authorization: Bearer TOKEN")
    }
    return words[1]
  }
}
