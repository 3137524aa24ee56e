internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import Synchronization

/// Sends requests to the HTTP origin of the configuration. The operator names it, so it may be a private address;
/// redirects aren't followed.
final class OriginClient: Sendable {
  /// An answer of the origin.
  struct Answer: Sendable {
    let status: Int
    /// The entity tag, with its quotes (RFC 9110, 8.8.3).
    let tag: String?
    let body: [UInt8]

    var isSuccess: Bool { (200..<300).contains(status) }
  }

  /// A condition on the present version of a file (RFC 9110, 13.1).
  enum Condition: Sendable, Hashable {
    case none
    /// There is no such file.
    case absent
    /// The file has this tag.
    case tag(String)
  }

  /// The start of all addresses, without a slash at the end.
  let base: String
  private let token: String?
  private let timeout: TimeAmount
  private let client = Mutex<HTTPClient?>(nil)

  /// The largest playlist that is read, in bytes.
  private static let largestBody = 1 << 20

  /// - Parameters:
  ///   - base: The address below which the files are.
  ///   - token: Sent as a bearer token, if there is one.
  ///   - timeout: The time limit of a request.
  init(base: String, token: String?, timeout: TimeAmount) {
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    self.token = token
    self.timeout = timeout
  }

  /// Makes the HTTP client. `stop` must follow.
  func start() {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = tls
    configuration.httpVersion = .http1Only
    configuration.redirectConfiguration = .disallow
    configuration.timeout = .init(connect: timeout)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    let made = HTTPClient(configuration: configuration)
    client.withLock { $0 = made }
  }

  /// Ends all requests.
  func stop() async {
    let client = client.withLock { $0.take() }
    try? await client?.shutdown()
  }

  /// Sends a request and reads the answer. Ends when the task is cancelled.
  func send(
    _ method: HTTPMethod, _ path: String, body: [UInt8]? = nil, type: String? = nil,
    if condition: Condition = .none
  ) async throws(RequestFailure) -> Answer {
    guard let client = client.withLock({ $0 }) else {
      throw RequestFailure(reason: "the service is shutting down")
    }
    var request = HTTPClientRequest(url: "\(base)/\(path)")
    request.method = method
    request.headers = ["User-Agent": "upright", "Accept-Encoding": "identity"]
    if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
    if let type { request.headers.add(name: "Content-Type", value: type) }
    switch condition {
    case .none: break
    case .absent: request.headers.add(name: "If-None-Match", value: "*")
    case .tag(let tag): request.headers.add(name: "If-Match", value: tag)
    }
    if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
    do {
      let answer = try await client.execute(request, deadline: .now() + timeout)
      let bytes = try await answer.body.collect(upTo: Self.largestBody)
      return Answer(
        status: Int(answer.status.code), tag: answer.headers.first(name: "ETag"),
        body: Array(bytes.readableBytesView))
    } catch let error as HTTPClientError {
      throw RequestFailure(reason: error.shortDescription)
    } catch is NIOTooManyBytesError {
      throw RequestFailure(reason: "the answer is larger than \(Self.largestBody) bytes")
    } catch { throw RequestFailure(reason: "the connection failed") }
  }
}
