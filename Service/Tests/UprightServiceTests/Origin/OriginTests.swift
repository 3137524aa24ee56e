import Foundation
import NIOCore
import UprightOrientation
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightMedia
@testable import UprightMediaIO
@testable import UprightService

/// Live HLS in an HTTP origin, with writers that follow each other. No encoder: costs about three seconds.
@Suite("HLS in an HTTP origin")
struct OriginTests {
  /// Segments whose bytes are the numbers of the frames.
  private final class Frames: HLSSegments {
    let fileExtension = "m4s"
    private var frames: [UInt8] = []

    func begin(_ description: OutputDescription, segment index: Int) -> [UInt8]? { [0] }
    func write(_ packet: consuming Packet, track: Int) {
      frames.append(UInt8(truncatingIfNeeded: (packet.pts ?? 0) / 90_000))
    }
    func cut() -> [UInt8] {
      defer { frames = [] }
      return frames
    }
  }

  /// One owner of the session "cam": a client, a store and a sink.
  private final class Writer {
    let client: OriginClient
    let store: OriginStore
    private let mark: WriterMark
    private var sink: StoreSink
    private var time: Int64 = 0

    init(
      _ url: String, epoch: Int, id: String? = nil, timeout: TimeAmount = .seconds(5),
      attempts: Duration = .seconds(20), comesBack: Bool = true
    ) throws {
      client = OriginClient(base: url, token: "sesame", timeout: timeout)
      client.start()
      mark = WriterMark(epoch: epoch, id: id ?? "w\(UInt64.random(in: 0...UInt64.max))")
      var limits = OriginStore.Limits()
      limits.attempts = attempts
      limits.delay = (0.005, 0.02)
      store = OriginStore(client, session: "cam", mark: mark, limits: limits)
      sink = Self.sink(store, mark, comesBack)
      sink.begin(try Self.description())
    }

    deinit {
      let client = client
      Task { await client.stop() }
    }

    private static func sink(_ store: OriginStore, _ mark: WriterMark, _ comesBack: Bool)
      -> StoreSink
    {
      StoreSink(
        HLSMedia(Frames(), segmentDuration: MediaTime(2, .one)), in: store,
        playlistName: "index.m3u8", epoch: mark.epoch, comesBack: { comesBack })
    }

    private static func description() throws -> OutputDescription {
      OutputDescription(
        format: EncodedFormat(
          index: 0, size: PixelSize(16, 16), parameters: try CodecParameters(naming: "h264")),
        videoTimeBase: Rational(1, 90_000))
    }

    /// Begins another sink with the same store, as an output does that is opened again.
    func reopen() throws {
      sink = Self.sink(store, mark, true)
      sink.begin(try Self.description())
    }

    /// Writes keyframes, one a second, for `count` segments of two seconds.
    func write(_ count: Int) throws {
      for _ in 0..<count * 2 {
        var packet = try UprightMediaIO.Packet()
        packet.pts = time * 90_000
        packet.dts = time * 90_000
        packet.timeBase = Rational(1, 90_000)
        packet.duration = 90_000
        packet.isKey = true
        time += 1
        try sink.write(packet, track: 0, format: nil)
      }
    }

    func finish() throws { try sink.finish(isPartial: false) }

    /// Writes until it fails. Returns the code of the error.
    func failure(_ count: Int = 3) -> UprightError.Code? {
      do { try write(count) } catch let error as UprightError { return error.code } catch {}
      return nil
    }
  }

  /// Runs blocking calls outside the cooperative pool.
  private static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value { try await RunningService.onThread(body) }

