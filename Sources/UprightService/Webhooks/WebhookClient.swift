internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// Sends webhook messages over HTTP/1.1, each on its own connection through the egress proxy.
struct WebhookClient: Sendable {
  /// The result of a request.
  enum Outcome: Sendable, Hashable {
    case delivered
    /// The receiver refuses the message and will refuse it later too.
    case rejected
    /// The request failed for now. The value is the reason, without addresses and paths.
    case failed(String)
  }

  private let client: HTTPClient
  private let timeout: TimeAmount

  /// `shutDown` must be called before the last copy is released.
  ///
  /// - Parameters:
  ///   - proxyPort: The egress proxy's port on 127.0.0.1.
  ///   - name: The name of this client for the proxy.
  ///   - secret: The password of this client for the proxy.
  ///   - timeout: The maximum time for the connection, and then without a byte sent or received.
  ///   - connections: The maximum number of connections to one host.
  ///   - trustRoots: The certificates that may issue a receiver's certificate.
  init(
    proxyPort: Int, name: String, secret: String, timeout: TimeAmount, connections: Int,
    trustRoots: NIOSSLTrustRoots
  ) {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    tls.trustRoots = trustRoots
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = tls
    // The client sends CONNECT to the proxy for http as well as for https.
    configuration.proxy = .server(
      host: "127.0.0.1", port: proxyPort,
      authorization: .basic(username: name, password: secret))
    configuration.httpVersion = .http1Only
    configuration.redirectConfiguration = .disallow
    configuration.timeout = .init(connect: timeout, read: timeout, write: timeout)
    // A failed attempt fails the request: `Webhooks` has its own delays.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    client = HTTPClient(configuration: configuration)
    self.timeout = timeout
  }

  /// Sends a POST request with a JSON body and waits for the head of the answer. Ends when the task is
  /// cancelled.
  ///
  /// - Parameter fields: Header fields to add.
  func post(_ body: String, to url: StreamURL, fields: [(String, String)]) async -> Outcome {
    var request = HTTPClientRequest(url: url.text)
    request.method = .POST
    request.headers = HTTPHeaders(
      [
        ("Content-Type", "application/json"), ("User-Agent", "upright"), ("Connection", "close"),
      ] + fields)
    request.body = .bytes(ByteBuffer(string: body))
    do {
      // Releasing the answer without reading its body closes the connection.
      let code = try await client.execute(request, deadline: .now() + timeout * 3).status.code
      return switch code {
      case 200..<300: .delivered
      case 400, 401, 403, 404: .rejected
      default: .failed("the receiver answered \(code)")
      }
    } catch { return .failed(Self.reason(error)) }
  }

  /// Errors of the network and of TLS contain addresses and paths, so only their kind is reported.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as HTTPClientError where error == .invalidProxyResponse:
      "no connection to the receiver"
    case let error as HTTPClientError: error.shortDescription
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
      "TLS failed: the receiver needs a valid certificate for its host name, and TLS 1.2 or later"
    default: "the connection failed"
    }
  }

  /// Ends all requests and closes all connections.
  func shutDown() async { try? await client.shutdown() }
}
