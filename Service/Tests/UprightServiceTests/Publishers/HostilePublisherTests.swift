import Foundation
import NIOCore
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightRTMP
@testable import UprightService

@Suite(
  "Publishers and outputs that misbehave don't affect other sessions",
  .enabled(if: FFmpegTool.isHere), .server, .serialized, .tags(.timed, .light))
struct HostilePublisherTests {
  private static func service() async throws -> (RunningService, Int, UnaffectedSession) {
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService(
      { _, dependencies in
        dependencies.publisherTimeouts = .init(publish: .seconds(3), silence: .seconds(3))
      }, make: LiveServiceTests.make)
    return (service, port, try await UnaffectedSession(service, port: port))
  }

  private static func open(
    _ service: RunningService, _ name: String, _ port: Int, _ more: String = ""
  ) async throws {
    let made = try await service.ask(
      "POST", "/v1/sessions",
      "{\"name\": \"\(name)\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/key-of-\(name)\"}\(more)}"
    )
    #expect(made.status == 201, "\(made.text)")
  }

  private static func publish(
    _ port: Int, _ name: String, _ line: String
  ) async throws -> ExternalTool.Outcome {
    try await RunningService.onThread {
      try ExternalTool("ffmpeg").outcome(
        "-nostdin -v error \(line) -f flv rtmp://127.0.0.1:\(port)/live/key-of-\(name)".words,
        timeout: 60)
    }
  }

  @Test("Damaged packets, audio only, a hundred connections: reported, and a retry works")
  func publishers() async throws {
    let (service, port, healthy) = try await Self.service()
    func session(_ name: String) async throws -> JSON {
      try await service.ask("GET", "/v1/sessions/\(name)").json
    }
    for name in ["noise", "audio"] { try await Self.open(service, name, port) }
    let clip = service.scratch.path("clip.flv")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=size=160x90:rate=15 -f lavfi -i sine=f=440 -t 3 -c:v libx264 -preset ultrafast -g 15 -c:a aac",
      [clip])
    _ = try await Self.publish(port, "noise", "-re -i \(clip) -c copy -bsf:v noise=amount=50")
    // The publisher has ended, but the session hasn't.
    let noise = try await session("noise")
    #expect(["waiting", "live", "inputLost"].contains(noise["state"].string), "\(noise)")

    // The publisher is disconnected long before its 60 seconds end.
    let outcome = try await Self.publish(
      port, "audio", "-re -f lavfi -i sine=frequency=440 -t 60 -c:a aac")
    #expect(outcome.status != 0)
    let audio = try await session("audio")
    #expect(audio["state"].string == "waiting", "\(audio)")
    #expect(audio["reason"].string?.contains("no video") == true, "\(audio)")

