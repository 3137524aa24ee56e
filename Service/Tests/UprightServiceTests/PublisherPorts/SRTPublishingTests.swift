import CUprightSRT
import Foundation
import Testing
import Upright
import UprightOrientation
import UprightServiceTestSupport

@testable import UprightService

extension LiveServiceMedia {
  /// Publishers at an SRT port, which say in their streamid which session is theirs.
  @Suite("The SRT port: many publishers, one per session")
  struct SRTPublishingTests {
    private static let passphrase = "a-phrase-of-one"

    /// Some releases of libavformat send the streamid as it is here, others decode it.
    private static func address(_ port: UInt16, _ streamID: String, _ passphrase: String = "")
      -> String
    {
      let id = streamID.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      return "srt://127.0.0.1:\(port)?pkt_size=1316&streamid=\(id)"
        + (passphrase.isEmpty ? "" : "&passphrase=\(passphrase)")
    }

    private static func target(
      _ port: UInt16, _ streamID: String, _ passphrase: String = ""
    ) -> [String] {
      ["-f", "mpegts", address(port, streamID, passphrase)]
    }

    private static func service(_ more: FrameKind = .metadata) async throws -> RunningService {
      try await RunningService(make: LiveServiceFixture.make(more))
    }

    private func state(_ service: RunningService, _ id: String) async throws -> String? {
      try await service.state(id)["state"].string
    }

    @Test("A phone's turn in the middle: HLS and the recording are upright; no secret is shown")
    func turn() async throws {
      let port = try Loopback.freePort()
      let service = try await Self.service(.sensor(.init()))
      let made = try await service.session(
        "trial",
        input: """
          {"url": "srt://127.0.0.1:\(port)?streamid=live/trial-key&passphrase=\(Self.passphrase)"}
          """,
        more: ", \"outputs\": [{\"type\": \"hls\"}, {\"type\": \"file\", \"name\": \"take.ts\"}]")
      #expect(made.status == 201, "\(made.text)")
      #expect(made.json["publishKey"].string == "trial-key")
      let url = made.json["input"]["url"].string
      #expect(url == "srt://127.0.0.1:\(port)?streamid=***&passphrase=***")
      #expect(!made.text.contains(Self.passphrase))
      let sender = try sending(
        seconds: 6, Self.target(port, "#!::m=publish,r=live/trial-key", Self.passphrase),
        audio: true)
      func shows(_ seconds: Double) async throws {
        let isThere = try await waitUntil {
          (try await service.state("trial")["seconds"].double ?? 0) >= seconds
        }
        let text = try await service.ask("GET", "/v1/sessions/trial").text
        try #require(isThere, "\(text) \(service.log.lines.suffix(2000))")
      }
      try await shows(2)
      let turned = try await service.ask(
        "POST", "/v1/sessions/trial/events", "{\"device\": \"landscapeLeft\"}")
      #expect(turned.json["decisions"][0]["decision"].string == "rotate", "\(turned.text)")
      try await shows(3.5)
      _ = sender
      #expect(try await service.ask("DELETE", "/v1/sessions/trial").status == 200)
      let (scratch, file) = (
        service.scratch, service.scratch.path("data/recordings/trial/take.ts")
      )
      let recorded = try await RunningService.onThread { try DecodedFrames(file, scratch) }
      for shown in [try await service.playedFrames("trial"), recorded] {
        let first = try #require(shown.corners.firstIndex(of: "tl"))
        #expect(first > 20 && first < shown.corners.count - 20, "\(shown.corners)")
        #expect(shown.corners[..<first].allSatisfy { $0 == "tr" }, "\(shown.corners)")
        #expect(shown.corners[first...].allSatisfy { $0 == "tl" }, "\(shown.corners)")
      }
      #expect(!service.log.lines.contains(Self.passphrase))
      #expect(!service.log.lines.contains("trial-key"))
      try await service.shutDown()
    }

