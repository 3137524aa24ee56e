internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

/// Gives requests the address for the absolute URLs in their responses: the configured one, or the name under
/// which the client knows the service. A client's `Host` header appears in no response but its own.
struct HostMiddleware: RouterMiddleware {
  /// The configured address, which comes before that of the request.
  let configured: PublicURL?
  /// Whether the service has a certificate.
  let isSecure: Bool
  private let last = LastHost()

  init(configured: PublicURL?, isSecure: Bool) {
    self.configured = configured
    self.isSecure = isSecure
  }

  /// The address of the last request: most have the same.
  private final class LastHost: Sendable {
    private let known = Mutex<(host: String, url: PublicURL)?>(nil)

    func url(_ host: String, isSecure: Bool) -> PublicURL? {
      if let known = known.withLock({ $0 }), known.host == host { return known.url }
      guard let url = PublicURL(host: host, isSecure: isSecure) else { return nil }
      known.withLock { $0 = (host, url) }
      return url
    }
  }

  func handle(
    _ request: Request, context: ServiceContext,
    next: (Request, ServiceContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    if let host = request.head.authority, !host.isEmpty {
      // A second header isn't in `authority`.
      guard !request.headers.contains(where: { $0.name.canonicalName == "host" }),
        let url = last.url(host, isSecure: isSecure)
      else { throw Problem.badRequest("the Host header isn't one HOST or HOST:PORT") }
      context.address = url
    }
    if let configured { context.address = configured }
    return try await next(request, context)
  }
}
