import Foundation
import Logging
import NIOCore
import Testing
import UprightServiceTestSupport

@testable import UprightLive
@testable import UprightMediaIO
@testable import UprightRTMP
@testable import UprightService

@Suite(
  "The RTMP port: many publishers, one per session", .enabled(if: FFmpegTool.isHere), .server)
struct RTMPAcceptorTests {
  private static func acceptor(
    maxPerPeer: Int = 64, timeouts: PublisherHandler.Timeouts = .init()
  ) -> PublishAcceptor {
    PublishAcceptor(
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, maxPerPeer: maxPerPeer,
      timeouts: timeouts)
  }

  /// Publishes test video and a tone for `seconds`. Returns ffmpeg's exit code.
  private static func publish(_ port: Int, _ path: String, seconds: Int = 2) async throws -> Int {
    try await RunningService.onThread {
      try ExternalTool("ffmpeg").outcome(
        [
          "-nostdin", "-v", "error", "-f", "lavfi", "-i",
          "testsrc2=size=320x180:rate=25:duration=\(seconds)",
          "-f", "lavfi", "-i", "sine=frequency=440:duration=\(seconds)", "-c:v", "libx264",
          "-preset",
          "ultrafast", "-c:a", "aac", "-f", "flv", "rtmp://127.0.0.1:\(port)/\(path)",
        ], timeout: 60
      ).status
    }
  }

  /// Returns all bytes of a feed, read as a session reads it.
  private static func read(_ feed: PublishedFeed) async throws -> [UInt8] {
    try await RunningService.onThread {
      guard let pipe = feed.next(Interrupt())?.pipe else { return [] }
      var all: [UInt8] = []
      while let bytes = pipe.take() { all += bytes }
      return all
    }
  }

  private static func frames(_ flv: [UInt8]) throws -> (video: Int, audio: Int) {
    let scratch = try Scratch()
    try Data(flv).write(to: URL(fileURLWithPath: scratch.path("a.flv")))
    return (
      try FFmpegTool.packets(scratch.path("a.flv"), "v:0").count,
      try FFmpegTool.packets(scratch.path("a.flv"), "a:0").count
    )
  }

