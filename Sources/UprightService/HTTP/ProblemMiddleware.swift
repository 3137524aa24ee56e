internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Makes a `Problem` of whatever is thrown, and logs what is our own fault.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
  let secrets: Secrets

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do { response = try await next(request, context) } catch {
      let problem = Problem(error)
      if problem.status.code == 500 {
        context.logger.error("\(request.method) \(request.uri.path): \(error)")
      }
      response = problem.response(secrets)
      if request.method == .head { response.body = ResponseBody() }
    }
    response.headers[.xContentTypeOptions] = "nosniff"
    return response
  }
}
