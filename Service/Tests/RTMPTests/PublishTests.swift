import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightRTMP

@Suite("RTMP publishers")
struct PublishTests {
  private static let random = [UInt8](repeating: 7, count: 1528)

  /// A client of the connection.
  struct Client {
    var connection: PublishConnection
    var writer = ChunkWriter()
    var reader = ChunkReader()

    init() {
      connection = PublishConnection(
        random: PublishTests.random)
    }

    /// Performs the handshake.
    mutating func begin() throws {
      _ = try connection.receive([3] + [UInt8](repeating: 9, count: 1536))
      let answer = connection.takeOutput()
      #expect(answer.count == 1 + 2 * 1536 && answer[0] == 3)
      #expect(answer.suffix(1536) == [UInt8](repeating: 9, count: 1536))
      _ = try connection.receive(answer[1..<1537])
    }

    @discardableResult
    mutating func send(_ message: RTMPMessage) throws -> [PublishConnection.Event] {
      try connection.receive(writer.bytes(of: message, on: 3))
    }

    @discardableResult
    mutating func command(_ values: AMFValue...) throws -> [PublishConnection.Event] {
      try send(RTMPMessage(.command, stream: 1, payload: AMFValue.bytes(of: values)))
    }

    mutating func told() throws -> [[AMFValue]] {
      reader.append(connection.takeOutput())
      var all: [[AMFValue]] = []
      while let message = try reader.next() {
        if message.kind == .command { all.append(AMFValue.values(in: message.payload) ?? []) }
      }
      return all
    }

    /// Connects and publishes with a key that is accepted.
    mutating func publish() throws {
      try begin()
      try connect()
      try command(.string("publish"), .number(3), .null, .string("KEY"))
      _ = try connection.accept()
    }

    mutating func connect(_ app: String = "live") throws {
      try command(.string("connect"), .number(1), .object([.init("app", .string(app))]))
      try command(.string("createStream"), .number(2), .null)
    }
  }

