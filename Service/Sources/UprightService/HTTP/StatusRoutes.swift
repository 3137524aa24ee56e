internal import CUprightConsole
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The health checks, the metrics and the OpenAPI document.
struct StatusRoutes: Sendable {
  let sessions: Sessions
  let metrics: ServiceMetrics
  let folders: DataFolders
  /// The free space below which the service isn't ready, in bytes.
  let minFreeSpace: Int
  /// Returns whether the sessions of the configuration have been started.
  let isReady: @Sendable () -> Bool

  func add(to router: Router<ServiceContext>) {
    router.get("/healthz") { _, _ in Response(text: "ok\n") }
    router.get("/readyz") { _, _ in
      if sessions.isDraining { throw Problem.draining() }
      if !isReady() { throw Problem.starting() }
      if let shortage = folders.shortage(below: minFreeSpace) { throw Problem.unready(shortage) }
      return Response(text: "ready\n")
    }
    router.get("/metrics") { _, _ in
      Response(text: metrics.text, type: "text/plain; version=0.0.4; charset=utf-8")
    }
    router.get("/openapi.yaml") { _, context in
      Response(text: Self.description(at: context.address), type: "application/yaml")
    }
  }

  /// Returns the OpenAPI document of the service at `address`. A test causes every status that it lists.
  static func description(at address: PublicURL) -> String {
    let text = unsafe String(decoding: upright_api_description.content, as: UTF8.self)
    // The document has the path of the server, of which only the service knows the URL.
    return address == .relative
      ? text : text.replacing("\n- url: /\n", with: "\n- url: \(address.of(""))\n")
  }
}
