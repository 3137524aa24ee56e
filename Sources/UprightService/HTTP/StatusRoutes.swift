internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Whether the service lives, whether it takes work, what it counts, and what it is.
struct StatusRoutes: Sendable {
  let sessions: Sessions
  let metrics: ServiceMetrics
  /// Whether the sessions of the configuration are begun.
  let isReady: @Sendable () -> Bool

  func add(to router: Router<ServiceContext>) {
    router.get("/healthz") { _, _ in Response(text: "ok\n") }
    router.get("/readyz") { _, _ in
      if sessions.isDraining { throw Problem.draining() }
      if !isReady() { throw Problem.starting() }
      return Response(text: "ready\n")
    }
    router.get("/metrics") { _, _ in
      Response(text: metrics.text, type: "text/plain; version=0.0.4; charset=utf-8")
    }
    router.get("/openapi.yaml") { _, _ in
      Response(text: OpenAPIDocument.text, type: "application/yaml")
    }
    router.get("/") { _, _ in
      var response = Response(text: Self.page, type: "text/html; charset=utf-8")
      response.headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'"
      return response
    }
  }

  private static let page = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Upright</title>
    <style>body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 40rem;
    padding: 0 1rem }</style>
    <h1>Upright</h1>
    <p>The live service runs. Its API is described in <a href="/openapi.yaml">openapi.yaml</a>;
    a session's stream is at <code>/live/{id}/index.m3u8</code>.
    </html>

    """
}