  @Test("A session: connect, create, publish, tags, unpublish")
  func session() throws {
    var client = Client()
    try client.begin()
    try client.connect()
    let answers = try client.told()
    #expect(answers.map { $0[1].number } == [1, 2])
    #expect(answers[0].last?["code"]?.text == "NetConnection.Connect.Success")
    #expect(answers[1].last?.number == 1)
    let events = try client.command(
      .string("publish"), .number(3), .null, .string("KEY?token=x"), .string("live"))
    #expect(events == [.publish(.init(app: "live", name: "KEY"))])
    // What arrives before the answer waits for it.
    let early = FLVTag(.video, timestamp: 0, payload: [0x17, 0])
    #expect(try client.send(RTMPMessage(.video, payload: [0x17, 0])).isEmpty)
    #expect(try client.connection.accept() == [.tag(early)])
    #expect(try client.connection.accept().isEmpty)
    #expect(try client.told().last?.last?["code"]?.text == "NetStream.Publish.Start")
    let tag = try client.send(RTMPMessage(.video, timestamp: 40, stream: 1, payload: [0x17, 1]))
    #expect(tag == [.tag(FLVTag(.video, timestamp: 40, payload: [0x17, 1]))])
    let script = AMFValue.bytes(of: [.string("onMetaData"), .object([])])
    let data = AMFValue.bytes(of: [.string("@setDataFrame")]) + script
    #expect(
      try client.send(RTMPMessage(.data, payload: data))
        == [.tag(FLVTag(.script, timestamp: 0, payload: script))])
    #expect(try client.command(.string("FCUnpublish"), .number(4), .null) == [.unpublish])
    #expect(try client.command(.string("deleteStream"), .number(5), .null, .number(1)).isEmpty)
  }

  @Test("A rejected publisher is notified, and the connection is closed")
  func refusal() throws {
    var client = Client()
    try client.begin()
    try client.connect()
    try client.command(.string("publish"), .number(3), .null, .string("WRONG"))
    _ = try client.told()
    #expect(try client.send(RTMPMessage(.video, payload: [0x17, 1])).isEmpty)
    client.connection.refuse("The key is not known.", .denied)
    let status = try client.told().last?.last
    #expect(status?["level"]?.text == "error")
    #expect(status?["code"]?.text == "NetStream.Publish.Denied")
    #expect(status?["description"]?.text == "The key is not known.")
    #expect(client.connection.isClosed)
    #expect(try client.send(RTMPMessage(.video, payload: [0x17, 1])).isEmpty)
    #expect(try client.connection.accept().isEmpty)
  }

  @Test(
    "The key is in the query of the name, or of the app",
    arguments: [
      ("live", "cam?key=k%2F1&x=2", "live", "cam", "k%2F1"),
      ("live?key=k2", "cam?x=1", "live", "cam", "k2"),
      ("/live/?a=b&key=", "cam", "live", "cam", ""), ("live", "cam?monkey=1", "live", "cam", ""),
      ("live?key=1", "cam?key=2", "live", "cam", "2"), ("", "?key=1", nil, "", "1"),
    ] as [(String, String, String?, String, String)])
  func key(_ app: String, _ name: String, _ plainApp: String?, _ plain: String, _ key: String)
    throws
  {
    var client = Client()
    try client.begin()
    try client.connect(app)
    let events = try client.command(.string("publish"), .number(3), .null, .string(name))
    #expect(
      events == (plainApp.map { [.publish(.init(app: $0, name: plain, key: key))] } ?? []))
  }

  @Test("Bytes that can't be read are found when the publisher is accepted")
  func lateError() throws {
    var client = Client()
    try client.begin()
    try client.connect()
    try client.command(.string("publish"), .number(3), .null, .string("KEY"))
    // A chunk that continues nothing.
    #expect(try client.connection.receive([0xC7]).isEmpty)
    #expect(throws: RTMPError.self) { try client.connection.accept() }
    #expect(client.connection.isClosed)
  }

  /// The data of a tag, and the words of the answer that refuses it.
  struct Refused: Sendable, CustomTestStringConvertible {
    let kind: RTMPMessage.Kind
    let head: UInt8
    let code: String
    let reason: String
    var testDescription: String { "\(kind) \(head) \(code)" }
  }

  private static let video =
    "this codec is not accepted over RTMP: send H.264, HEVC, AV1, VP8 or VP9"
  private static let audio =
    "this audio codec is not accepted over RTMP: send AAC, Opus, MP3, AC-3, E-AC-3 or FLAC"

  private static let refused: [Refused] = [
    Refused(kind: .video, head: 0x90, code: "vvc1", reason: video),
    Refused(kind: .video, head: 0xA1, code: "ap4h", reason: video),
    Refused(kind: .video, head: 0x93, code: "", reason: video),
    Refused(kind: .audio, head: 0x90, code: "ac-4", reason: audio),
    Refused(kind: .audio, head: 0x91, code: "\u{1}", reason: audio),
  ]

  @Test("A codec that no session reads is rejected with those that are read", arguments: refused)
  func codec(_ refused: Refused) throws {
    var client = Client()
    try client.publish()
    _ = try client.told()
    let payload = [refused.head] + Array(refused.code.utf8)
    let events = try client.send(RTMPMessage(refused.kind, stream: 1, payload: payload))
    #expect(events == [.rejected(reason: refused.reason)])
    let status = try client.told().last?.last
    #expect(status?["code"]?.text == "NetStream.Publish.Rejected")
    #expect(status?["description"]?.text == refused.reason)
    #expect(client.connection.isClosed)
  }

  @Test(
    "The codecs of enhanced RTMP are accepted",
    arguments: [
      (
        RTMPMessage.Kind.video, [0x90, 0x91, 0xA3, 0xA2, 0xD0],
        ["hvc1", "av01", "vp09", "vp08", "avc1"]
      ),
      (.audio, [0x90, 0x91, 0x92], ["Opus", "fLaC", "mp4a", "ac-3", "ec-3", ".mp3"]),
    ] as [(RTMPMessage.Kind, [UInt8], [String])])
  func enhanced(_ kind: RTMPMessage.Kind, _ heads: [UInt8], _ codes: [String]) throws {
    var client = Client()
    try client.publish()
    for head in heads {
      for code in codes {
        let payload = [head] + Array(code.utf8) + [0, 0, 0, 1]
        let events = try client.send(RTMPMessage(kind, timestamp: 40, stream: 1, payload: payload))
        let tag = FLVTag(kind == .video ? .video : .audio, timestamp: 40, payload: payload)
        #expect(events == [.tag(tag)], "\(head) \(code)")
      }
    }
  }

  @Test("Several tracks are noticed once", arguments: [0x96, 0x95] as [UInt8])
  func tracks(_ head: UInt8) throws {
    var client = Client()
    try client.publish()
    let kind = head == 0x95 ? RTMPMessage.Kind.audio : .video
    for times in 0..<3 {
      let payload = [head, 0x01] + Array("hvc1".utf8) + [1]
      let events = try client.send(RTMPMessage(kind, stream: 1, payload: payload))
      #expect(events.count == (times == 0 ? 2 : 1))
      guard times == 0, case .notice(let text)? = events.first else { continue }
      #expect(text.contains("several tracks"))
    }
  }

  @Test("The codecs in an aggregate are checked too, and nothing after a rejected one is taken")
  func aggregateCodecs() throws {
    var client = Client()
    try client.publish()
    let tags = [
      FLVTag(.video, timestamp: 0, payload: [0x17, 0]),
      FLVTag(.video, timestamp: 0, payload: [0x90] + Array("vvc1".utf8)),
      FLVTag(.video, timestamp: 40, payload: [0x27, 1]),
    ]
    let events = try client.send(
      RTMPMessage(.aggregate, stream: 1, payload: tags.flatMap(\.bytes)))
    #expect(events == [.tag(tags[0]), .rejected(reason: Self.video)])
  }

  @Test("A player is rejected") func player() throws {
    var client = Client()
    try client.begin()
    try client.connect()
    try client.command(.string("play"), .number(3), .null, .string("KEY"))
    #expect(try client.told().last?.last?["code"]?.text == "NetStream.Play.Failed")
    #expect(client.connection.isClosed)
  }

  @Test("Pings are answered, and received bytes are acknowledged")
  func control() throws {
    var client = Client()
    try client.begin()
    try client.connect()
    _ = try client.told()
    try client.send(RTMPMessage(.userControl, payload: [0, 6, 1, 2, 3, 4]))
    try client.send(RTMPMessage(.windowAcknowledgementSize, payload: [0, 0, 0x10, 0]))
    var reader = ChunkReader()
    var kinds: [RTMPMessage.Kind] = []
    reader.append(client.connection.takeOutput())
    while let message = try reader.next() {
      if message.kind == .userControl { #expect(message.payload == [0, 7, 1, 2, 3, 4]) }
      kinds.append(message.kind)
    }
    #expect(kinds == [.userControl, .acknowledgement])
  }

  @Test("An aggregate gives its tags, with times relative to the message")
  func aggregate() throws {
    var client = Client()
    try client.publish()
    let tags = [
      FLVTag(.audio, timestamp: 500, payload: [0xAF, 1, 2]),
      FLVTag(.video, timestamp: 510, payload: [0x27, 1, 9]),
    ]
    let events = try client.send(
      RTMPMessage(.aggregate, timestamp: 1000, payload: tags.flatMap(\.bytes) + [9, 0, 0, 50]))
    #expect(
      events == [
        .tag(FLVTag(.audio, timestamp: 1000, payload: [0xAF, 1, 2])),
        .tag(FLVTag(.video, timestamp: 1010, payload: [0x27, 1, 9])),
      ])
  }

  @Test(
    "Input that is not RTMP is rejected immediately",
    arguments: ["GET / HTTP/1.1\r\n", "\u{16}\u{3}\u{1}", "\0"])
  func other(text: String) {
    var connection = PublishConnection(random: Self.random)
    #expect(throws: RTMPError.self) { try connection.receive(Array(text.utf8)) }
    #expect(connection.isClosed)
  }
}

