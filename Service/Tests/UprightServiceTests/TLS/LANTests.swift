import Foundation
import NIOSSL
import Testing
import UprightOrientation
import UprightServiceTestSupport

@testable import UprightService

@Suite(
  "A service that the phones of its network reach",
  .enabled(if: TestCertificate.isPossible, "needs openssl"))
struct LANTests {
  private static let local = IPAddress.inNetwork(among: IPAddress.ofThisMachine)

  /// Returns the text of a file's certificate, as openssl prints it.
  private static func printed(_ path: String) throws -> String {
    try ExternalTool("openssl").run(["x509", "-in", path, "-noout", "-text"]).text
  }

  @Test(
    "The certificate has the address, is readable by its owner only, and is kept until it soon expires"
  )
  func certificate() throws {
    let scratch = try Scratch()
    let folders = DataFolders(root: scratch.path("data"))
    let now = Int(Date().timeIntervalSince1970)
    let address = try #require(IPAddress("192.168.1.20"))
    let path = try OwnCertificate.path(for: address, in: folders, now: now)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let text = try Self.printed(path)
    #expect(text.contains("IP Address:192.168.1.20") && text.contains("CA:FALSE"))
    #expect(text.contains("TLS Web Server Authentication"))
    let first = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(try OwnCertificate.path(for: address, in: folders, now: now) == path)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == first)
    let late = try OwnCertificate.path(for: address, in: folders, now: now + 820 * 86400)
    #expect(late == path)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) != first)
    // What isn't a certificate is replaced, and another address has another one.
    try Data("x".utf8).write(to: URL(fileURLWithPath: path))
    _ = try OwnCertificate.path(for: address, in: folders, now: now)
    _ = try NIOSSLPrivateKey(file: path, format: .pem)
    let other = try OwnCertificate.path(
      for: #require(IPAddress("fd00::1")), in: folders, now: now)
    #expect(other != path)
    #expect(try Self.printed(other).contains("IP Address:FD00:0:0:0:0:0:0:1"))
  }

