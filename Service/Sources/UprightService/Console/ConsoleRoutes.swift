internal import HTTPTypes
internal import Hummingbird

/// The console at `/`, its files, and logging in and out.
struct ConsoleRoutes: Sendable {
  let logins: Logins

  func add(to router: Router<ServiceContext>) {
    router.get("/") { request, _ in try ConsoleFiles.all.response("index.html", to: request) }
    router.get("/console/:name") { request, context in
      try ConsoleFiles.all.response(context.parameters.require("name"), to: request)
    }
    // `AccessMiddleware` has checked the token.
    router.post("/v1/login") { _, context in answer(logins.begin(at: context.address)) }
    router.delete("/v1/login") { request, _ in answer(logins.end(of: request)) }
  }

  private func answer(_ cookie: String) -> Response {
    Response(status: .noContent, headers: [.setCookie: cookie, .cacheControl: "no-store"])
  }
}