    let crowd = (0..<100).map { _ in try? LocalConnection(port: port) }
    for connection in crowd.compactMap({ $0 }) {
      #expect(try await RunningService.onThread { connection.receive(seconds: 30).isClosed })
    }
    // Rejected publishers may connect again with a valid stream.
    for name in ["noise", "audio"] {
      async let published = Self.publish(port, name, "-re -i \(clip) -c copy")
      #expect(try await waitUntil { try await session(name)["state"].string == "live" }, "\(name)")
      #expect(try await published.status == 0)
    }
    try await healthy.check()
    try await service.shutDown()
  }

  @Test("A stream that its session rejects: the publisher is told")
  func rejected() async throws {
    let (service, port, _) = try await Self.service()
    try await Self.open(service, "bare", port)
    let (client, begin) = try await RTMPClient.publish("key-of-bare", at: port)
    #expect(begin?.isStart == true, "\(String(describing: begin))")
    let status = try await RunningService.onThread {
      // A keyframe of H.264 without a sequence header, again and again.
      for time in 0..<20 {
        let frame = RTMPMessage(
          .video, timestamp: UInt32(time * 40), stream: 1,
          payload: [0x17, 1, 0, 0, 0, 0, 0, 0, 1, 0x65])
        client.send(frame)
      }
      return client.status()
    }
    #expect(status?.code == "NetStream.Publish.Rejected", "\(String(describing: status))")
    #expect(status?.reason.contains("without its sequence header") == true)
    try await service.shutDown()
  }

  /// Costs two seconds.
  @Test(
    "Codecs that no session reads: the publisher, the state and the log say so"
  )
  func codecs() async throws {
    let (service, port, healthy) = try await Self.service()
    try await Self.open(service, "words", port)
    let cases: [(payload: [UInt8], reason: String)] = [
      ([0x90] + Array("vvc1".utf8), "this codec is not accepted over RTMP: send H.264"),
      ([0xA1] + Array("ap4h".utf8), "this codec is not accepted over RTMP: send H.264"),
    ]
    for (payload, reason) in cases {
      let (client, begin) = try await RTMPClient.publish("key-of-words", at: port)
      #expect(begin?.isStart == true, "\(String(describing: begin))")
      let status = try await RunningService.onThread {
        client.send(RTMPMessage(.video, stream: 1, payload: payload))
        return client.status()
      }
      #expect(status?.code == "NetStream.Publish.Rejected")
      #expect(status?.reason.hasPrefix(reason) == true, "\(String(describing: status))")
      var session = JSON.null
      #expect(
        try await waitUntil {
          session = try await service.state("words")
          return session["state"].string == "waiting"
            && session["reason"].string?.contains(reason) == true
        }, "\(session)")
      #expect(service.log.lines.contains("session words: publisher rejected: \(reason)"))
    }
    // The session waits for another publisher.
    async let published = Self.publish(
      port, "words",
      "-re -f lavfi -i testsrc2=size=160x90:rate=15 -t 1 -c:v libx264 -preset ultrafast -g 15")
    #expect(try await waitUntil { try await service.state("words")["state"].string == "live" })
    #expect(try await published.status == 0)
    try await healthy.check()
    try await service.shutDown()
  }

  @Test("An output whose server doesn't read, and one whose disk is full: reported and skipped")
  func outputs() async throws {
    let (service, port, healthy) = try await Self.service()
    // The kernel accepts the connection, but nothing reads from it.
    let deaf = try Loopback.Listener()
    // Several fragments: on a busy machine the first one is larger.
    let disk = SmallDisk(service.scratch.path("data/recordings/outputs"), bytes: 192 << 10)
    defer { disk?.remove() }
    try await Self.open(
      service, "outputs", port,
      """
      , "outputs": [{"type": "hls"}, {"type": "file", "name": "take.mp4"},
        {"type": "rtmp", "url": "rtmp://127.0.0.1:\(deaf.port)/live/deaf-key"}]
      """)
    async let published = Self.publish(
      port, "outputs",
      "-re -f lavfi -i testsrc2=size=320x180:rate=15 -t 25 -c:v libx264 -preset ultrafast -g 15")
    var session = JSON.null
    #expect(
      try await waitUntil {
        session = try await service.ask("GET", "/v1/sessions/outputs").json
        return session["outputs"][2]["problem"].string != nil
          && (disk == nil || session["outputs"][1]["problem"].string != nil)
      }, "\(session)")
    #expect(session["state"].string == "live" && session["outputs"][0]["problem"].string == nil)
    if disk != nil {
      #expect(session["outputs"][1]["problem"].string?.contains("disk is full") == true)
    }
    #expect((session["counters"]["dropped"]["output"].int ?? 0) > 0, "\(session)")
    #expect(!"\(session)".contains("deaf-key"))
    #expect(try await published.status == 0)
    let ended = try await service.ask("DELETE", "/v1/sessions/outputs")
    #expect(ended.json["state"].string == "ended")
    let count = ended.json["counters"]["framesOut"].int ?? 0
    #expect(count >= 300, "\(ended.text)")
    // The playlist has the last six segments.
    let played = try await SignalTests.play(service.scratch.path("data/live/outputs/index.m3u8"))
    #expect(played >= 150, "\(played)")
    if disk != nil {
      let take = service.scratch.path("data/recordings/outputs/take.mp4")
      #expect(try FFmpegTool.frames(take).count >= 15)
    }
    try await healthy.check()
    try await service.shutDown()
  }
}

/// A small file system. The initializer returns `nil` if this process may not mount one.
final class SmallDisk {
  private let path: String

  init?(_ path: String, bytes: Int) {
    self.path = path
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0 else { return nil }
  }

  func remove() { umount2(path, 2) }
}
