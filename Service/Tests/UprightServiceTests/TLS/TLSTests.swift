import Foundation
import NIOSSL
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("HTTPS", .enabled(if: TestCertificate.isPossible, "needs openssl"))
struct TLSTests {
  @Test("A client that trusts the certificate is answered over TLS 1.2 and 1.3; others aren't")
  func served() async throws {
    let scratch = try Scratch()
    let service = try await RunningService.secure(scratch: scratch)
    try TestCertificate.make("two", in: scratch)
    for version in [TLSVersion.tlsv12, .tlsv13] {
      let text = try await service.secureGet(trusting: "one.pem", latest: version)
      #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("ok\n"), "\(text)")
    }
    #expect(try await !service.secureGet(trusting: "one.pem", latest: .tlsv11).contains("HTTP"))
    #expect(try await !service.secureGet(trusting: "two.pem").contains("HTTP"))
    try await service.shutDown()
  }

  @Test("Plain HTTP, garbage and a handshake that stalls are closed; other clients are served")
  func hostile() async throws {
    let scratch = try Scratch()
    let service = try await RunningService.secure(
      { configuration, dependencies in
        configuration.maxConnections = 8
        dependencies.requestTimeout = .milliseconds(500)
      }, scratch: scratch)
    let port = service.service.port ?? 0
    // As many as one peer may have.
    let stalled = try (0..<4).map { _ in try LocalConnection(port: port) }
    stalled[0].send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
    for connection in stalled {
      #expect(try await RunningService.onThread { connection.receive(seconds: 20).isClosed })
    }
    #expect(try await waitUntil { try await service.secureGet().hasSuffix("ok\n") })
    let plain = try LocalConnection(port: port)
    plain.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    let answer = try await RunningService.onThread { plain.receive(seconds: 20) }
    #expect(answer.isClosed && !String(decoding: answer.bytes, as: UTF8.self).contains("HTTP"))
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<16 {
      let garbage = try LocalConnection(port: port)
      garbage.send(
        [Bool.random(using: &generator) ? 0x16 : UInt8.random(in: 0...255, using: &generator)]
          + (0..<3000).map { _ in UInt8.random(in: 0...255, using: &generator) })
      #expect(try await RunningService.onThread { garbage.receive(seconds: 20).isClosed })
    }
    #expect(try await waitUntil { try await service.secureGet().hasSuffix("ok\n") })
    try await service.shutDown()
  }

