internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import UprightOrientation
internal import UprightPolicy
internal import Upright

/// An error response (RFC 9457).
struct Problem: Error, Sendable, Hashable {
  var status: HTTPResponse.Status
  /// A short summary of the kind of problem.
  var title: String
  /// The cause, and how to fix it.
  var detail: String
  /// The time after which to retry, in seconds; `nil` if retrying the same request doesn't help.
  var retryAfter: Int?
  /// The methods that the path supports, for status 405; otherwise empty.
  var allowed: [String] = []

  init(_ status: HTTPResponse.Status, _ title: String, _ detail: String, retryAfter: Int? = nil) {
    self.status = status
    self.title = title
    self.detail = detail
    self.retryAfter = retryAfter
  }

  static func badRequest(_ detail: String) -> Problem { .init(.badRequest, "Bad request", detail) }
  static func unauthorized(_ detail: String) -> Problem {
    .init(.unauthorized, "Not authorized", detail)
  }
  static func forbidden(_ detail: String) -> Problem { .init(.forbidden, "Forbidden", detail) }
  static func notFound(_ detail: String) -> Problem { .init(.notFound, "Not found", detail) }
  static func notAllowed(_ method: String, allowed: [String]) -> Problem {
    var problem = Problem(
      .methodNotAllowed, "Method not allowed",
      "this path doesn't support \(printable(method)); use \(allowed.joined(separator: ", "))")
    problem.allowed = allowed
    return problem
  }
  static func conflict(_ detail: String) -> Problem { .init(.conflict, "Conflict", detail) }
  static func tooLarge(_ limit: Int) -> Problem {
    .init(.contentTooLarge, "Too large", "the body is larger than \(limit) bytes")
  }
  static func unprocessable(_ detail: String) -> Problem {
    .init(.unprocessableContent, "Unprocessable content", detail)
  }
  static func tooMany(_ detail: String, retryAfter: Int = 10) -> Problem {
    .init(.tooManyRequests, "Limit reached", detail, retryAfter: retryAfter)
  }
  static func starting() -> Problem {
    .init(.serviceUnavailable, "Starting", "the service is starting its sessions", retryAfter: 1)
  }
  static func unready(_ detail: String) -> Problem {
    .init(.serviceUnavailable, "Not ready", detail, retryAfter: 10)
  }
  static func overloaded(_ detail: String) -> Problem {
    .init(.serviceUnavailable, "Overloaded", detail, retryAfter: 10)
  }
  static func draining() -> Problem {
    .init(.serviceUnavailable, "Shutting down", "the service is shutting down", retryAfter: 15)
  }

  /// Creates the response for any error. Internal errors aren't described to the client.
  init(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let refusal as Refusal: self = .unprocessable(refusal.reason)
    case let error as PolicyError:
      self = error.code == .syntax ? .badRequest("\(error)") : .unprocessable("\(error)")
    case let error as UprightError: self.init(media: error)
    case let error as any HTTPResponseError where error.status == .notFound:
      self = .notFound("there is no such path")
    case let error as any HTTPResponseError where error.status.code < 500:
      self.init(error.status, error.status.reasonPhrase, "the request can't be parsed")
    default: self.init(.internalServerError, "Internal Server Error", "see the service's log")
    }
  }

  private init(media error: UprightError) {
    switch error.code {
    case .usage, .badData, .noInput, .unavailable: self = .unprocessable(error.messageForClients)
    case .cannotCreate: self = .conflict(error.messageForClients)
    case .inputOutput: self = .unready(error.messageForClients)
    default: self.init(.internalServerError, "Internal Server Error", "see the service's log")
    }
  }

  /// The body of the response, as JSON.
  var text: String {
    var members: [JSONValue.Member] = [
      .init("type", "about:blank"), .init("title", .string(title)),
      .init("status", .integer(status.code)), .init("detail", .string(detail)),
    ]
    if let retryAfter { members.append(.init("retryAfter", .integer(retryAfter))) }
    return JSONValue.object(members).compact
  }

  /// Returns the HTTP response, with `secrets` removed from its text.
  func response(_ secrets: Secrets) -> Response {
    var redacted = self
    redacted.detail = secrets.redact(detail)
    var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
    if let retryAfter { headers[.retryAfter] = String(retryAfter) }
    if !allowed.isEmpty { headers[.allow] = allowed.joined(separator: ", ") }
    if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer realm=\"upright\"" }
    return Response(
      status: status, headers: headers,
      body: .init(byteBuffer: ByteBuffer(string: redacted.text)))
  }
}

extension UprightError {
  /// The message for a client of the API: options have their names in the API, and remedies that apply only
  /// to the command line are left out.
  var messageForClients: String {
    let isForClients = !["--overwrite", "--data", "--format"].contains(where: remedy.contains)
    let error = namingOptions(in: "options.")
    return [error.message, error.location, isForClients ? error.remedy : ""]
      .filter { !$0.isEmpty }.joined(separator: ": ")
  }
}
