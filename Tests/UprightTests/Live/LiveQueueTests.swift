import Foundation
import UprightOrientation
import Synchronization
import Testing
import UprightTestSupport

@testable import UprightMedia
@testable import UprightLive
@testable import UprightMediaIO

/// Output queues are limited. After a loss, the output continues at an IDR.
@Suite(.tags(.waits)) struct LiveQueueTests {
  private static let video = StreamInfo.made(.video)

  private static func format(_ index: Int) throws -> EncodedFormat {
    EncodedFormat(
      index: index, size: PixelSize(16, 16), parameters: try CodecParameters(naming: "h264"))
  }

  /// Adds frames at 10 per second, with an IDR every `gop` frames and audio between them.
  private static func put(
    _ range: Range<Int>, into queue: OutputQueue, gop: Int = 10, bytes: Int = 100,
    formats: [Int: EncodedFormat] = [:]
  ) throws {
    for index in range {
      let time = Int64(index) * 9000
      let audio = try Packet(
        [UInt8](repeating: 1, count: 10), stream: video, pts: time - 1, isKey: true)
      queue.put(audio, track: 1, format: nil)
      let packet = try Packet(
        [UInt8](repeating: 0, count: bytes), stream: video, pts: time,
        isKey: index % gop == 0 || formats[index] != nil)
      queue.put(packet, track: 0, format: formats[index])
    }
  }

  /// Returns the indices of the frames that are left. `!` marks an IDR, `fN` a format, `^` that frames before are missing.
  private static func drain(_ queue: OutputQueue) -> [String] {
    queue.end()
    var words: [String] = []
    while let item = queue.take() {
      guard item.track == 0 else { continue }
      let format = item.format.map { "f\($0.index)" } ?? ""
      words.append(
        "\(Int((item.time.seconds * 10).rounded()))\(item.isKeyframe ? "!" : "")\(format)"
          + (item.followsHole ? "^" : ""))
    }
    return words
  }

  @Test("Nothing is dropped while there is room")
  func room() throws {
    let queue = OutputQueue(seconds: 4, bytes: 1 << 20)
    try Self.put(0..<40, into: queue)
    #expect(queue.droppedFrames == 0 && queue.depth == 80)
    #expect(Self.drain(queue).count == 40)
  }

  @Test("Too long: the rest begins with an IDR, with at most half of the limit after it")
  func seconds() throws {
    let queue = OutputQueue(seconds: 4, bytes: 1 << 20)
    try Self.put(0..<42, into: queue)
    // Full at frame 40. The first IDR with 2 s or less after it is frame 20.
    let words = Self.drain(queue)
    #expect(words.first == "20!^" && words.last == "41" && words.count == 22)
    #expect(queue.droppedFrames == 20)
  }

  @Test("Exactly the limit is not too long, one tick more is")
  func exactLimit() throws {
    for start in 0..<Int64(20) {
      for tenths in 1..<Int64(20) {
        let queue = OutputQueue(seconds: Double(tenths) / 10, bytes: 1 << 20)
        for time in [start * 9000, (start + tenths) * 9000] {
          let packet = try Packet(
            [0], stream: Self.video, pts: time, isKey: time == start * 9000)
          queue.put(packet, track: 0, format: nil)
        }
        #expect(queue.depth == 2 && queue.droppedFrames == 0, "\(start) \(tenths)")
        let packet = try Packet(
          [0], stream: Self.video, pts: (start + tenths) * 9000 + 1, isKey: false)
        queue.put(packet, track: 0, format: nil)
        #expect(queue.depth == 0 && queue.droppedFrames == 3, "\(start) \(tenths)")
      }
    }
  }

  @Test("Too many bytes: without a suitable IDR, everything up to the next one is dropped")
  func bytes() throws {
    let queue = OutputQueue(seconds: 100, bytes: 1500)
    try Self.put(0..<25, into: queue, gop: 20)
    let words = Self.drain(queue)
    #expect(words == ["20!^", "21", "22", "23", "24"])
    #expect(queue.droppedFrames == 20)
  }

  @Test("A format that begins in the dropped part begins at the next IDR")
  func formats() throws {
    let queue = OutputQueue(seconds: 4, bytes: 1 << 20)
    let first = try Self.format(0)
    let second = try Self.format(1)
    let third = try Self.format(2)
    try Self.put(0..<60, into: queue, formats: [0: first, 5: second, 8: third])
    let words = Self.drain(queue)
    #expect(words.first?.hasSuffix("!f2^") == true, "\(words)")
    #expect(words.dropFirst().allSatisfy { !$0.contains("f") })

    let skipped = OutputQueue(seconds: 100, bytes: 1000)
    try Self.put(0..<36, into: skipped, gop: 30, formats: [0: first, 15: second])
    #expect(Self.drain(skipped).first == "30!f1^")
  }

  @Test("A blocked sink does not affect another one")
  func writers() throws {
    let stuck = TestSink(isStuck: true)
    let healthy = TestSink()
    let writers = [stuck, healthy].map { sink in
      OutputWriter(
        OutputWriter.SinkFactory(
          address: nil,
          make: { (interrupt, _) throws(UprightError) in
            sink.interrupt = interrupt
            return sink
          }, describe: { TestSink.description($0) }), seconds: 1, bytes: 1 << 20)
    }
    writers.forEach { $0.start() }
    let formats = [0: try Self.format(0), 13: try Self.format(1)]
    for index in 0..<60 {
      for writer in writers {
        try Self.put(index..<index + 1, into: writer.queue, formats: formats)
      }
      // The healthy sink gets as much time as a live stream would give it.
      try #require(until { writers[1].queue.depth == 0 })
    }
    writers.forEach { $0.queue.end() }
    #expect(writers[1].join(by: .now + .seconds(30)))
    #expect(healthy.seen.count == 60 && healthy.isFinished && writers[1].droppedFrames == 0)
    #expect(writers[1].currentState.bytes == 60 * 110 - 10)
    #expect(writers[0].queue.droppedFrames > 30)
    // The blocked sink can't be closed. It is abandoned.
    #expect(!writers[0].join(by: .now + .milliseconds(100)))
    writers[0].abandon()
    #expect(writers[0].join(by: .now + .seconds(30)))
    #expect(!stuck.isFinished && writers[0].currentState.error?.code == .cancelled)
  }

  @Test("A network output that fails is reopened at an IDR, with the current format")
  func again() throws {
    let sink = TestSink(failsAt: 4)
    let writer = OutputWriter(
      OutputWriter.SinkFactory(
        address: "rtmp://host/app/key", make: { (_, _) throws(UprightError) in sink },
        describe: { TestSink.description($0) }), seconds: 100, bytes: 1 << 20)
    writer.start()
    let formats = [0: try Self.format(0), 7: try Self.format(1)]
    var index = 0
    // Frames are added until the sink is reopened, however long the pause is.
    while sink.begun.count < 2 && index < 5000 {
      try Self.put(index..<index + 1, into: writer.queue, gop: 5, formats: formats)
      index += 1
      usleep(2000)
    }
    try Self.put(index..<index + 3, into: writer.queue, gop: 5, formats: formats)
    writer.queue.end()
    #expect(writer.join(by: .now + .seconds(30)))
    #expect(sink.begun == [0, 1] && sink.isFinished)
    #expect(sink.announced == [])
    #expect(writer.droppedFrames > 0)
    #expect(sink.seen.count + writer.droppedFrames == index + 3)
  }

  @Test(
    "A playlist or a recording is opened again after a shortage, and after no other failure",
    arguments: [
      (ENOSPC, true, true), (EDQUOT, true, true), (EMFILE, true, true), (EACCES, true, false),
      (0, true, false), (ENOSPC, false, false),
    ])
  func shortage(number: CInt, outlasts: Bool, reopens: Bool) throws {
    let sink = TestSink(
      failsAt: 4, failure: UprightError(.inputOutput, "no").failing(with: number))
    let writer = OutputWriter(
      OutputWriter.SinkFactory(
        address: nil, outlastsShortage: outlasts, make: { (_, _) throws(UprightError) in sink },
        describe: { TestSink.description($0) }), seconds: 100, bytes: 1 << 20)
    writer.start()
    var index = 0
    while sink.begun.count < 2, !writer.currentState.hasEnded, index < 5000 {
      try Self.put(index..<index + 1, into: writer.queue, gop: 5, formats: [0: try Self.format(0)])
      index += 1
      usleep(2000)
    }
    #expect(writer.currentState.hasEnded == !reopens && sink.begun.count == (reopens ? 2 : 1))
    writer.queue.end()
    #expect(writer.join(by: .now + .seconds(30)))
    #expect(sink.isFinished == reopens && writer.currentState.failures == 1)
    #expect((writer.currentState.error == nil) == reopens)
  }

  @Test("An output that is added later begins at a keyframe; the frames before it aren't drops")
  func late() throws {
    let sink = TestSink()
    let writer = OutputWriter(
      OutputWriter.SinkFactory(
        address: nil, make: { _, _ throws(UprightError) in sink },
        describe: { TestSink.description($0) }), seconds: 100, bytes: 1 << 20)
    writer.start(with: try Self.format(2))
    try Self.put(7..<23, into: writer.queue)
    writer.queue.end()
    #expect(writer.join(by: .now + .seconds(30)))
    #expect(sink.begun == [2] && sink.seen.count == 13 && sink.seen.first == 1)
    #expect(writer.droppedFrames == 0)
  }
}