/// In real time, so that the listener reads as fast as ffmpeg sends.
@Suite("A real publisher", .tags(.timed, .light))
struct RealPublisherTests {
  @Test(
    "ffmpeg publishes: the received stream has the same packets", .long, arguments: [1, 60])
  func realPublisher(seconds: Int) throws {
    let scratch = try Scratch()
    let clip = scratch.path("sent.flv")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=320x180:r=30:d=\(seconds) -f lavfi -i sine=d=\(seconds) -c:v libx264 "
        + "-preset ultrafast -c:a aac -f flv", [clip])
    let listener = try Loopback.Listener()
    let taken = scratch.path("taken.flv")
    let server = Thread.of { try listener.record(to: taken) }
    try FFmpegTool.run([
      "-readrate", "10", "-i", clip, "-c", "copy", "-f", "flv",
      "rtmp://127.0.0.1:\(listener.port)/live/phone/KEY",
    ])
    let address = try server.value()
    #expect(
      [address?.app, address?.name].compactMap { $0 }.joined(separator: "/") == "live/phone/KEY")
    for stream in ["v:0", "a:0"] {
      let sent = try FFmpegTool.packets(clip, stream, hashes: true)
      let got = try FFmpegTool.packets(taken, stream, hashes: true)
      // If the sender disconnects without reading the last replies, data in transit is lost.
      #expect(got.count <= sent.count && got.count >= sent.count * 9 / 10)
      let others = zip(got, sent).filter { $0.hash != $1.hash || $0.pts != $1.pts }
      #expect(others.isEmpty, "\(others.count) packets of \(stream) differ")
    }
  }
}

extension Loopback.Listener {
  /// Records the stream of the next publishing connection as FLV. Returns the requested address.
  fileprivate func record(to path: String) throws -> PublishConnection.Address? {
    let peer = try #require(accept())
    defer { close(peer) }
    var connection = PublishConnection(random: [UInt8](repeating: 3, count: 1528))
    var file = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]
    var address: PublishConnection.Address?
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(peer, &buffer, buffer.count)
      if count <= 0 { break }
      var events = try connection.receive(buffer[..<count])
      if case .publish(let asked)? = events.last {
        address = asked
        events += try connection.accept()
      }
      for case .tag(let tag) in events { file += tag.bytes }
      let output = connection.takeOutput()
      if !output.isEmpty { _ = write(peer, output, output.count) }
    }
    try Data(file).write(to: URL(fileURLWithPath: path))
    return address
  }
}

/// The result of work on another thread.
private final class Pending<Value>: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  private var result: Result<Value, any Error>?

  func finish(_ result: Result<Value, any Error>) {
    self.result = result
    done.signal()
  }

  func value() throws -> Value {
    try #require(done.wait(timeout: .now() + 60) == .success)
    return try #require(result).get()
  }
}

extension Thread {
  fileprivate static func of<Value>(
    _ body: @escaping @Sendable () throws -> Value
  ) -> Pending<Value> {
    let pending = Pending<Value>()
    detachNewThread { pending.finish(Result { try body() }) }
    return pending
  }
}
