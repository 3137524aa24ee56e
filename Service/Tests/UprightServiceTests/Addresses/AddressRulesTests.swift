import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("Allowed addresses")
struct AddressRulesTests {
  private static let rules = AddressRules(
    allowHosts: ["example.com", "*.example.org", "10.0.0.5:8000", "[::1]:8000"].compactMap(
      HostPattern.init),
    dataFolder: "/nowhere",
    ownAddresses: [IPAddress("192.0.2.7")].compactMap { $0 }.reduce(into: []) { $0.insert($1) })

  static let scopes: [(String, IPAddress.Scope?)] = [
    ("127.0.0.1", .loopback), ("127.255.255.254", .loopback), ("0.0.0.0", .unspecified),
    ("10.1.2.3", .private), ("172.15.0.1", .public), ("172.16.0.1", .private),
    ("172.31.255.255", .private), ("172.32.0.1", .public), ("192.168.0.1", .private),
    ("100.64.0.1", .private), ("100.128.0.1", .public), ("169.254.169.254", .linkLocal),
    ("192.0.2.1", .reserved), ("198.18.0.1", .reserved), ("224.0.0.1", .multicast),
    ("255.255.255.255", .reserved), ("8.8.8.8", .public), ("0.1.2.3", .reserved),
    ("::1", .loopback), ("::", .unspecified), ("::ffff:127.0.0.1", .loopback),
    ("::ffff:7f00:1", .loopback), ("::ffff:10.0.0.1", .private), ("::ffff:8.8.8.8", .public),
    ("::127.0.0.1", .loopback), ("64:ff9b::a00:1", .private), ("2002:7f00:1::", .loopback),
    ("fe80::1", .linkLocal), ("fd00::1", .private), ("fec0::1", .private), ("ff02::1", .multicast),
    ("2001:db8::1", .reserved), ("2001::1", .reserved), ("2606:4700::1111", .public),
    ("1.2.3", nil), ("1.2.3.4.5", nil), ("01.2.3.4", nil), ("256.1.1.1", nil), ("1.2.3.+4", nil),
    (":::", nil), ("1::2::3", nil), ("12345::", nil), ("fe80::1%eth0", nil), ("", nil),
    ("1:2:3:4:5:6:7:8:9", nil), ("1:2:3:4:5:6:7::8", nil),
  ]

  @Test("The scope of an address", arguments: scopes)
  func scope(_ text: String, _ scope: IPAddress.Scope?) {
    #expect(IPAddress(text)?.scope == scope)
  }

  @Test(
    "Numeric forms of an address are recognized",
    arguments: [
      "2130706433", "017700000001", "0x7f000001", "127.1", "127.0.1", "0177.0.0.1", "0x7f.0.0.1",
      "127.0.0.1.", "1.2.3.4.5", "0x", "foo.0x7f", "01.2.3.4", "999.1.1.1",
    ])
  func disguised(_ host: String) {
    #expect(IPAddress.isDisguised(host))
  }

  @Test(
    "Names and plain addresses aren't disguised addresses",
    arguments: ["example.com", "1e100.net", "0xcafe.example", "a", "127.0.0.1"])
  func names(_ host: String) {
    #expect(!IPAddress.isDisguised(host))
  }

