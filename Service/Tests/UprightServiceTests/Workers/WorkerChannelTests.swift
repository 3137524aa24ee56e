import Foundation
import Testing
import Upright
import UprightOrientation
import UprightPolicy

@testable import UprightService

@Suite("Messages between the service and a worker")
struct WorkerChannelTests {
  private static func pair() throws -> (WorkerChannel, WorkerChannel) {
    let (own, other) = try WorkerChannel.pair()
    return (own, WorkerChannel(other, passesDescriptors: true))
  }

  @Test("A value, bytes and a descriptor arrive together")
  func messages() throws {
    let (one, other) = try Self.pair()
    let file = try #require(FileHandle(forReadingAtPath: "/dev/zero"))
    #expect(
      one.send(WorkerOrder.keyframePort(7), bytes: [1, 2, 3], descriptor: file.fileDescriptor))
    #expect(one.send(bytes: [9]))
    let first = try #require(other.receive())
    guard case .keyframePort(7) = try first.value(WorkerOrder.self) else {
      Issue.record("another order")
      return
    }
    #expect(first.bytes == [1, 2, 3] && first.descriptor >= 0)
    var byte: UInt8 = 1
    #expect(read(first.descriptor, &byte, 1) == 1 && byte == 0)
    close(first.descriptor)
    let second = try #require(other.receive())
    #expect(second.head.isEmpty && second.bytes == [9] && second.descriptor == -1)
  }

  @Test("Both directions carry large messages at the same time")
  func large() async throws {
    let (one, other) = try Self.pair()
    let bytes = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    async let sent = RunningService.onThread { one.send(bytes: bytes) }
    async let answered = RunningService.onThread { other.send(bytes: bytes) }
    async let heard = RunningService.onThread { other.receive()?.bytes == bytes }
    #expect(one.receive()?.bytes == bytes)
    #expect(try await (sent, answered, heard) == (true, true, true))
  }

  @Test(
    "What is no message ends the connection",
    arguments: [[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0, 0, 0, 1], [1, 2]])
  func garbage(_ bytes: [UInt8]) throws {
    var ends: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let channel = WorkerChannel(ends[0])
    #expect(write(ends[1], bytes, bytes.count) == bytes.count)
    close(ends[1])
    #expect(channel.receive() == nil)
  }

  @Test(
    "What is no report is refused",
    arguments: ["", "null", "[]", "{\"update\":{}}", "{\"taken\":{\"_0\":1e400}}", "{\"run\":{}}"])
  func wrongReports(_ text: String) {
    let message = WorkerChannel.Message(head: Array(text.utf8), bytes: [], descriptor: -1)
    #expect(throws: (any Error).self) { try message.value(WorkerReport.self) }
  }

  @Test("Counts that would overflow are refused")
  func largeCounts() throws {
    var snapshot = try LiveSession(Self.configuration).snapshot
    #expect(WorkerReport.snapshot(snapshot, silence: nil).isPlausible)
    snapshot.counters.bytesOut = .max
    #expect(!WorkerReport.snapshot(snapshot, silence: nil).isPlausible)
    snapshot.counters.bytesOut = 0
    snapshot.counters.dropped["late"] = -1
    #expect(!WorkerReport.snapshot(snapshot, silence: nil).isPlausible)
  }

  private static var configuration: LiveConfiguration {
    var configuration = LiveConfiguration(
      input: .pull(url: "rtsp://127.0.0.1/a"),
      outputs: [.hls(folder: "/x"), .recording(path: "/y/a.mp4", limits: .init(seconds: 9))])
    configuration.outputIDs = ["hls", "file"]
    return configuration
  }

  @Test("A configuration is the same in the worker")
  func plan() throws {
    var given = Self.configuration
    given.options = try TranscodeOptions(
      json: ["size": "720p", "speed": "veryfast", "overlay": ["logo.png@top"], "fit": "blur"])
    given.policy = try PolicyDocument(json: "{\"device\": {\"idiom\": \"pad\"}}".utf8)
    given.limits.lag = 3
    given.segmentSeconds = 1
    given.inputTimeout = 5
    let head = try #require(WorkerChannel.json(WorkerOrder.begin(WorkerPlan(given))))
    let message = WorkerChannel.Message(head: head, bytes: [], descriptor: -1)
    guard case .begin(let plan) = try message.value(WorkerOrder.self) else {
      Issue.record("another order")
      return
    }
    let read = try plan.configuration(given.input)
    #expect(read.outputs == given.outputs && read.outputIDs == given.outputIDs)
    #expect(try read.options.named() == given.options.named())
    #expect(read.policy == given.policy && read.limits == given.limits)
    #expect(read.segmentSeconds == 1 && read.inputTimeout == 5 && read.startTime == nil)
  }

  @Test("The next worker gets the events with what is known of them, and those that are ahead")
  func events() throws {
    var memory = WorkerMemory(Self.configuration, ids: ["hls", "file"])
    var last = try LiveSession(Self.configuration).snapshot
    memory.add([.at(50, .device(.portrait)), .now(.device(.landscapeLeft))], at: 10)
    memory.add([.now(.device(.portraitUpsideDown)), .at(3, .device(.landscapeRight))], at: 20)
    (last.seconds, last.counters.framesIn, last.counters.framesOut) = (40, 1, 1)
    let plan = try memory.plan(after: last, at: 15)
    #expect(
      plan.events == [
        .now(.device(.landscapeLeft)), .at(20, .device(.portraitUpsideDown)),
        .at(20, .device(.landscapeRight)), .at(50, .device(.portrait)),
      ])
    #expect(plan.decided == 3 && plan.startTime == 15)
  }
}
