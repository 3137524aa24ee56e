internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Converts thrown errors to `Problem` responses, and logs internal errors.
struct ProblemMiddleware: RouterMiddleware {
  typealias Context = ServiceContext

  let secrets: Secrets
  let methods: RouteMethods

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      guard isFramed(request) else {
        throw Problem.badRequest("unsupported Transfer-Encoding; use chunked")
      }
      response = try await next(request, context)
    } catch {
      let problem = misdirected(error, request) ?? Problem(error)
      if problem.status.code == 500 {
        context.logger.error(
          "\(request.method) \(PlaybackKeys.redacted(request.uri.path)): \(error)")
      }
      response = problem.response(secrets)
      // A player or a publisher in a page must be able to read the status and when to retry.
      if request.uri.path.hasPrefix("/live/") {
        response.headers.append(contentsOf: LiveFileRoutes.crossOrigin)
      } else if request.uri.path.hasPrefix("/whip/") {
        response.headers.append(contentsOf: WHIPRoutes.crossOrigin)
      }
      if request.method == .head { response.body = ResponseBody() }
      if problem.status == .contentTooLarge || !isFramed(request) {
        response.headers[.connection] = "close"
        close(context.channel)
      }
    }
    response.headers[.xContentTypeOptions] = "nosniff"
    return response
  }

  /// Returns whether the end of the body can be determined: the only transfer coding, if any, is `chunked`
  /// (RFC 9112, 6.1).
  private func isFramed(_ request: Request) -> Bool {
    request.headers[.transferEncoding].map { $0.lowercased() == "chunked" } ?? true
  }

  /// Closes a connection whose request isn't read to its end. Closes the output first, so that the response
  /// arrives, and later the input, even if the client still sends.
  private func close(_ channel: any Channel) {
    channel.eventLoop.scheduleTask(in: .milliseconds(200)) {
      channel.close(mode: .output, promise: nil)
    }
    channel.eventLoop.scheduleTask(in: .seconds(2)) { channel.close(promise: nil) }
  }

  /// Returns a 405 problem if the router has the path but not the method, otherwise `nil`.
  private func misdirected(_ error: any Error, _ request: Request) -> Problem? {
    guard !(error is Problem), let error = error as? any HTTPResponseError,
      error.status == .notFound
    else { return nil }
    let allowed = methods.allowed(at: request.uri.path)
    return allowed.isEmpty ? nil : .notAllowed(request.method.rawValue, allowed: allowed)
  }
}
