internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import UprightPolicy

/// The reason of a failed request to Janus.
enum JanusError: Error, Sendable, Hashable {
  /// Janus can't be reached, doesn't answer in time, or its answer can't be read.
  case noAnswer(String)
  /// Janus or its plugin answered with an error.
  case refused(code: Int, reason: String)

  /// Janus doesn't know the session or the handle, because it was restarted or they have timed out.
  var isGone: Bool {
    if case .refused(458...459, _) = self { true } else { false }
  }

  /// The reason, for the log and for the state of a session.
  var reason: String {
    switch self {
    case .noAnswer(let reason): "the WebRTC server doesn't answer: \(reason)"
    case .refused(let code, let reason): "the WebRTC server refused: \(reason) (\(code))"
    }
  }
}

/// Sends requests to the HTTP API of Janus. Each has a time limit, and its answer a size limit.
struct JanusClient: Sendable {
  struct Limits: Sendable {
    var request = TimeAmount.seconds(5)
    /// The time limit of a long poll. Janus answers after 30 s if there is no event.
    var poll = TimeAmount.seconds(45)
    /// The largest answer, in bytes.
    var answer = 1 << 20
  }

  private let client: HTTPClient
  private let url: String
  private let secret: String?
  let limits: Limits

  /// `shutDown` must be called before the last copy is released.
  ///
  /// - Parameters:
  ///   - url: The address of the API: `http://127.0.0.1:8088/janus`.
  ///   - secret: The API secret, if Janus requires one.
  ///   - connections: The maximum number of connections. Each publisher needs one.
  init(url: String, secret: String?, connections: Int, limits: Limits) {
    self.url = url
    self.secret = secret
    self.limits = limits
    var configuration = HTTPClient.Configuration()
    configuration.httpVersion = .http1Only
    configuration.redirectConfiguration = .disallow
    configuration.timeout = .init(connect: limits.request)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    client = HTTPClient(configuration: configuration)
  }

  /// Sends a message and returns the answer.
  ///
  /// - Parameter path: The path of a session or handle below the address; empty for the server.
  func send(
    _ kind: String, _ members: [JSONValue.Member] = [], to path: String = "",
    transaction: String = Secrets.make()
  ) async throws(JanusError) -> JSONValue {
    var members =
      [
        JSONValue.Member("janus", .string(kind)), .init("transaction", .string(transaction)),
      ] + members
    if let secret { members.append(.init("apisecret", .string(secret))) }
    var request = HTTPClientRequest(url: url + path)
    request.method = .POST
    request.headers = ["Content-Type": "application/json"]
    request.body = .bytes(ByteBuffer(string: JSONValue.object(members).compact))
    let answer = try await answer(to: request, within: limits.request)
    if answer["janus"]?.text == "error" { throw Self.error(answer["error"], "code", "reason") }
    return answer
  }

  /// Waits for the next event of a session, for about half a minute.
  func poll(session: Int) async throws(JanusError) -> JSONValue {
    var address = "\(url)/\(session)?maxev=1"
    if let secret {
      address +=
        "&apisecret=" + (secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }
    let answer = try await answer(to: HTTPClientRequest(url: address), within: limits.poll)
    if answer["janus"]?.text == "error" { throw Self.error(answer["error"], "code", "reason") }
    return answer
  }

  /// Returns the data of a plugin's answer.
  static func data(of answer: JSONValue) throws(JanusError) -> JSONValue {
    guard let data = answer["plugindata"]?["data"] else {
      throw .noAnswer("the answer has no data of the plugin")
    }
    if data["error_code"] != nil { throw error(data, "error_code", "error") }
    return data
  }

  private static func error(_ value: JSONValue?, _ code: String, _ reason: String) -> JanusError {
    .refused(
      code: value?[code]?.integer ?? 0, reason: printable(value?[reason]?.text ?? "no reason"))
  }

  private func answer(
    to request: HTTPClientRequest, within limit: TimeAmount
  ) async throws(JanusError) -> JSONValue {
    let client = client
    let most = limits.answer
    do {
      return try await within(limit) {
        let response = try await client.execute(request, deadline: .now() + limit)
        guard response.status == .ok else {
          throw JanusError.noAnswer("its HTTP status is \(response.status.code)")
        }
        let body = try await response.body.collect(upTo: most)
        return try JSONValue(parsing: Array(body.readableBytesView))
      }
    } catch let error as JanusError {
      throw error
    } catch is NIOTooManyBytesError {
      throw .noAnswer("the answer is larger than \(most) bytes")
    } catch is PolicyError {
      throw .noAnswer("the answer isn't JSON")
    } catch let error as HTTPClientError {
      throw .noAnswer(error.shortDescription)
    } catch {
      throw .noAnswer("the connection failed")
    }
  }

  /// Ends all requests and closes all connections.
  func shutDown() async { try? await client.shutdown() }
}

/// Returns the value of `body`, which is cancelled after `limit`.
///
/// - Throws: `JanusError.noAnswer` after `limit`, and the errors of `body`.
func within<Value: Sendable>(
  _ limit: TimeAmount, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: .nanoseconds(limit.nanoseconds))
      return nil
    }
    defer { group.cancelAll() }
    guard let value = try await group.next() ?? nil else {
      throw JanusError.noAnswer(
        "no answer within \(Double(limit.nanoseconds) / 1e9) s")
    }
    return value
  }
}

extension JSONValue {
  /// The value, if it is a whole number.
  var integer: Int? { double.flatMap { Int(exactly: $0) } }

  /// The value as an identifier of Janus, which is a whole number or a string. `nil` for anything else.
  var identifier: JSONValue? {
    if let integer { .integer(integer) } else if text != nil { self } else { nil }
  }
}