    /// SRT holds packets back for its latency, 120 ms, also those of a publisher that has left.
    @Test("What a publisher sent before it left is recorded")
    func last() async throws {
      let port = try Loopback.freePort()
      let service = try await Self.service()
      _ = try await service.session(
        "cam", input: "{\"url\": \"srt://127.0.0.1:\(port)?streamid=cam\"}",
        more: ", \"inputTimeout\": 1, \"outputs\": [{\"type\": \"file\", \"name\": \"take.ts\"}]")
      let source = service.scratch.path("source.ts")
      try await RunningService.onThread {
        try FFmpegTool.run("-f lavfi -i \(DecodedFrames.source) -t 2 -c:v libx264 -bf 0", [source])
        let caller = SRTCaller(port, streamID: "cam")
        try #require(caller.reason == 0)
        #expect(caller.send([UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))))
        // It leaves when everything is sent and nothing is due.
        Thread.sleep(forTimeInterval: 0.06)
        #expect(caller.isConnected)
      }
      #expect(
        try await waitUntil { try await self.state(service, "cam") == "ended" },
        "\(service.log.lines.suffix(2000))")
      let (scratch, file) = (service.scratch, service.scratch.path("data/recordings/cam/take.ts"))
      let recorded = try await RunningService.onThread { try DecodedFrames(file, scratch) }
      #expect(recorded.corners.count == 60)
      try await service.shutDown()
    }