  /// URL, direction, whether it is allowed.
  static let table: [(String, AddressRules.Direction, Bool)] = [
    ("rtmp://127.0.0.1:1935/live/KEY", .input, true), ("rtmp://10.0.0.9/live/KEY", .output, true),
    ("rtsps://h/cam", .output, false),
    ("rtsp://169.254.169.254/cam", .output, false), ("rtsp://0.0.0.0/cam", .output, false),
    ("rtmps://a.example.net/app/k", .output, true), ("RTMP://127.0.0.1/live/K", .input, true),
    ("srt://127.0.0.1:9000?mode=listener", .input, true), ("rtsp://192.168.1.2/cam", .input, true),
    ("rtsp://192.168.1.2/cam", .output, true), ("udp://239.1.1.1:5000", .input, true),
    ("udp://127.0.0.1:5000?pkt_size=1316", .output, true), ("rtp://127.0.0.1:5000", .input, true),
    ("rtmp://169.254.169.254/live/k", .input, false), ("srt://0.0.0.0:9000", .output, false),
    ("rtmp://224.0.0.1/live/k", .output, false), ("rtmp://[fe80::1]/live/k", .output, false),
    ("rtmp://[::ffff:169.254.1.1]/live/k", .output, false),
    ("rtmp://2130706433/live/k", .output, false), ("rtmp://0177.0.0.1/live/k", .input, false),
    ("https://example.com/a.m3u8", .input, true), ("https://EXAMPLE.com/a.m3u8", .input, true),
    ("https://www.example.com/a.m3u8", .input, false), ("http://a.example.org/x", .input, true),
    ("http://example.org/x", .input, false), ("http://evilexample.com/x", .input, false),
    ("http://example.com.evil.net/x", .input, false),
    ("http://example.com@evil.net/", .input, false),
    ("http://evil.net@example.com/", .input, true), ("http://a@b@example.com/", .input, false),
    ("http://evil.net\\@example.com/", .input, false),
    ("http://evil.net#@example.com/", .input, false),
    ("http://example.com%2eevil.net/", .input, false), ("http://127.0.0.1/x", .input, false),
    ("http://10.0.0.5:8000/x", .input, true), ("http://10.0.0.5/x", .input, false),
    ("http://10.0.0.5:8001/x", .input, false), ("http://167772165:8000/x", .input, false),
    ("http://[::1]:8000/x", .input, true), ("http://[0:0:0:0:0:0:0:1]:8000/x", .input, true),
    ("http://[::ffff:10.0.0.5]:8000/", .input, false), ("https://example.com/up", .output, false),
    ("file:///etc/passwd", .output, false), ("file:/etc/passwd", .input, false),
    ("concat:a|b", .input, false), ("concat://a|b", .input, false),
    ("subfile,,start,0,end,9,,:/etc/passwd", .input, false), ("data:text/plain,x", .input, false),
    ("data://x", .input, false), ("crypto+https://example.com/", .input, false),
    ("async:http://example.com/", .input, false), ("cache:http://example.com/", .input, false),
    ("gopher://example.com/", .input, false), ("tcp://example.com:80", .input, false),
    ("unix:///run/x", .output, false), ("pipe:0", .input, false), ("/etc/passwd", .input, false),
    ("a.mp4", .input, false), ("", .input, false), ("rtmp://", .input, false),
    ("rtmp:///live/k", .input, false), ("rtmp://host:0/x", .input, false),
    ("rtmp://host:65536/x", .input, false), ("rtmp://host:+1/x", .input, false),
    ("rtmp://ho st/x", .input, false), ("rtmp://host/x y", .input, false),
    ("rtmp://host/x\r\nX: y", .input, false), ("srt://1.2.3.4:9?file=/etc/x", .input, false),
    ("udp://1.2.3.4:9?localaddr=1.1.1.1", .input, false),
  ]

  @Test("URLs", arguments: table)
  func urls(_ text: String, _ direction: AddressRules.Direction, _ isAllowed: Bool) {
    let isTaken = (try? Self.rules.check(text, direction)) != nil
    #expect(isTaken == isAllowed)
  }

