internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import UprightOrientation

/// Sends signed messages over HTTP/1.1, each on its own connection through the egress proxy.
struct WebhookClient: Sendable {
  /// A receiver's answer.
  struct Answer: Sendable {
    let status: Int
    /// The body; empty if it wasn't to be read.
    let body: Data
  }

  private let client: HTTPClient
  private let proxy: EgressProxy
  private let name: String
  private let timeout: TimeAmount

  /// Returns `nil` before the egress proxy has started. `shutDown` must be called before the last copy is
  /// released.
  ///
  /// - Parameters:
  ///   - name: The name of this client for the proxy. A session, which is also a client of the proxy, can't have
  ///     one that begins with a dot.
  ///   - timeout: The maximum time for the connection, and then without a byte sent or received.
  ///   - connections: The maximum number of connections to one host.
  ///   - trustRoots: The certificates that may issue a receiver's certificate.
  init?(
    proxy: EgressProxy, name: String, secrets: Secrets, timeout: TimeAmount, connections: Int,
    trustRoots: NIOSSLTrustRoots
  ) {
    let secret = Secrets.make()
    guard let port = proxy.port, proxy.admit(name, secret: secret) != nil else { return nil }
    secrets.add(secret)
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    tls.trustRoots = trustRoots
    var configuration = HTTPClient.Configuration()
    configuration.tlsConfiguration = tls
    // The client sends CONNECT to the proxy for http as well as for https.
    configuration.proxy = .server(
      host: "127.0.0.1", port: port, authorization: .basic(username: name, password: secret))
    configuration.httpVersion = .http1Only
    configuration.redirectConfiguration = .disallow
    configuration.timeout = .init(connect: timeout, read: timeout, write: timeout)
    // A failed attempt fails the request: `Webhooks` has its own delays.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    client = HTTPClient(configuration: configuration)
    self.proxy = proxy
    self.name = name
    self.timeout = timeout
  }

  /// Sends a signed POST request with a JSON body and waits for the head of the answer. Ends when the task is
  /// cancelled.
  ///
  /// - Parameters:
  ///   - id: The id of the message, by which the receiver recognises a repetition.
  ///   - limit: The maximum size of the answer's body, in bytes, which is read if the status is 2xx; `nil` to
  ///     not read it.
  func post(
    _ body: String, id: String, to receiver: WebhookReceiver, reading limit: Int? = nil
  ) async throws(RequestFailure) -> Answer {
    var request = HTTPClientRequest(url: receiver.url.text)
    request.method = .POST
    let now = Int(clamping: Date().timeIntervalSince1970)
    request.headers = [
      "Content-Type": "application/json", "User-Agent": "upright", "Connection": "close",
      "Upright-Delivery": id, "Upright-Signature": receiver.signature(of: body, at: now),
    ]
    request.body = .bytes(ByteBuffer(string: body))
    do {
      // Releasing the answer without reading its body closes the connection.
      let answer = try await client.execute(request, deadline: .now() + timeout * 3)
      let status = Int(answer.status.code)
      guard let limit, (200..<300).contains(status) else {
        return Answer(status: status, body: Data())
      }
      let bytes = try await answer.body.collect(upTo: limit)
      return Answer(status: status, body: Data(bytes.readableBytesView))
    } catch is NIOTooManyBytesError {
      throw RequestFailure(reason: "the answer is larger than \(limit ?? 0) bytes")
    } catch { throw RequestFailure(reason: Self.reason(error)) }
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
  func shutDown() async {
    // The client can't cancel a connection attempt and waits for it. This ends it.
    proxy.dismiss(name)
    try? await client.shutdown()
  }
}