  @Test("A reload is for new connections; a wrong certificate is refused and the old one stays")
  func replaced() async throws {
    let scratch = try Scratch()
    let service = try await RunningService.secure(scratch: scratch)
    try TestCertificate.make("two", in: scratch)
    let kept = try await SecureConnection(
      port: service.service.port ?? 0, trusting: scratch.path("one.pem"))
    kept.get("/healthz", closes: false)
    #expect(try await kept.text { $0.hasSuffix("ok\n") }.hasPrefix("HTTP/1.1 200"))
    // The files are replaced one after the other, and the service is told in between.
    try TestCertificate.serve("two", in: scratch, ["pem"])
    service.service.reload()
    #expect(service.log.lines.contains("keeping the previous certificate: isn't the private key"))
    #expect(try await service.secureGet(trusting: "one.pem").hasSuffix("ok\n"))
    try TestCertificate.serve("two", in: scratch)
    service.service.reload()
    #expect(service.log.lines.contains("reloaded the certificate"))
    #expect(try await service.secureGet(trusting: "two.pem").hasSuffix("ok\n"))
    #expect(try await !service.secureGet(trusting: "one.pem").contains("HTTP"))
    // The connection that exists isn't closed.
    kept.get("/healthz")
    #expect(try await kept.text().components(separatedBy: "HTTP/1.1 200").count == 3)
    for text in ["", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.path("served.pem")))
      service.service.reload()
      #expect(try await service.secureGet(trusting: "two.pem").hasSuffix("ok\n"), "\(text)")
    }
    try FileManager.default.removeItem(atPath: scratch.path("served.pem"))
    service.service.reload()
    #expect(try await service.secureGet(trusting: "two.pem").hasSuffix("ok\n"))
    #expect(service.log.lines.contains("can't read the file"))
    try await service.shutDown()
  }

  /// Costs two seconds of waiting.
  @Test("The error for a wrong certificate or key names the file; an expired one is a warning")
  func wrong() async throws {
    let scratch = try Scratch()
    for name in ["one", "two"] { try TestCertificate.make(name, in: scratch) }
    // OpenSSL 3.5 makes no certificate that ends before it begins.
    try TestCertificate.make("old", in: scratch, days: 0)
    try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.path("x.pem")))
    try ExternalTool("openssl").run([
      "pkey", "-in", scratch.path("one.key"), "-aes256", "-passout", "pass:secret", "-out",
      scratch.path("locked.key"),
    ])
    for (certificate, key, place) in [
      ("none.pem", "one.key", "none.pem"), ("one.pem", "none.key", "none.key"),
      ("x.pem", "one.key", "x.pem"), ("one.key", "one.key", "one.key"),
      ("one.pem", "x.pem", "x.pem"), ("one.pem", "locked.key", "locked.key"),
      ("one.pem", "two.key", "two.key"),
    ] {
      let error = await #expect(throws: UprightError.self, "\(certificate), \(key)") {
        try await RunningService(
          { configuration, _ in
            configuration.tlsCert = scratch.path(certificate)
            configuration.tlsKey = scratch.path(key)
          }, scratch: scratch)
      }
      #expect(error?.code == .configuration && error?.location.hasSuffix(place) == true)
    }
    try TestCertificate.serve("old", in: scratch)
    // Its end has a resolution of a second.
    try await Task.sleep(for: .seconds(2))
    let service = try await RunningService(
      { configuration, _ in
        configuration.tlsCert = scratch.path("served.pem")
        configuration.tlsKey = scratch.path("served.key")
      }, scratch: scratch)
    #expect(service.log.lines.contains("has expired"))
    #expect(try await service.secureGet().hasSuffix("ok\n"))
    try await service.shutDown()
  }

  @Test("The settings: both files or none, from the command line, the environment and the file")
  func settings() throws {
    let both = try ServiceConfiguration(
      flags: ["tlsCert": "a.pem"],
      environment: ["UPRIGHT_TLS_KEY": "b.pem", "UPRIGHT_PLAYBACK": "signed"], file: nil)
    #expect(both.tlsCert == "a.pem" && both.tlsKey == "b.pem" && both.playback == .signed)
    for flags in [["tlsCert": "a"], ["tlsKey": "a"], ["playback": "closed"]] {
      let error = #expect(throws: UprightError.self) {
        try ServiceConfiguration(flags: flags, environment: [:], file: nil)
      }
      #expect(error?.code == .configuration)
    }
  }
}

@Suite(
  "RTMPS and SIGHUP", .enabled(if: FFmpegTool.isHere && TestCertificate.isPossible), .server,
  .serialized)
