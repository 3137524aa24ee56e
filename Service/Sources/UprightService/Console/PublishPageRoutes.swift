internal import HTTPTypes
internal import Hummingbird
internal import UprightPolicy

/// The pages for a phone's browser, and the links that open them once: one publishes the camera, the other sends only how
/// the phone is held. Also the page that plays a session, which other pages may embed.
struct PublishPageRoutes: Sendable {
  let sessions: Sessions
  let links: PublishLinks
  let bodyLimit: Int

  private enum Page: String { case publish, sensor }

  func add(to router: Router<ServiceContext>) {
    router.post("/v1/sessions/:id/publish-url") { request, context in
      try await makeLink(.publish, request, sessions.find(context), at: context.address)
    }
    router.post("/v1/sessions/:id/sensor-url") { request, context in
      try await makeLink(.sensor, request, sessions.find(context), at: context.address)
    }
    router.get("/sensor/:id") { request, _ in
      try ConsoleFiles.all.response("sensor.html", to: request)
    }
    router.get("/watch/:id") { request, _ in
      try ConsoleFiles.all.response("watch.html", to: request, isFramed: true)
    }
    router.get("/publish/:id") { request, _ in
      try ConsoleFiles.all.response("publish.html", to: request)
    }
    router.post("/publish/:id") { request, context in
      try redeem(request, of: context.parameters.require("id"))
    }
  }

  private func makeLink(
    _ page: Page, _ request: Request, _ hosted: HostedSession, at address: PublicURL
  ) async throws -> Response {
    if page == .publish { _ = try WHIPRoutes.input(of: hosted) }
    let seconds = try await request.seconds(upTo: PublishLinks.longest, bodyLimit: bodyLimit)
    let (code, expires) = try links.make(publishKey: hosted.input.publishKey, seconds: seconds)
    let url = address.of("/\(page.rawValue)/\(hosted.id)#\(code)")
    return Response(json: [
      "url": .string(url), "expires": .integer(expires), "qr": QRCode(url)?.json ?? .null,
    ])
  }

  /// Returns a token for the code of a link.
  private func redeem(_ request: Request, of id: String) throws -> Response {
    let code = try AccessMiddleware<ServiceContext>.bearer(request)
    let hosted = try? sessions.find(id)
    guard let given = hosted.flatMap({ links.redeem(code, publishKey: $0.input.publishKey) }) else {
      throw Problem.unauthorized("this link was used already, or has expired; ask for another one")
    }
    return Response(json: ["token": .string(given.token), "expires": .integer(given.expires)])
  }
}
