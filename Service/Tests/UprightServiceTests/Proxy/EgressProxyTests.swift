import Foundation
import Logging
import Synchronization
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("The egress proxy resolves each hop once, checks it, and connects to the checked address")
struct EgressProxyTests {
  /// A resolver with scripted answers. Each look-up of a name uses its next list; the last one is repeated.
  final class StubResolver: Resolver {
    private let answers: Mutex<[String: [[String]]]>
    let asked = Mutex<[String]>([])

    init(_ answers: [String: [[String]]]) { self.answers = Mutex(answers) }

    func addresses(of host: String) async throws(Refusal) -> [IPAddress] {
      if let address = IPAddress(host) { return [address] }
      asked.withLock { $0.append(host) }
      let texts: [String]? = answers.withLock { answers in
        guard let lists = answers[host], let first = lists.first else { return nil }
        if lists.count > 1 { answers[host]?.removeFirst() }
        return first
      }
      guard let texts else { throw Refusal("the name \(host) has no address") }
      return texts.compactMap { IPAddress($0) }
    }
  }

  /// The received requests, in order.
  final class Seen: Sendable {
    private let list = Mutex<[String]>([])
    func withLock<Result: Sendable>(_ body: (inout [String]) -> Result) -> Result {
      list.withLock { body(&$0) }
    }
  }

  /// A single-threaded web server on loopback, which answers by path and records the requests.
  final class Origin: Sendable {
    private let listener: Loopback.Listener
    var port: Int { listener.port }
    let heads = Seen()

    init(_ answer: @escaping @Sendable (_ path: String) -> String) throws {
      listener = try Loopback.Listener()
      Thread.detachNewThread { [listener, heads] in
        while let client = listener.accept() {
          let request = Self.request(client)
          heads.withLock { $0.append(request) }
          let words = request.split(separator: " ")
          let text = answer(words.count > 1 ? String(words[1]) : "")
          _ = Array(text.utf8).withUnsafeBytes {
            send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
          }
          close(client)
        }
      }
    }

    deinit { listener.stop() }

    /// Reads a complete request. Head and body may arrive in separate packets.
    static func request(_ client: CInt) -> String {
      var text = ""
      var bytes = [UInt8](repeating: 0, count: 65536)
      while true {
        let parts = text.components(separatedBy: "\r\n\r\n")
        let length = parts[0].firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
        if parts.count > 1, parts[1].utf8.count >= length { return text }
        let count = recv(client, &bytes, bytes.count, 0)
        if count <= 0 { return text }
        text += String(decoding: bytes[..<count], as: UTF8.self)
      }
    }
  }

