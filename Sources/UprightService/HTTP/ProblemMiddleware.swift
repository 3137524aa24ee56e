internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Makes a `Problem` of whatever is thrown, and logs what is our own fault.
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
        throw Problem.badRequest("Transfer-Encoding: chunked is known, and no other")
      }
      response = try await next(request, context)
    } catch {
      let problem = misdirected(error, request) ?? Problem(error)
      if problem.status.code == 500 {
        context.logger.error("\(request.method) \(request.uri.path): \(error)")
      }
      response = problem.response(secrets)
      if request.method == .head { response.body = ResponseBody() }
      if problem.status == .contentTooLarge || !isFramed(request) {
        response.headers[.connection] = "close"
        close(context.channel)
      }
    }
    response.headers[.xContentTypeOptions] = "nosniff"
    return response
  }

  /// Whether the end of the body can be found: its only coding is `chunked` (RFC 9112, 6.1).
  private func isFramed(_ request: Request) -> Bool {
    request.headers[.transferEncoding].map { $0.lowercased() == "chunked" } ?? true
  }

  /// Closes a connection whose request is not read to its end: first our side, so that the answer arrives,
  /// then the other, however much the client still sends.
  private func close(_ channel: any Channel) {
    channel.eventLoop.scheduleTask(in: .milliseconds(200)) {
      channel.close(mode: .output, promise: nil)
    }
    channel.eventLoop.scheduleTask(in: .seconds(2)) { channel.close(promise: nil) }
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
