internal import HTTPTypes
internal import Hummingbird
internal import Logging

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
      response = try await next(request, context)
    } catch {
      let problem = misdirected(error, request) ?? Problem(error)
      // Nobody waits for the answer to a request that was cancelled.
      if problem.status.code == 500, !(error is CancellationError) {
        context.logger.error(
          "\(request.method) \(PlaybackKeys.redacted(request.uri.path)): \(error)")
      }
      response = problem.response(secrets)
      // A player or a publisher in a page must be able to read the status and when to retry.
      if ["/live/", "/vod/"].contains(where: request.uri.path.hasPrefix) {
        response.headers.append(contentsOf: LiveFileRoutes.crossOrigin)
      } else if request.uri.path.hasPrefix("/whip/") {
        response.headers.append(contentsOf: WHIPRoutes.crossOrigin)
      }
      if request.method == .head { response.body = ResponseBody() }
    }
    response.headers[.xContentTypeOptions] = "nosniff"
    return response
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