  private static func ok(_ body: String) -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
  }

  private static func proxy(
    _ allowHosts: [String], _ resolver: any Resolver = SystemResolver(),
    onRefusal: @escaping @Sendable (String, String) -> Void = { _, _ in }
  ) async throws -> EgressProxy {
    let proxy = EgressProxy(
      rules: AddressRules(allowHosts: allowHosts.compactMap(HostPattern.init)), resolver: resolver,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, onRefusal: onRefusal)
    try await proxy.start()
    _ = proxy.admit("session", secret: "sesame-sesame")
    return proxy
  }

  private static let credentials = Data("session:sesame-sesame".utf8).base64EncodedString()

  private static func ask(
    _ proxy: EgressProxy, _ line: String, credentials: String? = credentials, then more: String = ""
  ) async throws -> Answer {
    let connection = try LocalConnection(port: proxy.port ?? 0)
    let head =
      "\(line)\r\nHost: whatever\r\n"
      + (credentials.map { "Proxy-Authorization: Basic \($0)\r\n" } ?? "")
      + "Connection: keep-alive\r\n\r\n"
    return try await RunningService.onThread {
      connection.send(head)
      if !more.isEmpty {
        _ = connection.text(until: "\r\n\r\n")
        connection.send(more)
      }
      return try Answer(connection.receive(seconds: 20).bytes)
    }
  }

  @Test("Requests and tunnels to a listed host succeed, with the head that an origin expects")
  func reached() async throws {
    let origin = try Origin { Self.ok("hello from \($0)") }
    let proxy = try await Self.proxy(["127.0.0.1:\(origin.port)"])
    let answer = try await Self.ask(proxy, "GET http://127.0.0.1:\(origin.port)/a/b?c=d HTTP/1.1")
    #expect(answer.status == 200 && answer.text == "hello from /a/b?c=d")
    let head = try #require(origin.heads.withLock { $0.first })
    #expect(head.hasPrefix("GET /a/b?c=d HTTP/1.1\r\n") && head.contains("Connection: close"))
    #expect(!head.contains("Proxy-") && !head.contains("keep-alive"))
    let tunnelled = try await Self.ask(
      proxy, "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1", then: "GET /t HTTP/1.1\r\n\r\n")
    #expect(String(decoding: tunnelled.body, as: UTF8.self).contains("hello from /t"))
    await proxy.stop()
  }

  @Test("The connections of a client end with its access, those of others don't")
  func dismissed() async throws {
    let origin = try Loopback.Listener()
    let proxy = try await Self.proxy(["127.0.0.1:\(origin.port)"])
    _ = proxy.admit("other", secret: "sesame-sesame")
    let connections = try ["session", "other"].map { name in
      let connection = try LocalConnection(port: proxy.port ?? 0)
      let credentials = Data("\(name):sesame-sesame".utf8).base64EncodedString()
      connection.send(
        "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nProxy-Authorization: Basic \(credentials)\r\n\r\n"
      )
      return connection
    }
    for connection in connections {
      let head = try await RunningService.onThread { connection.text(until: "\r\n\r\n") }
      #expect(head.hasPrefix("HTTP/1.1 200"))
    }
    proxy.dismiss("session")
    #expect(try await RunningService.onThread { connections[0].receive(seconds: 30).isClosed })
    #expect(try await RunningService.onThread { !connections[1].receive(seconds: 0.2).isClosed })
    await proxy.stop()
  }

  @Test(
    "Without the session's secret, nothing is forwarded",
    arguments: [
      nil, "", "x", Data("session:wrong".utf8).base64EncodedString(),
      Data("other:sesame-sesame".utf8).base64EncodedString(),
    ])
  func unknown(_ credentials: String?) async throws {
    let origin = try Origin { _ in Self.ok("x") }
    let proxy = try await Self.proxy(["127.0.0.1:\(origin.port)"])
    let answer = try await Self.ask(
      proxy, "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1", credentials: credentials)
    #expect([400, 407].contains(answer.status))
    #expect(origin.heads.withLock { $0.isEmpty })
    await proxy.stop()
  }

  @Test(
    "Private, loopback and disguised addresses are refused",
    arguments: [
      "GET http://127.0.0.1:PORT/ HTTP/1.1", "CONNECT 127.0.0.1:PORT HTTP/1.1",
      "GET http://[::1]:PORT/ HTTP/1.1", "GET http://[::ffff:127.0.0.1]:PORT/ HTTP/1.1",
      "GET http://2130706433:PORT/ HTTP/1.1", "GET http://0177.0.0.1:PORT/ HTTP/1.1",
      "GET http://127.1:PORT/ HTTP/1.1", "GET http://localhost:PORT/ HTTP/1.1",
      "GET http://169.254.169.254/ HTTP/1.1", "GET http://0.0.0.0:PORT/ HTTP/1.1",
    ])
  func refused(_ line: String) async throws {
    let origin = try Origin { _ in Self.ok("secret") }
    let proxy = try await Self.proxy(["example.com"])
    let answer = try await Self.ask(proxy, line.replacing("PORT", with: "\(origin.port)"))
    #expect([400, 403].contains(answer.status), "\(answer.status)")
    #expect(origin.heads.withLock { $0.isEmpty })
    await proxy.stop()
  }

  @Test(
    "Anything but a valid proxy request gets 400",
    arguments: [
      "GET / HTTP/1.1", "GET ftp://example.com/ HTTP/1.1", "GET https://example.com/ HTTP/1.1",
      "CONNECT example.com HTTP/1.1", "CONNECT example.com:443/x HTTP/1.1", "nonsense",
      "GET http://user@example.com/ HTTP/1.1", "get http://example.com/ HTTP/1.1",
      "GET http://example.com/ HTTP/2", "GET http://example.com:99999/ HTTP/1.1",
    ])
  func nonsense(_ line: String) async throws {
    let proxy = try await Self.proxy(["example.com"])
    #expect(try await Self.ask(proxy, line).status == 400)
    await proxy.stop()
  }

  @Test("A client that is dismissed because of a refused hop still gets the response")
  func answeredFirst() async throws {
    let made = Mutex<EgressProxy?>(nil)
    let proxy = try await Self.proxy([]) { name, _ in
      made.withLock { $0 }?.dismiss(name)
      // Time for the connection to close before the response, if it is going to.
      usleep(100_000)
    }
    made.withLock { $0 = proxy }
    #expect(try await Self.ask(proxy, "CONNECT 127.0.0.1:9 HTTP/1.1").status == 403)
    await proxy.stop()
  }

  @Test(
    "DNS rebinding: each hop is checked, and the proxy connects to the checked address"
  )
  func rebinding() async throws {
    let origin = try Origin { _ in Self.ok("origin") }
    // 127.0.0.1 is in `allowHosts` and represents the public address here.
    let resolver = StubResolver([
      "rebind.example": [["127.0.0.1"], ["10.0.0.1"]],
      "mixed.example": [["127.0.0.1", "10.0.0.1"]], "inner.example": [["10.0.0.1"]],
    ])
    let proxy = try await Self.proxy(["127.0.0.1:\(origin.port)"], resolver)
    let first = try await Self.ask(proxy, "GET http://rebind.example:\(origin.port)/ HTTP/1.1")
    #expect(first.status == 200 && first.text == "origin")
    // One look-up per hop: no second look-up between the check and the connection.
    #expect(resolver.asked.withLock { $0 } == ["rebind.example"])
    let second = try await Self.ask(proxy, "GET http://rebind.example:\(origin.port)/ HTTP/1.1")
    #expect(second.status == 403)
    for host in ["mixed", "inner", "nowhere"] {
      let answer = try await Self.ask(proxy, "GET http://\(host).example:\(origin.port)/ HTTP/1.1")
      #expect(answer.status == 403, "\(host)")
    }
    #expect(proxy.refusal(of: "session")?.contains("nowhere.example") == true)
    #expect(origin.heads.withLock { $0.count } == 1)
    await proxy.stop()
  }

  @Test(
    "ffmpeg through the proxy: a redirect and a playlist to a loopback address are refused",
    .enabled(if: FFmpegTool.isHere))
  func ffmpeg() async throws {
    let inside = try Origin { _ in Self.ok("secret") }
    let target = "http://127.0.0.1:\(inside.port)/secret.ts"
    let origin = try Origin { path in
      path.contains("redirect")
        ? "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        : Self.ok(
          "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(target)\n#EXT-X-ENDLIST\n"
        )
    }
    let proxy = try await Self.proxy(["127.0.0.1:\(origin.port)"])
    let way = try #require(proxy.admit("session", secret: "sesame-sesame"))
    for path in ["redirect.ts", "list.m3u8"] {
      _ = try await RunningService.onThread {
        try ExternalTool("ffmpeg").outcome(
          [
            "-nostdin", "-v", "error", "-http_proxy", way, "-i",
            "http://127.0.0.1:\(origin.port)/\(path)", "-f", "null", "-",
          ], timeout: 60)
      }
    }
    #expect(origin.heads.withLock { $0.contains { $0.contains("redirect.ts") } })
    #expect(origin.heads.withLock { $0.contains { $0.contains("list.m3u8") } })
    #expect(inside.heads.withLock { $0.isEmpty }, "the inner server was reached")
    #expect(proxy.refusal(of: "session") == "127.0.0.1:\(inside.port): a loopback address")
    await proxy.stop()
  }

  @Test("A response of more than a megabyte passes through unchanged")
  func bulk() async throws {
    let body = String(repeating: "0123456789abcdef", count: 200_000)
    let origin = try Origin { _ in Self.ok(body) }
    let proxy = try await Self.proxy(["127.0.0.1:\(origin.port)"])
    let answer = try await Self.ask(proxy, "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1")
    #expect(answer.body.count == body.utf8.count && answer.text == body)
    await proxy.stop()
  }
}
