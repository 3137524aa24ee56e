internal import HTTPTypes
internal import Hummingbird

/// Checks a request's bearer token (RFC 6750) or, without one, its login. The only place where the service compares
/// tokens.
struct AccessMiddleware<Context: RequestContext>: RouterMiddleware {
  let token: String
  /// Returns the publish key of a session, or `nil` if there is no session of that name.
  let publishKey: @Sendable (_ session: String) -> String?
  let links: PublishLinks
  let logins: Logins
  let isLibraryOpen: Bool

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var rule = AccessRule(method: request.method, path: request.uri.path)
    if rule == .library { rule = isLibraryOpen ? .open : .control }
    if rule != .open, request.headers[.authorization] == nil, logins.contains(request) {
      guard Logins.isIntended(request) else {
        throw Problem.forbidden("a request with a cookie needs the header X-Upright-Console")
      }
      return try await next(request, context)
    }
    switch rule {
    case .open: break
    case .control, .library:
      let given = try Self.bearer(request)
      if !constantTimeEqual(given, token) { throw Problem.unauthorized("unknown token") }
    case .login:
      let given = try Self.bearer(request)
      guard constantTimeEqual(given, token) || logins.accept(given) else {
        throw Problem.unauthorized("unknown token")
      }
    case .publish(let session): try check(Self.bearer(request), of: session)
    case .contribute(let session):
      let given = try Self.bearer(request)
      let key = publishKey(session)
      if key.map({ links.allows(given, publishKey: $0) }) != true { try check(given, of: session) }
    }
    return try await next(request, context)
  }

  /// - Throws: `Problem` 401 if the token is neither the admin token nor the publish key of the session.
  private func check(_ given: Substring, of session: String) throws(Problem) {
    // The comparison runs even if the session doesn't exist, so that the response time doesn't reveal it.
    let isKey = constantTimeEqual(given, publishKey(session) ?? token)
    let isToken = constantTimeEqual(given, token)
    if !isKey && !isToken { throw .unauthorized("unknown token") }
  }

  /// Returns the bearer token of a request.
  ///
  /// - Throws: `Problem` 401 if there is none.
  static func bearer(_ request: Request) throws(Problem) -> Substring {
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