  /// Checks all versions of the playlist: each keeps the rules with regard to the one before it, epochs don't fall,
  /// and every segment has one media sequence number for ever.
  private static func check(_ origin: FakeOrigin) throws -> (numbers: [String: Int], last: Playlist)
  {
    #expect(origin.violations == [])
    var checker = PlaylistChecker()
    var (epoch, numbers) = (0, [String: Int]())
    var found: Playlist?
    for text in origin.texts() {
      let last = try Playlist(text: text, checker: &checker)
      found = last
      let mark = try #require(WriterMark(in: text))
      #expect(mark.epoch >= epoch)
      epoch = mark.epoch
      for (index, segment) in last.segments.enumerated() {
        let number = last.mediaSequence + index
        #expect(numbers[segment.file] ?? number == number, "\(segment.file)")
        numbers[segment.file] = number
      }
    }
    #expect(Set(numbers.values).count == numbers.count)
    return (numbers, try #require(found))
  }

  @Test(
    "A playlist lists what is there, although the origin fails half of the calls, before or after it has acted"
  )
  func failing() async throws {
    let generator = Mutex(SeededGenerator())
    let seed = generator.withLock { $0.seed }
    let origin = try FakeOrigin { _ in
      generator.withLock { generator in
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: .status(503)
        case 1: .status(429)
        case 2: .lostRequest
        case 3, 4: .lostAnswer
        default: .none
        }
      }
    }
    try await Self.onThread {
      let one = try Writer(origin.url, epoch: 1)
      try one.write(8)
      let two = try Writer(origin.url, epoch: 2)
      try two.write(8)
      try two.finish()
    }
    let (numbers, last) = try Self.check(origin)
    #expect(numbers.count == 15 || numbers.count == 16, "seed \(seed)")
    #expect(last.segments.count == 6 && !last.isEnded)
    #expect(origin.requests.allSatisfy { $0.fields["authorization"] == "Bearer sesame" })
  }