  @Test("An http hop may lead to public addresses and to listed addresses only")
  func hops() throws {
    func isAllowed(_ text: String, _ port: Int) throws -> Bool {
      let address = try #require(IPAddress(text))
      return (try? Self.rules.check(hop: address, port: port)) != nil
    }
    #expect(try isAllowed("8.8.8.8", 443))
    #expect(try isAllowed("10.0.0.5", 8000))
    for (text, port) in [
      ("10.0.0.5", 80), ("127.0.0.1", 8000), ("::ffff:127.0.0.1", 80), ("169.254.169.254", 80),
      ("fd00::1", 443), ("224.0.0.1", 80), ("0.0.0.0", 80),
    ] { #expect(try !isAllowed(text, port), "\(text)") }
  }

  @Test("A listener may bind to addresses of this machine only")
  func listeners() throws {
    for (host, isOurs) in [
      ("127.0.0.1", true), ("0.0.0.0", true), ("localhost", true), ("192.0.2.7", true),
      ("[::1]", true), ("10.9.9.9", false), ("8.8.8.8", false), ("name.example", false),
    ] {
      let url = try #require(StreamURL("rtmp://\(host):1935/live/key"))
      #expect(((try? Self.rules.checkOwn(url)) != nil) == isOurs, "\(host)")
    }
  }

  @Test("file: URLs can't leave the data folder, not even by links, nor name the service's state")
  func files() throws {
    let scratch = try Scratch()
    let outside = try Scratch()
    var rules = AddressRules()
    rules.dataFolder = scratch.folder.path
    try Data("x".utf8).write(to: scratch.folder.appendingPathComponent("a.mp4"))
    try Data("x".utf8).write(to: outside.folder.appendingPathComponent("b.mp4"))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("link.mp4"), withDestinationPath: outside.path("b.mp4"))
    #expect(try rules.file("file:a.mp4").hasSuffix("/a.mp4"))
    #expect(try rules.file("file://\(scratch.path("a.mp4"))").hasSuffix("/a.mp4"))
    for text in [
      "file:../b.mp4", "file:/etc/passwd", "file:///etc/passwd", "file:", "file:link.mp4",
      "file:.upright/token", "file:live/../../b.mp4", "file:\(outside.path("b.mp4"))",
      "file:a\u{0}b",
    ] { #expect(throws: Refusal.self, "\(text)") { try rules.file(text) } }
  }

  @Test("Paths and hidden names aren't file names")
  func plainNames() {
    for name in ["take.mp4", "a", "A-1_b.ts"] { #expect(AddressRules.isName(name)) }
    for name in [
      "", ".", "..", "../a", "a/b", "/a", ".hidden", "-o", "a\u{0}", "a b", "a:b", "ä",
      String(repeating: "a", count: 129), "a\\b",
    ] { #expect(!AddressRules.isName(name), "\(name)") }
  }

  @Test("The addresses of a session description are checked")
  func descriptions() {
    func isTaken(_ address: String) -> Bool {
      let text =
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 \(address)\r\nt=0 0\r\nm=video 5004 RTP/AVP 96\r\n"
      return (try? Self.rules.check(description: text)) != nil
    }
    #expect(isTaken("127.0.0.1") && isTaken("0.0.0.0") && isTaken("239.1.1.1/32"))
    #expect(!isTaken("10.9.9.9") && !isTaken("example.com") && !isTaken("8.8.8.8"))
    #expect(throws: Refusal.self) { try Self.rules.check(description: "v=0\r\n") }
    #expect(throws: Refusal.self) { try Self.rules.check(description: "#EXTM3U") }
  }

  @Test("Redacted URLs contain no secret")
  func redaction() throws {
    for (text, shown) in [
      ("rtmp://user:pa55word@host:1935/live/KEYKEY", "rtmp://***@host:1935/live/***"),
      (
        "srt://host:9000?mode=caller&passphrase=hunter22", "srt://host:9000?mode=***&passphrase=***"
      ),
      ("https://host/a.m3u8?token=abcdef", "https://host/a.m3u8?token=***"),
      ("rtmp://[::1]/live/KEYKEY", "rtmp://[::1]/live/***"),
    ] {
      let url = try #require(StreamURL(text))
      #expect(url.redacted == shown)
      for secret in url.secrets { #expect(!shown.contains(secret)) }
      #expect(!url.secrets.isEmpty)
      #expect(url.text == text)
    }
  }
}