  @Test("The address of the setting: the network's in place of loopback, a given one as it is")
  func addresses() throws {
    let scratch = try Scratch()
    let folders = DataFolders(root: scratch.path("data"))
    let address = try #require(IPAddress("192.168.1.20"))
    func host(_ listen: String, _ local: IPAddress?) throws -> (host: String, certificate: String?)
    {
      let flags = ["lan": "true", "listen": listen]
      let read = try ServiceConfiguration(flags: flags, environment: [:], file: nil)
      let all = try read.inNetwork(folders, local: local, now: 0)
      #expect(all.lanAddress != nil && all.tlsKey == all.tlsCert && all.listen.port == 8443)
      return (all.listen.host, all.tlsCert.map { URL(fileURLWithPath: $0).lastPathComponent })
    }
    #expect(try host("8443", address) == ("192.168.1.20", "lan-192.168.1.20.pem"))
    #expect(try host(":8443", address) == ("0.0.0.0", "lan-192.168.1.20.pem"))
    #expect(try host("10.0.0.7:8443", address) == ("10.0.0.7", "lan-10.0.0.7.pem"))
    #expect(try host("10.0.0.7:8443", nil) == ("10.0.0.7", "lan-10.0.0.7.pem"))
    #expect(throws: UprightError.self) { try host("8443", nil) }
    #expect(throws: UprightError.self) { try host("a.example:8443", address) }
    #expect(throws: UprightError.self) {
      try ServiceConfiguration(flags: ["lan": "perhaps"], environment: [:], file: nil)
    }
    let off = try ServiceConfiguration(flags: [:], environment: [:], file: nil)
    #expect(try off.inNetwork(folders, local: address, now: 0).tlsCert == nil)
  }

  @Test("The QR code in the terminal has the modules of the code, with its quiet zone")
  func blocks() throws {
    let code = try #require(QRCode("https://192.168.1.20:8080/#/login/abcdefghijklmnop"))
    let rows = code.blocks.split(separator: "\n").map {
      $0.replacing("\u{1B}[30;107m", with: "").replacing("\u{1B}[0m", with: "")
    }
    #expect(rows.count == (code.size + 9) / 2)
    #expect(rows.allSatisfy { $0.count == code.size + 8 })
    for y in -4..<code.size + 4 {
      for (column, block) in rows[(y + 4) / 2].enumerated() {
        let x = column - 4
        let isInside = (0..<code.size).contains(x) && (0..<code.size).contains(y)
        let isDark = isInside && code.modules[y * code.size + x]
        let half = y % 2 == 0 ? "\u{2580}\u{2588}" : "\u{2584}\u{2588}"
        #expect(half.contains(block) == isDark, "\(x), \(y)")
      }
    }
  }

  @Test("The code logs in one browser, once, in its time, and allows nothing else")
  func codes() async throws {
    let clock = PlaybackTests.Clock()
    let service = try await RunningService({ configuration, dependencies in
      dependencies.now = { clock.now }
    })
    #expect(service.service.invitation == nil)
    let logins = service.service.logins
    let code = logins.invite(seconds: 60)
    #expect(try await service.ask("GET", "/v1/sessions", token: code).status == 401)
    #expect(try await service.ask("POST", "/v1/sample", token: code).status == 401)
    let first = try await service.ask("POST", "/v1/login", token: code)
    #expect(first.status == 204, "\(first.text)")
    let cookie = first.headers["set-cookie"].map { String($0.prefix { $0 != ";" }) } ?? ""
    let known = try await service.ask(
      "GET", "/v1/sessions", token: nil, headers: ["Cookie": cookie])
    #expect(known.status == 200)
    #expect(try await service.ask("POST", "/v1/login", token: code).status == 401)
    let late = logins.invite(seconds: 60)
    clock.now += 60
    #expect(try await service.ask("POST", "/v1/login", token: late).status == 401)
    #expect(try await service.ask("POST", "/v1/login", token: nil).status == 401)
  }

  @Test(
    "serve --lan answers by HTTPS at the network's address and nowhere else, asks for the token, and keeps its certificate",
    .enabled(if: local != nil, "needs an address in a network"), .server)
  func process() async throws {
    let scratch = try Scratch()
    let address = try #require(Self.local)
    let port = try Loopback.freeTCPPort()
    var certificates: [Data] = []
    for run in 0..<2 {
      let log = scratch.path("errors-\(run)")
      let errors = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      defer { close(errors) }
      let program = try CommandLineProgram(
        ["serve", "--lan", "--listen", "\(port)", "--data", scratch.path("data")], errors: errors,
        environment: ["UPRIGHT_TOKEN": RunningService.token])
      func text() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
      let console = "https://\(address):\(port)/"
      #expect(try await waitUntil { text().contains("It asks once") }, "\(text())")
      #expect(text().contains("The console is at \(console)\n") && text().contains("\u{2588}"))
      #expect(text().contains("visit this website") && !text().contains(RunningService.token))
      #expect((try? LocalConnection(port: port)) == nil)
      let certificate = scratch.path("data/.upright/lan-\(address).pem")
      certificates.append(try Data(contentsOf: URL(fileURLWithPath: certificate)))
      func status(_ more: [String]) async throws -> String {
        try await RunningService.onThread {
          try ExternalTool("curl").run(
            ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", certificate] + more
              + [console + "v1/sessions"]
          ).text
        }
      }
      #expect(try await status([]) == "401")
      #expect(try await status(["-H", "Authorization: Bearer \(RunningService.token)"]) == "200")
      program.send(SIGTERM)
      #expect(try program.wait(timeout: 60).status == 0, "\(text())")
    }
    #expect(certificates[0] == certificates[1])
  }

  @Test("Without openssl the error says what to do", .server)
  func missing() throws {
    try #require(Self.local != nil)
    let scratch = try Scratch()
    let outcome = try CommandLineProgram.run(
      ["serve", "--lan", "--listen", "0", "--data", scratch.path("data")],
      environment: ["PATH": scratch.folder.path])
    #expect(outcome.status != 0 && outcome.errors.contains("install openssl"), "\(outcome.errors)")
  }
}
