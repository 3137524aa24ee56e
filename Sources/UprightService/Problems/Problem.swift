internal import HTTPTypes
internal import Hummingbird
internal import UprightMediaIO
internal import NIOCore
internal import RotationPolicy

/// An answer that says what went wrong (RFC 9457).
struct Problem: Error, Sendable, Hashable {
  var status: HTTPResponse.Status
  /// The class of the problem; the same words for the same status.
  var title: String
  /// What happened this time, and what to do.
  var detail: String
  /// Seconds after which it is worth another try; nil: never, as it is.
  var retryAfter: Int?
  /// The methods that the path has; empty where that is not the problem.
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
  static func notFound(_ detail: String) -> Problem { .init(.notFound, "Not found", detail) }
  static func notAllowed(_ method: String, allowed: [String]) -> Problem {
    var problem = Problem(
      .methodNotAllowed, "Method not allowed",
      "\(printable(method)) is no method of this path; it has \(allowed.joined(separator: ", "))")
    problem.allowed = allowed
    return problem
  }
  static func conflict(_ detail: String) -> Problem { .init(.conflict, "Conflict", detail) }
  static func tooLarge(_ limit: Int) -> Problem {
    .init(.contentTooLarge, "Too large", "the body is larger than \(limit) bytes")
  }
  static func unprocessable(_ detail: String) -> Problem {
    .init(.unprocessableContent, "Cannot be used", detail)
  }
  static func tooMany(_ detail: String, retryAfter: Int = 10) -> Problem {
    .init(.tooManyRequests, "Too many", detail, retryAfter: retryAfter)
  }
  static func starting() -> Problem {
    .init(.serviceUnavailable, "Starting", "sessions are being begun", retryAfter: 1)
  }
  static func unready(_ detail: String) -> Problem {
    .init(.serviceUnavailable, "Not possible now", detail, retryAfter: 10)
  }
  static func draining() -> Problem {
    .init(.serviceUnavailable, "Shutting down", "the service is shutting down", retryAfter: 15)
  }

  /// What an error of any kind is to the client. Our own faults are not described.
  init(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let refusal as Refusal: self = .unprocessable(refusal.reason)
    case let error as PolicyError:
      self = error.code == .syntax ? .badRequest("\(error)") : .unprocessable("\(error)")
    case let error as MediaError: self.init(media: error)
    case let error as any HTTPResponseError where error.status == .notFound:
      self = .notFound("there is nothing here")
    case let error as any HTTPResponseError where error.status.code < 500:
      self.init(error.status, error.status.reasonPhrase, "the request cannot be read")
    default: self.init(.internalServerError, "Our fault", "see the service's log")
    }
  }

  private init(media error: MediaError) {
    switch error.code {
    case .usage, .badData, .noInput, .unavailable: self = .unprocessable(error.inAnswers)
    case .cannotCreate: self = .conflict(error.inAnswers)
    case .inputOutput: self = .unready(error.inAnswers)
    default: self.init(.internalServerError, "Our fault", "see the service's log")
    }
  }

  /// The answer, with nothing in it that `secrets` knows.
  func response(_ secrets: Secrets) -> Response {
    var members: [JSONValue.Member] = [
      .init("type", "about:blank"), .init("title", .string(title)),
      .init("status", .integer(status.code)), .init("detail", .string(secrets.redact(detail))),
    ]
    var headers: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
    if let retryAfter {
      members.append(.init("retryAfter", .integer(retryAfter)))
      headers[.retryAfter] = String(retryAfter)
    }
    if !allowed.isEmpty { headers[.allow] = allowed.joined(separator: ", ") }
    if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer realm=\"upright\"" }
    return Response(
      status: status, headers: headers,
      body: .init(byteBuffer: ByteBuffer(string: JSONValue.object(members).compact)))
  }
}

extension MediaError {
  /// As a client of the API reads it: an option has its name in the API, and what only someone at the
  /// command line could do is left out.
  var inAnswers: String {
    let place =
      location.hasPrefix("--")
      ? "options." + location.dropFirst(2).prefix { $0 != " " && $0 != "=" } : location
    let advice = ["-y ", "-o", "--data", "--format"].contains(where: remedy.contains) ? "" : remedy
    return [message, place, advice.replacing("--", with: "")].filter { !$0.isEmpty }
      .joined(separator: ": ")
  }
}