struct SecurePublishingTests {
  @Test("Published over TLS, during a reload; plain RTMP, garbage and silence don't disturb it")
  func published() async throws {
    let scratch = try Scratch()
    let service = try await RunningService.secure(
      { _, dependencies in dependencies.publisherTimeouts.publish = .seconds(2) },
      make: RunningService.liveSession, scratch: scratch)
    try TestCertificate.make("two", in: scratch)
    let (rate, seconds) = (10, 4)
    let clip = scratch.path("clock.flv")
    try DrawnClock.clip(clip, size: .init(160, 90), rate: rate, seconds: seconds)
    let port = try Loopback.freeTCPPort()
    let address = "rtmps://127.0.0.1:\(port)/live/key-of-the-stage"
    let made = try await service.secureAsk(
      "POST", "/v1/sessions",
      "{\"name\": \"stage\", \"input\": {\"url\": \"\(address)\", \"mode\": \"listen\"}}")
    #expect(made.status == 201 && !made.text.contains("rtmps://127.0.0.1:\(port)/live/key"))
    // Each is closed, and none of them is a publisher.
    let others = try (0..<3).map { _ in try LocalConnection(port: port) }
    others[0].send([3] + [UInt8](repeating: 0, count: 1536))
    others[1].send([UInt8](repeating: 0x16, count: 4000))
    let publisher = try Publisher(clip: clip, to: address)
    let plain = try Publisher(clip: clip, to: address.replacing("rtmps:", with: "rtmp:"))
    #expect(
      try await waitUntil {
        try await service.secureAsk("GET", "/v1/sessions/stage").json["counters"]["framesIn"].int
          ?? 0 >= 5
      })
    try TestCertificate.serve("two", in: scratch)
    service.service.reload()
    #expect(try await RunningService.onThread { publisher.status() } == 0, "\(publisher.errors)")
    #expect(try await RunningService.onThread { plain.status() } != 0)
    for other in others {
      #expect(try await RunningService.onThread { other.receive(seconds: 20).isClosed })
    }
    #expect(
      try await waitUntil {
        try await service.secureAsk("GET", "/v1/sessions/stage").json["counters"]["framesIn"].int
          == rate * seconds
      })
    let again = try Publisher(clip: clip, to: address)
    #expect(try await RunningService.onThread { again.status() } == 0, "\(again.errors)")
    // A publisher that checks the certificate publishes if it trusts it.
    for (trusted, isAccepted) in [("two.pem", true), ("one.pem", false)] {
      let status = try await RunningService.onThread {
        try ExternalTool("ffmpeg").outcome(
          "-nostdin -v error -i \(clip) -c copy -f flv -tls_verify 1".words
            + ["-ca_file", scratch.path(trusted), address], timeout: 60
        ).status
      }
      #expect((status == 0) == isAccepted, "\(trusted): \(status)")
    }
    try await service.shutDown()
  }

  @Test("rtmps: can't listen without a certificate, and not on a port of rtmp:")
  func refused() async throws {
    let port = try Loopback.freeTCPPort()
    func input(_ scheme: String) -> String {
      "{\"input\": {\"url\": \"\(scheme)://127.0.0.1:\(port)/live/key-of-\(scheme)\", \"mode\": \"listen\"}}"
    }
    let bare = try await RunningService()
    let refused = try await bare.ask("POST", "/v1/sessions", input("rtmps"))
    #expect(refused.status == 422 && refused.text.contains("--tls-cert"), "\(refused.text)")
    try await bare.shutDown()
    let service = try await RunningService.secure(scratch: Scratch())
    #expect(try await service.secureAsk("POST", "/v1/sessions", input("rtmp")).status == 201)
    #expect(try await service.secureAsk("POST", "/v1/sessions", input("rtmps")).status == 409)
    try await service.shutDown()
  }

  @Test("SIGHUP reloads the certificate of a process")
  func hangUp() async throws {
    let scratch = try Scratch()
    for name in ["one", "two"] { try TestCertificate.make(name, in: scratch) }
    try TestCertificate.serve("one", in: scratch)
    let port = try Loopback.freeTCPPort()
    let program = try CommandLineProgram(
      [
        "serve", "--listen", "127.0.0.1:\(port)", "--data", scratch.path("data"), "--tls-cert",
        scratch.path("served.pem"), "--tls-key", scratch.path("served.key"),
      ], environment: ["UPRIGHT_TOKEN": RunningService.token])
    func isServed(_ trusted: String) async throws -> Bool {
      guard
        let connection = try? await SecureConnection(port: port, trusting: scratch.path(trusted))
      else { return false }
      connection.get("/healthz")
      return try await connection.text().hasSuffix("ok\n")
    }
    #expect(try await waitUntil { try await isServed("one.pem") })
    try TestCertificate.serve("two", in: scratch)
    program.send(SIGHUP)
    #expect(try await waitUntil { try await isServed("two.pem") })
    program.send(SIGTERM)
    let outcome = try await RunningService.onThread { [program = Held(program)] in
      try program.value.wait(timeout: 60)
    }
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  /// Unchecked because only one thread uses the program at a time.
  private struct Held: @unchecked Sendable {
    let value: CommandLineProgram
    init(_ value: CommandLineProgram) { self.value = value }
  }
}

extension RunningService {
  /// Sends a request over TLS.
  func secureAsk(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
    let connection = try await SecureConnection(port: service.port ?? 0)
    connection.send(request(method, path, body))
    _ = try await connection.text()
    return try Answer(connection.bytes)
  }
}