  /// Takes about two seconds.
  @Test("A service without root's rights takes publishers")
  func unprivileged() async throws {
    let scratch = try Scratch()
    let port = try Loopback.freeTCPPort()
    let service = try await ServiceProcess(
      scratch,
      sessions: [
        """
        {"name": "one", "input": {"url": "rtmp://127.0.0.1:\(port)/live/key-of-one"},
         "outputs": [{"type": "hls"}]}
        """
      ], through: getuid() == 0 ? ["setpriv", "--bounding-set=-all"] : [])
    #expect(try await Self.publish(port, "live/key-of-one") == 0)
    #expect(
      try await waitUntil {
        try await service.session("one")["counters"]["framesOut"].int ?? 0 >= 50
      })
  }

  @Test("Two publishers on one port reach their sessions; an unknown key is rejected")
  func routes() async throws {
    let acceptor = Self.acceptor()
    let (first, second) = (PublishedFeed(), PublishedFeed())
    let one = try await acceptor.claim(
      host: "127.0.0.1", port: 0, path: "live/one-key",
      for: .session(.init(session: "one", feed: first)))
    let two = try await acceptor.claim(
      host: "127.0.0.1", port: 0, path: "live/two-key",
      for: .session(.init(session: "two", feed: second)))
    let port = try #require(acceptor.boundPort(host: "127.0.0.1", port: 0))
    async let firstBytes = Self.read(first)
    async let secondBytes = Self.read(second)
    async let firstStatus = Self.publish(port, "live/one-key")
    async let secondStatus = Self.publish(port, "live/two-key", seconds: 1)
    async let unknown = Self.publish(port, "live/no-key")
    #expect(try await firstStatus == 0)
    #expect(try await secondStatus == 0)
    #expect(try await unknown != 0)
    let counts = (try Self.frames(await firstBytes), try Self.frames(await secondBytes))
    #expect(counts.0.video == 50 && counts.1.video == 25)
    #expect(counts.0.audio > 80 && counts.1.audio > 40)
    await acceptor.release(one)
    #expect(try await Self.publish(port, "live/one-key", seconds: 1) != 0)
    await acceptor.release(two)
    #expect(acceptor.boundPort(host: "127.0.0.1", port: 0) == nil)
  }

  @Test("A stream that isn't read blocks its publisher, and continues when it is read")
  func backpressure() async throws {
    let acceptor = Self.acceptor()
    let feed = PublishedFeed(capacity: 20_000)
    let claim = try await acceptor.claim(
      host: "127.0.0.1", port: 0, path: "live/key", for: .session(.init(session: "one", feed: feed))
    )
    let port = try #require(acceptor.boundPort(host: "127.0.0.1", port: 0))
    async let status = Self.publish(port, "live/key", seconds: 4)
    try await Task.sleep(for: .seconds(2))
    // The bytes of one read may exceed the limit.
    #expect(feed.written < 20_000 + 3 * 65536)
    let bytes = try await Self.read(feed)
    #expect(try await status == 0)
    let counts = try Self.frames(bytes)
    #expect(counts.video == 100, "\(counts)")
    await acceptor.release(claim)
  }

  @Test("Silent connections are closed, connections per address are limited, garbage is rejected")
  func hostile() async throws {
    var timeouts = PublisherHandler.Timeouts()
    timeouts.publish = .milliseconds(1500)
    let acceptor = Self.acceptor(maxPerPeer: 3, timeouts: timeouts)
    let claim = try await acceptor.claim(
      host: "127.0.0.1", port: 0, path: "live/key",
      for: .session(.init(session: "one", feed: PublishedFeed())))
    let port = try #require(acceptor.boundPort(host: "127.0.0.1", port: 0))
    let silent = try (0..<3).map { _ in try LocalConnection(port: port) }
    try await Task.sleep(for: .milliseconds(100))
    let fourth = try LocalConnection(port: port)
    #expect(try await RunningService.onThread { fourth.receive(seconds: 1.2).isClosed })
    for connection in silent {
      #expect(try await RunningService.onThread { connection.receive(seconds: 20).isClosed })
    }
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<24 {
      let garbage = try LocalConnection(port: port)
      let isRTMP = Bool.random(using: &generator)
      garbage.send(
        [isRTMP ? 3 : UInt8.random(in: 0...255, using: &generator)]
          + (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) })
      #expect(try await RunningService.onThread { garbage.receive(seconds: 20).isClosed })
    }
    await acceptor.release(claim)
  }

  /// Costs 0.6 s.
  @Test("A publisher that ends its stream and begins another one on the same connection is kept")
  func again() async throws {
    var timeouts = PublisherHandler.Timeouts()
    timeouts.rest = .milliseconds(300)
    let acceptor = Self.acceptor(timeouts: timeouts)
    let feed = PublishedFeed()
    let claim = try await acceptor.claim(
      host: "127.0.0.1", port: 0, path: "live/key",
      for: .session(.init(session: "one", feed: feed)))
    let port = try #require(acceptor.boundPort(host: "127.0.0.1", port: 0))
    let connection = try LocalConnection(port: port)
    var writer = ChunkWriter()
    func command(_ values: AMFValue...) {
      connection.send(
        writer.bytes(
          of: RTMPMessage(.command, stream: 1, payload: AMFValue.bytes(of: values)), on: 3))
    }
    connection.send([3] + [UInt8](repeating: 9, count: 1536))
    let answer = try await RunningService.onThread {
      connection.receive { $0.count >= 1 + 2 * 1536 }.bytes
    }
    connection.send(Array(answer[1..<1537]))
    command(.string("connect"), .number(1), .object([.init("app", .string("live"))]))
    command(.string("createStream"), .number(2), .null)
    for transaction in [3.0, 5] {
      command(.string("publish"), .number(transaction), .null, .string("key"), .string("live"))
      #expect(try await waitUntil { feed.isPublishing })
      if transaction == 5 { break }
      command(.string("FCUnpublish"), .number(4), .null, .string("key"))
      #expect(try await waitUntil { !feed.isPublishing })
    }
    // Longer than the rest of the first stream would have been kept.
    try await Task.sleep(for: .milliseconds(600))
    #expect(feed.isPublishing)
    await acceptor.release(claim)
  }

  @Test("A port in use and a stream path in use are conflicts")
  func conflicts() async throws {
    let acceptor = Self.acceptor()
    let route = PublishRoutes.Destination.session(.init(session: "one", feed: PublishedFeed()))
    let claim = try await acceptor.claim(host: "127.0.0.1", port: 0, path: "live/a", for: route)
    let port = try #require(acceptor.boundPort(host: "127.0.0.1", port: 0))
    await #expect(throws: Problem.self) {
      try await acceptor.claim(host: "127.0.0.1", port: 0, path: "live/a", for: route)
    }
    await #expect(throws: Problem.self) {
      try await acceptor.claim(host: "127.0.0.1", port: port, path: "live/b", for: route)
    }
    await acceptor.release(claim)
  }
}
