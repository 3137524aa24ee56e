internal import HTTPTypes
internal import Hummingbird
internal import RotationPolicy

/// The page that publishes from a phone's browser, and the links that open it once.
struct PublishPageRoutes: Sendable {
  let sessions: Sessions
  let links: PublishLinks
  let bodyLimit: Int

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/sessions/:id/publish-url") { request, context in
      try await makeLink(request, sessions.find(context), at: context.address)
    }
    router.get("/publish/:id") { _, _ in Self.page(PublishPage.html, "text/html") }
    router.post("/publish/:id") { request, context in
      try redeem(request, of: context.parameters.require("id"))
    }
    router.get("/publish/page/style.css") { _, _ in Self.page(PublishPage.css, "text/css") }
    router.get("/publish/page/script.js") { _, _ in Self.page(PublishPage.script, "text/javascript")
    }
  }

  private static func page(_ text: String, _ type: String) -> Response {
    var response = Response(text: text, type: "\(type); charset=utf-8")
    response.headers[.contentSecurityPolicy] = PublishPage.policy
    // The path names the session. The code of a link is in its fragment, which browsers don't send.
    response.headers[.referrerPolicy] = "no-referrer"
    return response
  }

  private func makeLink(
    _ request: Request, _ hosted: HostedSession, at address: PublicURL
  ) async throws -> Response {
    _ = try WHIPRoutes.input(of: hosted)
    let seconds = try await request.seconds(upTo: PublishLinks.longest, bodyLimit: bodyLimit)
    let (code, expires) = try links.make(publishKey: hosted.publishKey, seconds: seconds)
    return Response(json: [
      "url": .string(address.of("/publish/\(hosted.id)#\(code)")), "expires": .integer(expires),
    ])
  }

  /// Returns a token for the code of a link.
  private func redeem(_ request: Request, of id: String) throws -> Response {
    let code = try AccessMiddleware<ServiceContext>.bearer(request)
    let hosted = try? sessions.find(id)
    guard let given = hosted.flatMap({ links.redeem(code, publishKey: $0.publishKey) }) else {
      throw Problem.unauthorized("this link was used already, or has expired; ask for another one")
    }
    return Response(json: ["token": .string(given.token), "expires": .integer(given.expires)])
  }
}

extension HTTPField.Name {
  /// Referrer Policy, 8.1.
  static let referrerPolicy = Self.known("Referrer-Policy")
}