  @Test(
    "The next owner continues the playlist from its first segment on, and the one before can't write again"
  )
  func next() async throws {
    let origin = try FakeOrigin()
    try await Self.onThread {
      let one = try Writer(origin.url, epoch: 1)
      try one.write(4)
      let two = try Writer(origin.url, epoch: 2)
      // The first frames of the next owner are no segment yet.
      try two.write(1)
      try one.write(1)
      let before = try Playlist(text: try #require(origin.texts().last))
      try two.write(2)
      #expect(one.failure() == .superseded)
      #expect(one.failure() == .inputOutput)
      try one.reopen()
      #expect(one.failure() == .superseded)
      // It ends without an error, and without the end of the playlist.
      let three = try Writer(origin.url, epoch: 1, comesBack: false)
      try three.finish()
      let after = try Playlist(text: try #require(origin.texts().last))
      #expect(
        after.mediaSequence + after.segments.count > before.mediaSequence + before.segments.count)
      #expect(after.discontinuities == 1 && !after.isEnded)
      let carried = before.segments.suffix(2).map(\.file)
      #expect(Array(after.segments.map(\.file).dropLast(2).suffix(2)) == carried)
      try two.write(12)
    }
    let (numbers, last) = try Self.check(origin)
    #expect(last.discontinuities == 0 && last.discontinuitySequence == 1)
    // The segments of the first owner are gone, and its last attempts are removed.
    let epochs = Set(
      origin.names().filter { $0.hasSuffix(".m4s") }.compactMap {
        $0.split(separator: "-").dropFirst().first
      })
    #expect(epochs == ["2"], "\(origin.names())")
    #expect(numbers.count > 12)
  }

  @Test("Of two owners with one epoch the second is refused, and so is one with a lower epoch")
  func sameEpoch() async throws {
    let origin = try FakeOrigin()
    try await Self.onThread {
      let one = try Writer(origin.url, epoch: 5)
      try one.write(3)
      #expect(try Writer(origin.url, epoch: 5).failure() == .superseded)
      #expect(try Writer(origin.url, epoch: 4).failure() == .superseded)
      try one.write(3)
    }
    let (_, last) = try Self.check(origin)
    #expect(last.discontinuities == 0)
  }

  @Test("Owners that write at the same time never mix, whatever their epochs")
  func race() async throws {
    let generator = Mutex(SeededGenerator())
    let seed = generator.withLock { $0.seed }
    let origin = try FakeOrigin { _ in
      generator.withLock { .slow(Double.random(in: 0...0.01, using: &$0)) }
    }
    let url = origin.url
    let codes = await withTaskGroup(
      of: UprightError.Code?.self, returning: [UprightError.Code?].self
    ) { group in
      for epoch in [1, 2, 2, 3, 4] {
        group.addTask {
          let code = try? await Self.onThread { try Writer(url, epoch: epoch).failure(8) }
          return code ?? nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    // All that failed were told why.
    #expect(codes.allSatisfy { $0 == nil || $0 == .superseded }, "\(codes), seed \(seed)")
    #expect(codes.contains(nil))
    let text = try #require(origin.texts().last)
    #expect(WriterMark(in: text)?.epoch == 4, "seed \(seed)")
    _ = try Self.check(origin)
  }

  @Test("An output that is opened again in the same epoch continues its own playlist")
  func reopened() async throws {
    let isAway = Mutex(false)
    let origin = try FakeOrigin { _ in isAway.withLock { $0 } ? .status(500) : .none }
    try await Self.onThread {
      let one = try Writer(origin.url, epoch: 1, attempts: .milliseconds(50))
      try one.write(4)
      isAway.withLock { $0 = true }
      #expect(one.failure() == .inputOutput)
      isAway.withLock { $0 = false }
      try one.reopen()
      try one.write(4)
    }
    let (_, last) = try Self.check(origin)
    #expect(last.discontinuities == 1)
  }

  @Test(
    "An origin without conditions, without strong tags, or that refuses, is refused with the reason"
  )
  func unfit() async throws {
    for (fault, code, word) in [
      (.unconditional, .unavailable, "If-Match"), (.weak, .inputOutput, "strong ETag"),
      (.status(403), .inputOutput, "403"), (.status(301), .inputOutput, "301"),
      (.status(507), .inputOutput, "507"), (.lostRequest, .inputOutput, "closed"),
    ] as [(FakeOrigin.Fault, UprightError.Code, String)] {
      let origin = try FakeOrigin { request in
        // A playlist must exist for its tag to be read.
        fault == .weak && request.method != "GET" ? .none : fault
      }
      if fault == .weak { origin.store("#EXTM3U\n", at: "/live/cam/index.m3u8") }
      try await Self.onThread {
        let writer = try Writer(origin.url, epoch: 1, attempts: .milliseconds(30))
        do {
          try writer.write(3)
          Issue.record("\(fault) was accepted")
        } catch let error as UprightError {
          #expect(error.code == code && error.description.contains(word), "\(fault): \(error)")
          #expect(!error.description.contains("sesame"))
        }
      }
    }
  }

  @Test("Answers to PUT need no tag, and another program's playlist is continued")
  func untagged() async throws {
    let origin = try FakeOrigin { $0.method == "PUT" ? .untagged : .none }
    let other =
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:41\n"
      + "#EXT-X-MAP:URI=\"a.mp4\"\n#EXTINF:2,\na.m4s\n"
    origin.store(other, at: "/live/cam/index.m3u8")
    for name in ["a.m4s", "a.mp4"] { origin.store("", at: "/live/cam/\(name)") }
    try await Self.onThread { try Writer(origin.url, epoch: 1).write(4) }
    let last = try Playlist(text: try #require(origin.texts().last))
    #expect(last.mediaSequence == 41 && last.segments.count >= 4 && last.discontinuities == 1)
  }

  @Test("Hostile text in the origin's playlist is no reason to stop")
  func hostile() async throws {
    for text in [
      "", "\n", "#upright-writer:", "#upright-writer:9-\n",
      "#upright-writer:99999999999999999999-x\n",
      "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:9223372036854775807\n#EXT-X-TARGETDURATION:-1\n#EXTINF:nan,\na\n",
      "#EXTM3U\n#EXT-X-DISCONTINUITY-SEQUENCE:-5\n#EXT-X-MAP:\n#EXT-X-PROGRAM-DATE-TIME:x\n#EXTINF:1e300,\n\u{0}\n",
    ] {
      let origin = try FakeOrigin()
      origin.store(text, at: "/live/cam/index.m3u8")
      try await Self.onThread { try Writer(origin.url, epoch: 1).write(3) }
      #expect(origin.texts().last?.contains("index-1-") == true, "\(text)")
    }
  }

  @Test(
    "An origin that is slow is waited for, and one that is silent until the output is abandoned")
  func silent() async throws {
    let slow = try FakeOrigin { _ in .slow(0.05) }
    try await Self.onThread { try Writer(slow.url, epoch: 1).write(4) }
    #expect(try Self.check(slow).numbers.count == 3)

    let silent = try FakeOrigin { _ in .silence }
    let writer = try Writer(silent.url, epoch: 1, timeout: .seconds(60))
    let store = writer.store
    Task.detached {
      while silent.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
      store.abandon()
    }
    #expect(writer.failure() == .cancelled)
    #expect(writer.failure() == .cancelled)
  }

  @Test("Files that can't be removed are removed later")
  func leftovers() async throws {
    let isAway = Mutex(true)
    let origin = try FakeOrigin { request in
      request.method == "DELETE" && isAway.withLock { $0 } ? .status(500) : .none
    }
    try await Self.onThread {
      let one = try Writer(origin.url, epoch: 1)
      try one.write(20)
      #expect(origin.names().count { $0.hasSuffix(".m4s") } == 19)
      isAway.withLock { $0 = false }
      try one.write(1)
      #expect(origin.names().count { $0.hasSuffix(".m4s") } < 16)
    }
    #expect(origin.violations == [])
  }
}
