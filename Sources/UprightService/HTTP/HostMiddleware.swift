internal import HTTPTypes
internal import Hummingbird

/// Gives requests the address for the absolute URLs in their responses: the configured one, or the name under
/// which the client knows the service. A client's `Host` header appears in no response but its own.
struct HostMiddleware: RouterMiddleware {
  /// The configured address, which comes before that of the request.
  let configured: PublicURL?
  /// Whether the service has a certificate.
  let isSecure: Bool

  func handle(
    _ request: Request, context: ServiceContext,
    next: (Request, ServiceContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    if let host = request.head.authority, !host.isEmpty {
      // A second header isn't in `authority`.
      guard !request.headers.contains(where: { $0.name.canonicalName == "host" }),
        let url = PublicURL(host: host, isSecure: isSecure)
      else { throw Problem.badRequest("the Host header isn't one HOST or HOST:PORT") }
      context.address = url
    }
    if let configured { context.address = configured }
    return try await next(request, context)
  }
}
