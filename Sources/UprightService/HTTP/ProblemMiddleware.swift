internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Makes a `Problem` of whatever is thrown, and logs what is our own fault.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
  let secrets: Secrets
  let methods: RouteMethods

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do { response = try await next(request, context) } catch {
      let problem = misdirected(error, request) ?? Problem(error)
      if problem.status.code == 500 {
        context.logger.error("\(request.method) \(request.uri.path): \(error)")
      }
      response = problem.response(secrets)
      if request.method == .head { response.body = ResponseBody() }
    }
    response.headers[.xContentTypeOptions] = "nosniff"
    return response
  }

  /// What the router answers where it has the path, but not the method.
  private func misdirected(_ error: any Error, _ request: Request) -> Problem? {
    guard !(error is Problem), let error = error as? any HTTPResponseError,
      error.status == .notFound
    else { return nil }
    let allowed = methods.allowed(at: request.uri.path)
    return allowed.isEmpty ? nil : .notAllowed(request.method.rawValue, allowed: allowed)
  }
}
