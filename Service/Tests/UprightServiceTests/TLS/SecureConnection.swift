import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import UprightServiceTestSupport

@testable import UprightService

/// Files of a self-signed certificate for 127.0.0.1, made with openssl.
enum TestCertificate {
  static var isPossible: Bool { ExternalTool("openssl").isHere }

  /// Creates `name.pem` and `name.key` in `scratch`.
  ///
  /// - Parameter days: The days until it expires. With 0 it expires within a second.
  static func make(_ name: String, in scratch: Scratch, days: Int = 2) throws {
    let (key, request) = (scratch.path("\(name).key"), scratch.path("\(name).csr"))
    let extensions = scratch.path("\(name).cnf")
    try Data("subjectAltName=IP:127.0.0.1\n".utf8).write(to: URL(fileURLWithPath: extensions))
    try ExternalTool("openssl").run([
      "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", key, "-out", request, "-subj", "/CN=\(name)",
    ])
    try ExternalTool("openssl").run([
      "x509", "-req", "-in", request, "-signkey", key, "-days", "\(days)", "-extfile", extensions,
      "-out", scratch.path("\(name).pem"),
    ])
  }

  /// Replaces the service's files, `served.pem` and `served.key`, with those of `name`.
  static func serve(_ name: String, in scratch: Scratch, _ kinds: [String] = ["pem", "key"]) throws
  {
    for kind in kinds {
      let data = try Data(contentsOf: URL(fileURLWithPath: scratch.path("\(name).\(kind)")))
      try data.write(to: URL(fileURLWithPath: scratch.path("served.\(kind)")), options: .atomic)
    }
  }
}

/// A client's TLS connection to loopback.
final class SecureConnection: Sendable {
  private final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    let state = Mutex((bytes: [UInt8](), failure: String?.none, isClosed: false))

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let buffer = unwrapInboundIn(data)
      state.withLock { $0.bytes += buffer.readableBytesView }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      state.withLock { $0.failure = $0.failure ?? "\(error)" }
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      state.withLock { $0.isClosed = true }
    }
  }

  private let channel: any Channel
  private let collector = Collector()

  /// - Parameters:
  ///   - certificate: The path of the only certificate that is trusted; `nil` trusts any.
  ///   - latest: The latest version of TLS that the client supports.
  init(port: Int, trusting certificate: String? = nil, latest: TLSVersion? = nil) async throws {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.applicationProtocols = ["h2", "http/1.1"]
    configuration.maximumTLSVersion = latest
    if let certificate {
      configuration.trustRoots = .file(certificate)
    } else {
      configuration.certificateVerification = .none
    }
    let context = try NIOSSLContext(configuration: configuration)
    let collector = collector
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            NIOSSLClientHandler(context: context, serverHostname: nil), collector,
          ])
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
  }

  deinit { channel.close(promise: nil) }

  func send(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

  /// Sends a GET request for `path`. The connection stays open unless `closes`.
  func get(_ path: String, closes: Bool = true) {
    let end = closes ? "Connection: close\r\n" : ""
    send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(end)\r\n")
  }

  /// Waits until `isEnough` returns `true` for all received text, the connection is closed, or 20 s have passed.
  /// Returns the text.
  func text(until isEnough: (String) -> Bool = { _ in false }) async throws -> String {
    var text = ""
    _ = try await waitUntil {
      let state = collector.state.withLock { $0 }
      text = String(decoding: state.bytes, as: UTF8.self)
      return state.isClosed || isEnough(text)
    }
    return text
  }

  /// All received bytes.
  var bytes: [UInt8] { collector.state.withLock { $0.bytes } }

  /// The reason why the connection failed; `nil` if it didn't.
  var failure: String? { collector.state.withLock { $0.failure } }
}

extension RunningService {
  /// Starts a service with the certificate `one`, as `served.pem` and `served.key` in `scratch`.
  static func secure(
    _ change: (inout ServiceConfiguration, inout UprightService.Dependencies) -> Void = { _, _ in },
    make: MakeSession? = nil, scratch: Scratch
  ) async throws -> RunningService {
    try TestCertificate.make("one", in: scratch)
    try TestCertificate.serve("one", in: scratch)
    return try await RunningService(
      { configuration, dependencies in
        configuration.tlsCert = scratch.path("served.pem")
        configuration.tlsKey = scratch.path("served.key")
        change(&configuration, &dependencies)
      }, make: make, scratch: scratch)
  }

  /// Returns the response to a GET request over TLS, or the failure as text.
  func secureGet(
    _ path: String = "/healthz", trusting certificate: String? = nil, latest: TLSVersion? = nil
  ) async throws -> String {
    let connection = try await SecureConnection(
      port: service.port ?? 0, trusting: certificate.map(scratch.path), latest: latest)
    connection.get(path)
    let text = try await connection.text()
    return text.isEmpty ? connection.failure ?? "closed" : text
  }
}
