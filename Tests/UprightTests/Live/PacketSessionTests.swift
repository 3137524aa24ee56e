import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFrames
import UprightLive
import UprightTestSupport

@Suite("Packets in, packets out", .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct PacketSessionTests {
  private static let clock = Rational(1, 90_000)

  /// Encoded once: 160x90, the top left quarter white, a keyframe every 30 frames.
  private static let clips: [RTPSender.Codec: Result<SentClip, any Error>] = Dictionary(
    uniqueKeysWithValues: [.h264, .vp8, .vp9].map { codec in
      (
        codec,
        Result {
          try SentClip(
            codec, count: 300, interval: 30, source: ["-f", "lavfi", "-i", DecodedFrames.source])
        }
      )
    })

  /// The packets of a clip. The phone is turned at frames 100 and 200.
  private static func packets(_ codec: RTPSender.Codec, count: Int = 300) throws -> [EncodedPacket]
  {
    let clip = try #require(clips[codec]).get()
    let turns = (0..<300).map { (100..<200).contains($0) ? UInt8(1) : 0 }
    let cvo = clip.coordination(turns)
    return clip.frames.prefix(count).enumerated().map { index, frame in
      EncodedPacket(
        Array(frame.bytes), pts: Int64(index) * 3000 + 7, timeBase: clock, isKey: frame.isKey,
        cvo: cvo[index].map { CVO(byte: $0) })
    }
  }

  private static func session(
    _ codec: VideoDescription.Codec = .h264, _ configure: (inout EncodeOptions) -> Void = { _ in }
  ) throws -> PacketSession {
    var options = AdapterOptions()
    options.size = PixelSize(90, 160)
    var encoding = EncodeOptions()
    encoding.speed = "ultrafast"
    configure(&encoding)
    return try PacketSession(
      VideoDescription(codec), timeBase: clock, encoding: encoding, options)
  }

  /// The packets of each format, and when each format began.
  private struct Received {
    var formats: [(change: FormatChange, description: VideoDescription, packets: [EncodedPacket])] =
      []
    var decisions: [RotationDecision] = []

    var packets: [EncodedPacket] { formats.flatMap(\.packets) }

    mutating func take(_ element: PacketOutput) throws {
      switch element {
      case .format(let change, let description): formats.append((change, description, []))
      case .packet(let packet):
        try #require(!formats.isEmpty, "a packet before its format")
        formats[formats.count - 1].packets.append(packet)
      case .decision(let decision): decisions.append(decision)
      case .refused(let error): throw error
      }
    }
  }

  private static func run(
    _ session: PacketSession, _ packets: [EncodedPacket]
  ) async throws -> Received {
    async let sending: Void = {
      for packet in packets { try await session.send(packet) }
      session.finish()
    }()
    var received = Received()
    for try await element in session.output { try received.take(element) }
    try await sending
    return received
  }

  @Test(
    "A second reader of the output is refused, and the first one gets everything",
    .timeLimit(.minutes(1)))
  func readers() async throws {
    let session = try Self.session()
    try await withThrowingTaskGroup(of: Result<Received, any Error>.self) { group in
      for _ in 0..<2 {
        group.addTask {
          do {
            var received = Received()
            for try await element in session.output { try received.take(element) }
            return .success(received)
          } catch { return .failure(error) }
        }
      }
      // Nothing was sent: only one that is refused ends.
      let refused = try #require(try await group.next())
      let error = #expect(throws: UprightError.self) { try refused.get() }
      #expect(error?.code == .misuse)
      for packet in try Self.packets(.h264, count: 60) { try await session.send(packet) }
      session.finish()
      #expect(try await group.next()?.get().packets.count == 60)
    }
  }

  // 2 s for each codec, most of it to make the clip.
  @Test(
    "300 frames with CVO: each format begins at its exact frame, upright, and no time changes",
    arguments: [(RTPSender.Codec.h264, VideoDescription.Codec.h264), (.vp8, .vp8), (.vp9, .vp9)])
  func turned(_ sent: RTPSender.Codec, _ codec: VideoDescription.Codec) async throws {
    let packets = try Self.packets(sent)
    let received = try await Self.run(Self.session(codec), packets)
    #expect(received.formats.map(\.change.firstFrame) == [0, 100, 200])
    let begins: [Int64?] = received.formats.map { $0.packets.first?.pts }
    #expect(begins == [7, 300_007, 600_007])
    #expect(received.formats.allSatisfy { $0.packets.first?.isKey == true })
    let sizes: [PixelSize?] = [PixelSize(160, 90), PixelSize(90, 160), PixelSize(160, 90)]
    #expect(received.formats.map(\.description.size) == sizes)
    #expect(received.packets.map(\.pts) == packets.map(\.pts))
    #expect(received.packets.allSatisfy { $0.timeBase == Self.clock })
    #expect(received.decisions.count { $0.outcome == .rotate } == 3)
    let scratch = try Scratch()
    for (format, corner) in zip(received.formats, ["tl", "tr", "tl"]) {
      let path = scratch.path("\(corner).h264")
      try Data(format.packets.flatMap(\.bytes)).write(to: URL(fileURLWithPath: path))
      let decoded = try DecodedFrames(path, scratch)
      #expect(decoded.corners == Array(repeating: corner, count: 100))
      #expect(Set(decoded.sizes) == [try #require(format.description.size)])
    }
  }

  /// Costs 1 s for each argument.
  @Test(
    "RTP packets with CVO, out of order and doubled: the same frames at the same times, also after a loss",
    arguments: [false, true])
  func rtp(losesOne: Bool) async throws {
    let clip = try #require(Self.clips[.h264]).get()
    let turns = (0..<300).map { (100..<200).contains($0) ? UInt8(1) : 0 }
    let cvo = clip.coordination(turns)
    var sender = RTPSender(.h264)
    var sent = clip.frames.enumerated().flatMap { index, frame in
      sender.packets(frame, ticks: index * 3000, cvo: cvo[index])
    }
    // The last packet of frame 250, long after the turns.
    let stamp = { (packet: [UInt8]) in packet[4..<8].reduce(0) { $0 << 8 | Int($1) } - 50_000 }
    if losesOne { sent.remove(at: try #require(sent.lastIndex { stamp($0) == 250 * 3000 })) }
    for index in stride(from: 20, to: sent.count - 8, by: 9) { sent.swapAt(index, index + 7) }
    for index in stride(from: 5, to: sent.count, by: 31) { sent.insert(sent[index], at: index + 2) }
    let feed = RTPFeed(description: Self.description)
    var options = AdapterOptions()
    options.size = PixelSize(90, 160)
    var encoding = EncodeOptions()
    encoding.speed = "ultrafast"
    let session = try PacketSession(feed, encoding: encoding, options)
    async let sending: Void = {
      [sent] in
      for packet in sent { try await feed.send(packet) }
      feed.finish()
    }()
    var received = Received()
    for try await element in session.output { try received.take(element) }
    try await sending
    #expect(received.formats.map(\.change.firstFrame) == [0, 100, 200])
    #expect(received.formats.map { $0.packets.first?.pts } == [0, 300_000, 600_000])
    let times = received.packets.map(\.pts)
    // A damaged frame may be concealed or left out; the others keep their times.
    let expected = (0..<300).map { Int64($0) * 3000 }
    #expect(losesOne ? Set(expected).subtracting(times).count <= 1 : times == expected)
    let scratch = try Scratch()
    for (format, corner) in zip(received.formats, ["tl", "tr", "tl"]) {
      let path = scratch.path("\(corner).h264")
      try Data(format.packets.flatMap(\.bytes)).write(to: URL(fileURLWithPath: path))
      let decoded = try DecodedFrames(path, scratch)
      #expect(decoded.corners == Array(repeating: corner, count: format.packets.count))
    }
  }

  private static let description = """
    v=0
    m=video 9 RTP/AVP 96
    a=rtpmap:96 H264/90000
    a=extmap:4 urn:3gpp:video-orientation
    """

  @Test("RTP without a keyframe is an error, a wrong description too, and a cancelled session ends")
  func badRTP() async throws {
    let wrong = #expect(throws: UprightError.self) {
      try PacketSession(RTPFeed(description: "v=0"))
    }
    #expect(wrong?.code == .badData)
    let feed = RTPFeed(description: Self.description)
    let session = try PacketSession(feed)
    #expect(!session.offer(EncodedPacket([0], pts: 0, timeBase: Self.clock, isKey: true)))
    let clip = try #require(Self.clips[.h264]).get()
    var sender = RTPSender(.h264)
    for (index, frame) in clip.frames[1..<20].enumerated() {
      for packet in sender.packets(frame, ticks: index * 3000) { #expect(feed.offer(packet)) }
    }
    session.finish()
    let none = await #expect(throws: UprightError.self) {
      for try await _ in session.output {}
    }
    #expect(none?.code == .badData && !feed.offer([0]))
    let waiting = try PacketSession(RTPFeed(description: Self.description))
    waiting.cancel()
    let cancelled = await #expect(throws: UprightError.self) {
      for try await _ in waiting.output {}
    }
    #expect(cancelled?.code == .cancelled)
    waiting.close()
  }

  @Test("Events turn a stream without CVO at the next frame")
  func events() async throws {
    var packets = try Self.packets(.h264, count: 60)
    for index in packets.indices { packets[index].cvo = nil }
    var options = AdapterOptions()
    options.size = PixelSize(90, 160)
    options.frames = .sensor(Camera())
    let session = try PacketSession(VideoDescription(.h264), timeBase: Self.clock, options)
    try session.inbox.post([
      .at(1, .device(.landscapeLeft)),
      .at(1.2, .pop("nobody")),
    ])
    var (formats, refused, packetCount) = ([Int](), 0, 0)
    async let sending: Void = {
      for packet in packets { try await session.send(packet) }
      session.finish()
    }()
    for try await element in session.output {
      switch element {
      case .format: formats.append(packetCount)
      case .packet: packetCount += 1
      case .refused(let error):
        #expect(error.code == .badData)
        refused += 1
      case .decision: break
      }
    }
    try await sending
    // Frame 30 is at 1 s and 7 ticks.
    #expect(formats == [0, 30] && packetCount == 60 && refused == 1)
  }

  @Test("Audio comes out as it was sent, and goes into the same fragmented MP4")
  func audio() async throws {
    // RFC 7845, 5.1: version 1, two channels, no pre-skip, 48 kHz, no gain.
    let head = Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0]
    let description = try AudioDescription(.opus, sampleRate: 48_000, channels: 2, extradata: head)
    let video = try Self.packets(.h264, count: 60)
    // Silence, 20 ms each.
    let audio = (0..<100).map {
      EncodedPacket(
        [0xFC, 0xFF, 0xFE], pts: Int64($0) * 960, duration: 960, timeBase: Rational(1, 48_000),
        isKey: true, track: .audio)
    }
    let packets = (video + audio).sorted {
      Double($0.pts) * $0.timeBase.doubleValue < Double($1.pts) * $1.timeBase.doubleValue
    }
    let session = try PacketSession(
      VideoDescription(.h264), audio: description, timeBase: Self.clock)
    async let sending: Void = {
      for packet in packets { try await session.send(packet) }
      session.finish()
    }()
    let segments = MovieSegments(timeBase: Self.clock, audio: description)
    var (file, received) = (Data(), [EncodedPacket]())
    for try await element in session.output {
      switch element {
      case .format(_, let description): file += try segments.begin(description)
      case .packet(let packet):
        // Nothing is turned by the first frames' CVO, so there is one format, and it comes first.
        if !file.isEmpty { try segments.append(packet) }
        received.append(packet)
      case .decision, .refused: break
      }
    }
    file += try segments.cut()
    try await sending
    #expect(received.filter { $0.track == .audio } == audio)
    #expect(received.count { $0.track == .video } == 60)
    let scratch = try Scratch()
    let path = scratch.path("take.mp4")
    try file.write(to: URL(fileURLWithPath: path))
    let streams = try FFmpegTool.streams(path)
    #expect(streams.map { $0["codec_name"].string } == ["h264", "opus"])
    #expect(try FFmpegTool.packets(path, "a:0").count > 90)
    #expect(try DecodedFrames(path, scratch).corners.count == 60)
  }

  @Test("If encoding fails, senders get the error instead of waiting")
  func failure() async throws {
    let session = try Self.session { $0.encoderOptions = ["weightp": "nonsense"] }
    let packets = try Self.packets(.h264, count: 90)
    let sending = Task { for packet in packets { try await session.send(packet) } }
    let reading = await #expect(throws: UprightError.self) {
      for try await _ in session.output {}
    }
    let sent = await #expect(throws: UprightError.self) { try await sending.value }
    #expect(reading != nil && sent == reading)
  }

  @Test("An option that the encoder doesn't have is refused at once")
  func options() {
    let error = #expect(throws: UprightError.self) {
      _ = try Self.session { $0.encoderOptions = ["nosuch": "1"] }
    }
    #expect(error?.code == .usage && error?.message.contains("no option nosuch") == true)
  }

  @Test("A requested keyframe comes next, before the interval is over")
  func keyframe() async throws {
    let session = try Self.session { $0.keyframeSeconds = 1000 }
    let packets = try Self.packets(.h264, count: 90)
    async let sending: Void = {
      for packet in packets {
        if packet.pts == packets[40].pts { session.requestKeyframe() }
        try await session.send(packet)
      }
      session.finish()
    }()
    var received = Received()
    for try await element in session.output { try received.take(element) }
    try await sending
    let keys = received.packets.indices.filter { received.packets[$0].isKey }
    // A few frames were under way when it was requested.
    #expect(keys.count == 2 && keys[0] == 0 && (20...40).contains(keys[1]), "\(keys)")
  }

  @Test("While nobody reads, packets are refused; nothing that was taken is lost")
  func backPressure() async throws {
    let session = try Self.session()
    let packets = try Self.packets(.h264)
    var taken = 0
    let deadline = ContinuousClock.now + .seconds(20)
    // It is full when it refuses for a while.
    var refusals = 0
    while refusals < 100, ContinuousClock.now < deadline {
      if taken < packets.count, session.offer(packets[taken]) {
        (taken, refusals) = (taken + 1, 0)
      } else {
        refusals += 1
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    #expect((64..<110).contains(taken), "\(taken) packets were taken")
    session.finish()
    var received = Received()
    for try await element in session.output { try received.take(element) }
    #expect(received.packets.map(\.pts) == packets.prefix(taken).map(\.pts))
  }

  @Test("A host is told when there is space or output, and what has gone through")
  func readiness() async throws {
    let session = try Self.session()
    let packets = try Self.packets(.h264)
    let (signals, sink) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    session.onReady { sink.yield() }
    var received = Received()
    let output = Task {
      for try await element in session.output { try received.take(element) }
      return received
    }
    var sent = 0
    for await _ in signals {
      while sent < packets.count, session.offer(packets[sent]) { sent += 1 }
      if sent == packets.count { break }
    }
    session.finish()
    let all = try await output.value
    #expect(all.packets.count == packets.count)
    let counters = session.counters
    #expect(counters.framesIn == packets.count && counters.framesOut == packets.count)
    #expect(counters.bytesOut == all.packets.reduce(0) { $0 + $1.bytes.count })
    #expect(counters.keyframes == all.packets.count(where: \.isKey))
    #expect(counters.formats >= 1 && counters.refusedEvents == 0 && counters.audioPackets == 0)
  }

  @Test("Cancelling ends senders and the reader with cancelled, at once")
  func cancellation() async throws {
    let session = try Self.session()
    let packets = try Self.packets(.h264)
    let sending = Task {
      for packet in packets { try await session.send(packet) }
    }
    let iterator = session.output.makeAsyncIterator()
    for _ in 0..<10 { _ = try await iterator.next() }
    session.cancel()
    let read = await #expect(throws: UprightError.self) { _ = try await iterator.next() }
    #expect(read?.code == .cancelled)
    let sent = await #expect(throws: UprightError.self) { try await sending.value }
    #expect(sent?.code == .cancelled)
    #expect(!session.offer(packets[0]))
  }

  @Test("A cancelled task that waits for a packet or for space ends")
  func cancelledTask() async throws {
    let session = try Self.session()
    let reading = Task {
      let iterator = session.output.makeAsyncIterator()
      _ = try await iterator.next()
    }
    try await Task.sleep(for: .milliseconds(20))
    reading.cancel()
    let read = await #expect(throws: UprightError.self) { try await reading.value }
    #expect(read?.code == .cancelled)
    let packets = try Self.packets(.h264)
    let sending = Task {
      for packet in packets { try await session.send(packet) }
    }
    try await Task.sleep(for: .milliseconds(300))
    sending.cancel()
    let sent = await #expect(throws: UprightError.self) { try await sending.value }
    #expect(sent?.code == .cancelled)
  }

  @Test("What no decoder can read is badData")
  func garbage() async throws {
    let session = try Self.session()
    for index in 0..<5 {
      try await session.send(
        EncodedPacket(
          [0, 0, 1, 5, 9, 9, 9], pts: Int64(index), timeBase: Self.clock, isKey: index == 0))
    }
    session.finish()
    let error = await #expect(throws: UprightError.self) { for try await _ in session.output {} }
    #expect(error?.code == .badData)
  }

  @Test("Times at their limits are no trap")
  func times() async throws {
    for (pts, timeBase) in [
      (Int64.max, Rational(1, 1)), (.min + 1, Rational(1, 1)), (.max, Rational(1, .max)),
    ] {
      let session = try Self.session()
      var packet = try #require(Self.packets(.h264, count: 1).first)
      (packet.pts, packet.dts, packet.duration, packet.timeBase) = (pts, pts, .max, timeBase)
      try await session.send(packet)
      session.finish()
      do throws(UprightError) { for try await _ in session.output {} } catch {
        #expect(error.code == .badData, "\(error)")
      }
    }
  }

  @Test("Eight sessions at once")
  func eight() async throws {
    let packets = try Self.packets(.h264, count: 120)
    try await withThrowingTaskGroup(of: [Int?].self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await Self.run(Self.session(), packets).formats.map(\.change.firstFrame)
        }
      }
      for try await formats in group { #expect(formats == [0, 100]) }
    }
  }
}