    @Test("Each publisher reaches its session at one port; others get SRT's reason")
    func routes() async throws {
      let port = try Loopback.freePort()
      let service = try await Self.service()
      for (id, more) in [("one", "&passphrase=\(Self.passphrase)"), ("two", "")] {
        let made = try await service.session(
          id, input: "{\"url\": \"srt://127.0.0.1:\(port)?streamid=live/\(id)\(more)\"}")
        #expect(made.status == 201, "\(made.text)")
      }
      let again = try await service.session(
        "three", input: "{\"url\": \"srt://127.0.0.1:\(port)?streamid=live/two\"}")
      #expect(again.status == 409, "\(again.text)")
      let one = try sending(seconds: 60, Self.target(port, "live/one", Self.passphrase))
      let two = try sending(seconds: 60, Self.target(port, "#!::r=live/two,m=publish"))
      for id in ["one", "two"] {
        #expect(
          try await waitUntil { try await self.state(service, id) == "live" },
          "\(service.log.lines.suffix(2000))")
      }
      let reasons = try await RunningService.onThread {
        [
          SRTCaller(port, streamID: "live/none").reason,
          SRTCaller(port, streamID: "").reason,
          SRTCaller(port, streamID: String(repeating: "n", count: 512)).reason,
          SRTCaller(port, streamID: "#!::r=live/two,m=request").reason,
          SRTCaller(port, streamID: "live/two").reason,
        ]
      }
      #expect(
        reasons == [
          SRT_REJX_NOTFOUND, SRT_REJX_BAD_REQUEST, SRT_REJX_NOTFOUND, SRT_REJX_BAD_MODE,
          SRT_REJX_CONFLICT,
        ])
      #expect(service.log.lines.contains("publisher rejected: no session expects this stream"))
      #expect(service.log.lines.contains("the stream already has a publisher"))
      _ = (one, two)
      try await service.shutDown()
    }

    @Test("A wrong passphrase, none and one too many are rejected")
    func passphrases() async throws {
      let port = try Loopback.freePort()
      let service = try await Self.service()
      for (id, more) in [("one", "&passphrase=\(Self.passphrase)"), ("two", "")] {
        _ = try await service.session(
          id, input: "{\"url\": \"srt://127.0.0.1:\(port)?streamid=\(id)\(more)\"}")
      }
      let phrase = Self.passphrase
      let reasons = try await RunningService.onThread {
        [
          SRTCaller(port, streamID: "one", passphrase: "another-phrase").reason,
          SRTCaller(port, streamID: "one").reason,
          SRTCaller(port, streamID: "two", passphrase: phrase).reason,
          SRTCaller(port, streamID: "one", passphrase: phrase).reason,
        ]
      }
      #expect(reasons.map { $0 == 0 } == [false, false, false, true])
      #expect(reasons[0] == CInt(SRT_REJ_BADSECRET.rawValue))
      #expect(
        try await waitUntil { service.log.lines.contains("it doesn't have the passphrase") },
        "\(service.log.lines.suffix(1000))")
      try await service.shutDown()
    }

    @Test(
      "Data that is no transport stream has a reason; a silent publisher gives way",
      // The second caller must come within the two seconds that the first one may be silent.
      .tags(.alone))
    func yields() async throws {
      let port = try Loopback.freePort()
      let service = try await Self.service()
      _ = try await service.session(
        "cam", input: "{\"url\": \"srt://127.0.0.1:\(port)?streamid=cam\"}")
      let isSent = try await RunningService.onThread {
        let caller = SRTCaller(port, streamID: "cam")
        let bytes = [UInt8](repeating: 7, count: 1316)
        // It goes on until it is disconnected.
        guard caller.reason == 0 else { return false }
        while caller.send(bytes) {}
        return true
      }
      #expect(isSent)
      #expect(
        try await waitUntil {
          try await service.state("cam")["reason"].string
            == "the publisher's data is no MPEG transport stream"
        }, "\(service.log.lines.suffix(2000))")
      // A connection that was live, and whose device sends nothing more.
      let (silent, early) = try await RunningService.onThread {
        (SRTCaller(port, streamID: "cam"), SRTCaller(port, streamID: "cam").reason)
      }
      #expect([silent.reason, early] == [0, SRT_REJX_CONFLICT])
      let isLet = try await waitUntil {
        let sender = try sending(seconds: 8, Self.target(port, "cam"))
        defer { _ = sender }
        return try await waitUntil(5) { try await self.state(service, "cam") == "live" }
      }
      #expect(isLet, "\(service.log.lines.suffix(2000))")
      #expect(!silent.isConnected)
      try await service.shutDown()
    }

    @Test("Sessions of a template: the key, the hook with its protocol, and a passphrase for all")
    func template() async throws {
      let hook = try HookServer { request in
        request.json["name"].string == "banned"
          ? .status("403 Forbidden") : .status("204 No Content")
      }
      let port = try Loopback.freePort()
      let service = try await RunningService.declaring(
        """
        {"name": "live/*", "input": {"url": "srt://127.0.0.1:\(port)?passphrase=\(Self.passphrase)"},
         "key": "key-of-all", "onPublish": {"url": "http://127.0.0.1:\(hook.port)/"}}
        """,
        change: { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(hook.port)"] },
        make: RunningService.liveSession)
      let wrong = try await RunningService.onThread {
        SRTCaller(port, streamID: "live/wrong?key=another-key", passphrase: Self.passphrase).reason
      }
      #expect(wrong == SRT_REJX_FORBIDDEN)
      let banned = try sending(
        seconds: 60, Self.target(port, "live/banned?key=key-of-all", Self.passphrase))
      let cam = try sending(
        seconds: 60, Self.target(port, "#!::m=publish,r=live/cam?key=key-of-all", Self.passphrase))
      #expect(
        try await waitUntil { try await self.state(service, "cam") == "live" },
        "\(service.log.lines.suffix(2000))")
      #expect(
        try await waitUntil {
          service.log.lines.contains("the key is wrong")
            && service.log.lines.contains("the publish hook refused: it answered 403")
        })
      #expect(try await service.names == ["cam"])
      let asked = hook.requests.map(\.json).filter { $0["name"].string == "cam" }
      #expect(asked.first?["protocol"].string == "srt" && asked.first?["app"].string == "live")
      let url = try await service.state("cam")["input"]["url"].string
      #expect(url == "srt://127.0.0.1:\(port)?streamid=live/***")
      #expect(!service.log.lines.contains(Self.passphrase))
      let metrics = try await service.ask("GET", "/metrics").text
      #expect(metrics.contains("\nupright_srt_packets_dropped_total 0\n"))
      _ = (banned, cam)
      try await service.shutDown()
    }

    @Test(
      "GStreamer publishes",
      .enabled(
        if: (try? ExternalTool("gst-inspect-1.0").outcome(["srtsink"]).status) == 0,
        "GStreamer has no srtsink"))
    func gstreamer() async throws {
      let port = try Loopback.freePort()
      let service = try await Self.service()
      _ = try await service.session(
        "cam",
        input: "{\"url\": \"srt://127.0.0.1:\(port)?streamid=cam&passphrase=\(Self.passphrase)\"}")
      let sender = try RunningProgram(
        ExternalTool("gst-launch-1.0"),
        "-q videotestsrc is-live=true ! video/x-raw,width=160,height=90,framerate=15/1".words
          + "! openh264enc gop-size=15 ! h264parse config-interval=-1 ! mpegtsmux alignment=7 ! srtsink"
          .words
          + ["uri=\(Self.address(port, "cam", Self.passphrase))"])
      #expect(
        try await waitUntil { try await self.state(service, "cam") == "live" },
        "\(service.log.lines.suffix(2000))")
      _ = sender
      try await service.shutDown()
    }

    @Test("A thousand handshakes that nobody finishes keep no publisher out")
    func halfOpen() async throws {
      let port = try Loopback.freePort()
      let service = try await Self.service()
      _ = try await service.session(
        "cam", input: "{\"url\": \"srt://127.0.0.1:\(port)?streamid=cam\"}")
      let answers = try await RunningService.onThread { try Self.beginHandshakes(1000, at: port) }
      #expect(answers > 900)
      let sender = try sending(seconds: 60, Self.target(port, "cam"))
      #expect(
        try await waitUntil { try await self.state(service, "cam") == "live" },
        "\(service.log.lines.suffix(1000))")
      _ = sender
      try await service.shutDown()
    }

    /// Sends the first packet of a handshake (draft-sharabayko-srt-01, 4.3.1.1) from as many sockets. Returns how many were
    /// answered.
    private static func beginHandshakes(_ count: Int, at port: UInt16) throws -> Int {
      // A control packet of type 0, then: version 4, no cipher, extension 2, the first number, the packet size, the
      // window, induction, the socket, no cookie, the address.
      let fields: [UInt32] = [
        0x8000_0000, 0, 0, 0, 4, 2, 1, 1500, 8192, 1, 77, 0, 0x7F00_0001, 0, 0, 0,
      ]
      let packet = fields.flatMap { field in
        (0..<4).map { UInt8(truncatingIfNeeded: field >> (24 - 8 * $0)) }
      }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      (address.sin_port, address.sin_addr.s_addr) = (port.bigEndian, UInt32(0x7F00_0001).bigEndian)
      return try (0..<count).count { _ in
        let socket = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        try #require(socket >= 0)
        defer { close(socket) }
        var timeout = timeval(tv_sec: 0, tv_usec: 200_000)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let isSent = withUnsafePointer(to: address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            sendto(socket, packet, packet.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
        var answer = [UInt8](repeating: 0, count: 1500)
        return isSent == packet.count && recv(socket, &answer, answer.count, 0) > 0
      }
    }

    @Test(
      "Addresses that aren't accepted",
      arguments: [
        "srt://127.0.0.1?streamid=cam", "srt://127.0.0.1:9000?streamid=",
        "srt://127.0.0.1:9000?streamid=a%20b", "srt://127.0.0.1:9000?streamid=%23!::r=a,m=request",
        "srt://127.0.0.1:9000?streamid=cam&passphrase=too-short",
        "srt://127.0.0.1:9000?streamid=cam&latency=200000",
        "srt://127.0.0.1:9000?streamid=cam&mode=caller",
        "srt://127.0.0.1:9000/live?streamid=cam", "srt://me@127.0.0.1:9000?streamid=cam",
        "srt://0.0.0.0:9000?streamid=short",
      ])
    func refused(_ url: String) async throws {
      let service = try await RunningService()
      let made = try await service.session("cam", input: "{\"url\": \"\(url)\"}")
      #expect(made.status == 422, "\(made.text)")
      try await service.shutDown()
    }
  }
}
