import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("What a publisher enters in OBS, a phone's app or ffmpeg")
struct PublishAddressTests {
  private static let local = IPAddress("192.168.1.7")

  /// The listener, the path of the stream, the host of the request, and what each is then.
  @Test(
    "The host is the one by which the page was asked, and a phone gets none that it can't reach",
    arguments: [
      (
        "rtmp://0.0.0.0:1935/live/KEY", "live/KEY", "studio.local", "rtmp://studio.local:1935/live",
        "KEY", "rtmp://studio.local:1935/live/KEY", "rtmp://studio.local:1935/live/KEY"
      ),
      // The page was asked for on this machine: the phone gets the machine's address in the network.
      (
        "rtmp://0.0.0.0/live/KEY", "live/KEY", "localhost", "rtmp://localhost/live", "KEY",
        "rtmp://localhost/live/KEY", "rtmp://192.168.1.7/live/KEY"
      ),
      (
        "rtmp://0.0.0.0:1935/a/b/KEY", "a/b/KEY", "127.0.0.1", "rtmp://127.0.0.1:1935/a/b", "KEY",
        "rtmp://127.0.0.1:1935/a/b/KEY", "rtmp://192.168.1.7:1935/a/b/KEY"
      ),
      (
        "rtmp://127.0.0.1:1935/live/KEY", "live/KEY", "studio.local", "rtmp://127.0.0.1:1935/live",
        "KEY", "rtmp://127.0.0.1:1935/live/KEY", nil
      ),
      (
        "rtmps://10.0.0.5:443/live/KEY", "live/KEY", "studio.local", "rtmps://10.0.0.5:443/live",
        "KEY", "rtmps://10.0.0.5:443/live/KEY", "rtmps://10.0.0.5:443/live/KEY"
      ),
      (
        "rtmp://[::]:1935/live/KEY", "live/KEY", "::1", "rtmp://[::1]:1935/live", "KEY",
        "rtmp://[::1]:1935/live/KEY", "rtmp://192.168.1.7:1935/live/KEY"
      ),
      (
        "srt://0.0.0.0:9000?streamid=live/KEY&passphrase=ten-letters", "live/KEY", "studio.local",
        "srt://studio.local:9000", "live/KEY",
        "srt://studio.local:9000?streamid=live/KEY&passphrase=ten-letters",
        "srt://studio.local:9000?streamid=live/KEY&passphrase=ten-letters"
      ),
      // A port of its own, without paths.
      (
        "srt://0.0.0.0:9000", "", "studio.local", "srt://studio.local:9000", "",
        "srt://studio.local:9000", "srt://studio.local:9000"
      ),
    ] as [(String, String, String, String, String, String, String?)])
  func fields(
    _ listener: String, _ path: String, _ asked: String, _ server: String, _ key: String,
    _ url: String, _ phone: String?
  ) throws {
    let address = PublishAddress(try #require(StreamURL(listener)), path: path)
    let host = address.host(asked: asked)
    #expect(address.server(at: host) == server && address.key == key)
    #expect(address.url(at: host) == url)
    let reached = address.phoneHost(asked: asked, local: Self.local)
    #expect(reached.map { address.url(at: $0) } == phone)
    // A phone can't be told an address that is missing.
    let isLocal = ["localhost", "127.0.0.1", "::1"].contains(asked)
    if isLocal, phone != nil { #expect(address.phoneHost(asked: asked, local: nil) == nil) }
  }

  @Test("A machine is reached by its private address before a public one")
  func network() {
    func among(_ texts: String...) -> String? {
      IPAddress.inNetwork(among: Set(texts.compactMap { IPAddress($0) }))?.description
    }
    #expect(among("127.0.0.1", "::1") == nil)
    #expect(among("127.0.0.1", "8.8.8.8", "10.1.2.3", "fe80::1") == "10.1.2.3")
    #expect(among("127.0.0.1", "8.8.8.8") == "8.8.8.8")
    #expect(among("192.168.1.7", "10.1.2.3", "172.17.0.1") == "10.1.2.3")
  }

  @Test("The service returns the address of a listening session with its key, to the admin alone")
  func asked() async throws {
    let service = try await RunningService()
    let port = try Loopback.freeTCPPort()
    let made = try await service.ask(
      "POST", "/v1/sessions",
      "{\"name\": \"one\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/key-of-one\"}}")
    let path = "/v1/sessions/one/publish-address"
    let answer = try await service.ask("GET", path)
    #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
    #expect(answer.json["protocol"].string == "rtmp" && answer.json["phone"] == .null)
    #expect(answer.json["url"].string == "rtmp://127.0.0.1:\(port)/live/key-of-one")
    #expect(answer.json["key"].string == made.json["publishKey"].string)
    for token in [nil, "key-of-one"] {
      #expect(try await service.ask("GET", path, token: token).status == 401)
    }
  }
}
