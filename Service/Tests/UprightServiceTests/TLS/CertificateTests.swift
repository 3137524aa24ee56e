import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite(
  "TLS: an untrusted certificate is rejected",
  .enabled(if: FFmpegTool.isHere && ExternalTool("openssl").isHere), .server, .serialized)
struct CertificateTests {
  /// A web server with a self-signed certificate for `127.0.0.1`, which serves `/a.ts`.
  private final class Server {
    let port: Int
    private let program: RunningProgram
    private let scratch: Scratch

    init() async throws {
      scratch = try Scratch()
      port = try Loopback.freeTCPPort()
      let (key, certificate) = (scratch.path("key.pem"), scratch.path("certificate.pem"))
      try ExternalTool("openssl").run([
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out",
        certificate, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
      ])
      try FFmpegTool.run(
        "-f lavfi -i testsrc2=size=160x90:rate=15 -t 2 -c:v libx264 -preset ultrafast",
        [scratch.path("a.ts")])
      // With -WWW it serves the files of its working directory.
      program = try RunningProgram(
        ExternalTool("sh"),
        [
          "-c", "cd \"$0\" && exec openssl \"$@\"", scratch.folder.path, "s_server", "-accept",
          "127.0.0.1:\(port)", "-key", key, "-cert", certificate, "-WWW", "-quiet",
        ])
      let port = port
      _ = try await waitUntil { (try? LocalConnection(port: port)) != nil }
    }
  }

  @Test("An https input, an https segment in an http playlist, and a webhook")
  func refused() async throws {
    let server = try await Server()
    let address = "https://127.0.0.1:\(server.port)"
    // A client that doesn't check the certificate gets the file.
    let unchecked = try await RunningService.onThread {
      try FFmpegTool.frames("\(address)/a.ts").count
    }
    #expect(unchecked == 30)
    let origin = try EgressProxyTests.Origin { _ in
      let text =
        "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(address)/a.ts\n#EXT-X-ENDLIST\n"
      return
        "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
    }
    let service = try await RunningService(
      { configuration, dependencies in
        configuration.allowHosts = [
          "127.0.0.1:\(server.port)", "127.0.0.1:\(origin.port)", "hook.example",
        ]
        dependencies.resolver = EgressProxyTests.StubResolver(["hook.example": [["127.0.0.1"]]])
        dependencies.webhooks.delays = [.milliseconds(10)]
      }, make: LiveServiceTests.make)
    let hook = try await service.ask(
      "POST", "/v1/webhooks",
      "{\"url\": \"https://hook.example:\(server.port)/hook\", \"events\": [\"state\"]}")
    #expect(hook.status == 201, "\(hook.text)")
    for (name, url) in [
      ("direct", "\(address)/a.ts"), ("segment", "http://127.0.0.1:\(origin.port)/a.m3u8"),
    ] {
      try await service.ask(
        "POST", "/v1/sessions",
        "{\"name\": \"\(name)\", \"input\": {\"url\": \"\(url)\"}, \"inputTimeout\": 2}")
      var session = JSON.null
      #expect(
        try await waitUntil(40) {
          session = try await service.ask("GET", "/v1/sessions/\(name)").json
          return ["failed", "ended"].contains(session["state"].string)
        })
      #expect(session["state"].string == "failed", "\(session)")
      #expect(session["counters"]["framesIn"].int == 0, "\(session)")
    }
    #expect(try await waitUntil { service.service.webhookCounts.failed >= 2 })
    #expect(service.service.webhookCounts.delivered == 0)
    try await service.shutDown()
  }
}

@Suite(
  "The certificate of a webhook's receiver", .enabled(if: ExternalTool("openssl").isHere))
struct ReceiverCertificateTests {
  /// A web server with a self-signed certificate for `hook.example`, which answers each request with 204.
  private final class Receiver: Sendable {
    let certificate: String
    var port: Int { channel.localAddress?.port ?? 0 }
    private let channel: any Channel
    private let scratch: Scratch

    init() async throws {
      scratch = try Scratch()
      let key = scratch.path("key.pem")
      certificate = scratch.path("certificate.pem")
      try ExternalTool("openssl").run([
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out",
        certificate, "-subj", "/CN=hook.example", "-addext", "subjectAltName=DNS:hook.example",
      ])
      let context = try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
          privateKey: .privateKey(NIOSSLPrivateKey(file: key, format: .pem))))
      channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
              NIOSSLServerHandler(context: context), Answerer(),
            ])
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    }

    func stop() async throws { try await channel.close() }
  }

  private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var request = ""

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      request += String(buffer: unwrapInboundIn(data))
      guard request.hasSuffix("}") else { return }
      let answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }

  @Test(
    "A message is delivered if the certificate is trusted and has the receiver's name",
    arguments: [("hook.example", true), ("hook.example", false), ("other.example", true)])
  func trust(host: String, isTrusted: Bool) async throws {
    let receiver = try await Receiver()
    let service = try await RunningService { configuration, dependencies in
      configuration.allowHosts = [host, "127.0.0.1:\(receiver.port)"]
      dependencies.resolver = EgressProxyTests.StubResolver([host: [["127.0.0.1"]]])
      dependencies.webhooks.delays = []
      if isTrusted { dependencies.trustRoots = .file(receiver.certificate) }
    }
    let made = try await service.ask(
      "POST", "/v1/webhooks",
      "{\"url\": \"https://\(host):\(receiver.port)/\", \"events\": [\"state\"]}")
    #expect(made.status == 201, "\(made.text)")
    try await service.session()
    service.script.sessions[0].become(.live)
    #expect(
      try await waitUntil {
        let counts = service.service.webhookCounts
        return counts.delivered + counts.failed == 1
      })
    let isDelivered = host == "hook.example" && isTrusted
    #expect(service.service.webhookCounts.delivered == (isDelivered ? 1 : 0))
    #expect(service.log.lines.contains("TLS failed") == !isDelivered)
    try await service.shutDown()
    try await receiver.stop()
  }
}