/// Waits for a condition that another thread makes true. Returns whether it did within `seconds` seconds.
func until(_ seconds: Double = 120, _ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = Date(timeIntervalSinceNow: seconds)
  while try !condition() {
    if Date() > deadline { return false }
    usleep(2000)
  }
  return true
}

extension StreamInfo {
  /// Makes a stream for packets that a test makes.
  static func made(_ kind: StreamKind) -> StreamInfo {
    do {
      return StreamInfo(
        index: 0, kind: kind, parameters: try CodecParameters(naming: "h264"),
        timeBase: Rational(1, 90_000))
    } catch { fatalError("\(error)") }
  }
}

/// A sink that records its packets, blocks, or fails once.
private final class TestSink: PacketSink, @unchecked Sendable {
  // Written by one output's thread. All but `begun` are read only after that thread has ended.
  private(set) var seen: [Double] = []
  private let begins = Mutex<[Int]>([])
  var begun: [Int] { begins.withLock { $0 } }
  private(set) var announced: [Int] = []
  private(set) var isFinished = false
  var interrupt: Interrupt?
  private let isStuck: Bool
  private var failsAt: Int?
  private let failure: UprightError

  init(
    isStuck: Bool = false, failsAt: Int? = nil,
    failure: UprightError = UprightError(.inputOutput, "the reader closed the pipe")
  ) {
    self.isStuck = isStuck
    self.failsAt = failsAt
    self.failure = failure
  }

  static func description(_ format: EncodedFormat) -> OutputDescription {
    OutputDescription(format: format, videoTimeBase: Rational(1, 90_000))
  }

  func begin(_ description: OutputDescription) throws(UprightError) {
    begins.withLock { $0.append(description.format.index) }
  }

  func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    while isStuck {
      if interrupt?.isRaised == true { throw UprightError(.cancelled, "stopped") }
      usleep(1000)
    }
    guard track == 0 else { return }
    if let failsAt, seen.count == failsAt {
      self.failsAt = nil
      throw failure
    }
    if let format { announced.append(format.index) }
    seen.append(packet.time?.seconds ?? -1)
  }

  func finish(isPartial: Bool) throws(UprightError) { isFinished = true }

  func abandon() {}
}
