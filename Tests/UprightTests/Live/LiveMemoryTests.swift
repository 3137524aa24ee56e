import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

@testable import UprightLive
@testable import UprightMedia

/// Live sessions whose input and outputs are memory of the program.
@Suite(
  "Live: memory in, memory out", .enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime,
  .tags(.waits))
struct LiveMemoryTests {
  private static let clock = Rational(1, 90_000)
  /// 75 frames, 2.5 s; a keyframe every 15 frames. The phone is turned at frame 45.
  private static let clip = Result {
    try SentClip(
      .h264, count: 75, interval: 15, source: ["-f", "lavfi", "-i", DecodedFrames.source])
  }
  private static let turns = (0..<75).map { $0 < 45 ? UInt8(0) : 1 }

  /// What the outputs of a session put out.
  private actor Received {
    var packets: [LivePacket] = []
    var segments: [LiveSegment] = []
    var stream: [UInt8] = []

    func add(_ packet: LivePacket) { packets.append(packet) }
    func add(_ segment: LiveSegment) { segments.append(segment) }
    func add(_ bytes: [UInt8]) { stream += bytes }
  }

  private static func configuration(
    _ input: LiveInput, _ outputs: [LiveOutput]
  ) -> LiveConfiguration {
    var configuration = LiveConfiguration(input: input, outputs: outputs)
    configuration.options.size = .pair(PixelSize(90, 160))
    configuration.options.speed = "ultrafast"
    configuration.segmentSeconds = 1
    configuration.limits.lag = 600
    return configuration
  }

  /// Runs a session with an output of each kind. `send` is called for each frame, in real time.
  private func run(
    _ input: LiveInput, send: @escaping @Sendable (Int) -> Void,
    finish: @escaping @Sendable () -> Void
  ) async throws -> Received {
    let (packets, segments) = (MemoryOutput<LivePacket>(), MemoryOutput<LiveSegment>())
    let bytes = MemoryOutput<[UInt8]>()
    let session = try LiveSession(
      Self.configuration(
        input, [.packets(packets), .segments(segments), .bytes(.mpegts, bytes)]))
    let received = Received()
    let sender = Thread.running {
      let start = Date()
      for frame in 0..<75 {
        let due = start.addingTimeInterval(Double(frame) / 30)
        while due.timeIntervalSinceNow > 0 { usleep(1000) }
        send(frame)
      }
      finish()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for await element in packets { await received.add(element) } }
      group.addTask { for await element in segments { await received.add(element) } }
      group.addTask { for await element in bytes { await received.add(element) } }
      group.addTask { try await session.run { _ in } }
      try await group.waitForAll()
    }
    sender.wait()
    return received
  }

  /// Expects 75 frames, upright, in landscape and from frame 45 on in portrait, in every output.
  private func check(_ received: Received) async throws {
    let scratch = try Scratch()
    var sizes: [PixelSize?] = []
    var (video, audio): ([EncodedPacket], [EncodedPacket]) = ([], [])
    for element in await received.packets {
      switch element {
      case .format(let description, let track):
        #expect(track.codec == .aac && track.sampleRate == 48_000 && !track.extradata.isEmpty)
        #expect(!description.extradata.isEmpty)
        sizes.append(description.size)
      case .packet(let packet):
        if packet.track == .video { video.append(packet) } else { audio.append(packet) }
      }
    }
    #expect(sizes == [PixelSize(160, 90), PixelSize(90, 160)])
    #expect(audio.count > 100 && zip(audio, audio.dropFirst()).allSatisfy { $0.pts < $1.pts })
    let path = scratch.path("packets.h264")
    try Data(video.flatMap(\.bytes)).write(to: URL(fileURLWithPath: path))
    let decoded = try DecodedFrames(path, scratch)
    #expect(decoded.corners.count == video.count)
    let turn = try #require(decoded.sizes.firstIndex(of: PixelSize(90, 160)))
    #expect(video[turn].isKey)
    // A busy machine may drop frames; the time of the turn stays.
    let seconds = Double(video[turn].pts - video[0].pts) * video[0].timeBase.doubleValue
    #expect(abs(seconds - 1.5) < 0.04, "\(seconds)")
    #expect(decoded.corners[..<turn].allSatisfy { $0 == "tl" })
    #expect(decoded.corners[turn...].allSatisfy { $0 == "tr" })

    // One file for each format: its initialization segment and its segments.
    var files: [Data] = []
    var next = 0.0
    for element in await received.segments {
      switch element {
      case .format(let description, let bytes):
        #expect(description.codec == .h264)
        files.append(Data(try #require(bytes)))
      case .segment(let bytes, let start, let duration):
        if next > 0 { #expect(abs(start - next) < 0.001) }
        next = start + duration
        #expect(duration > 0 && duration < 1.1)
        files[files.count - 1] += bytes
      }
    }
    #expect(files.count == 2)
    for (file, corner) in zip(files, ["tl", "tr"]) {
      let path = scratch.path("\(corner).mp4")
      try file.write(to: URL(fileURLWithPath: path))
      let decoded = try DecodedFrames(path, scratch)
      #expect(decoded.corners.count > 25 && decoded.corners.allSatisfy { $0 == corner })
      // An AAC packet has 1024 samples.
      #expect(try FFmpegTool.packets(path, "a:0").count > 35)
    }

    let stream = scratch.path("stream.ts")
    try Data(await received.stream).write(to: URL(fileURLWithPath: stream))
    let played = try DecodedFrames(stream, scratch)
    #expect(played.corners.count == video.count && Set(played.corners) == ["tl", "tr"])
  }

  @Test("Packets with CVO and audio: packets, segments and a transport stream out")
  func packets() async throws {
    let clip = try Self.clip.get()
    let cvo = clip.coordination(Self.turns)
    let feed = PacketFeed(
      try VideoDescription(.h264),
      audio: try AudioDescription(.pcmu, sampleRate: 8000, channels: 1), timeBase: Self.clock)
    let received = try await run(.packets(feed)) { index in
      let frame = clip.frames[index]
      while !feed.offer(
        EncodedPacket(
          frame.bytes, pts: Int64(index) * 3000, timeBase: Self.clock, isKey: frame.isKey,
          cvo: cvo[index].map { CVO(byte: $0) }))
      {
        usleep(1000)
      }
      // Silence: 33 ms of G.711.
      let audio = EncodedPacket(
        [UInt8](repeating: 0xFF, count: 267), pts: Int64(index) * 267,
        timeBase: Rational(1, 8000), isKey: true, track: .audio)
      while !feed.offer(audio) { usleep(1000) }
    } finish: {
      feed.finish()
    }
    try await check(received)
  }

  @Test("RTP packets with CVO, from memory")
  func rtp() async throws {
    let clip = try Self.clip.get()
    let cvo = clip.coordination(Self.turns)
    let feed = RTPFeed(
      description: """
        v=0
        o=- 0 0 IN IP4 0.0.0.0
        s=-
        c=IN IP4 0.0.0.0
        t=0 0
        m=video 9 RTP/AVP 96
        a=rtpmap:96 H264/90000
        a=extmap:4 urn:3gpp:video-orientation
        """)
    nonisolated(unsafe) var sender = RTPSender(.h264)
    let received = try await run(.datagrams(feed)) { index in
      for packet in sender.packets(clip.frames[index], ticks: index * 3000, cvo: cvo[index]) {
        #expect(feed.offer(packet))
      }
    } finish: {
      feed.finish()
    }
    try await check(received)
  }

  @Test("An output that nobody reads doesn't delay another one, nor the end")
  func unread() async throws {
    let clip = try Self.clip.get()
    let feed = PacketFeed(try VideoDescription(.h264), timeBase: Self.clock)
    let (read, unread) = (
      MemoryOutput<LivePacket>(capacity: 1), MemoryOutput<LiveSegment>(capacity: 1)
    )
    let session = try LiveSession(
      Self.configuration(.packets(feed), [.packets(read), .segments(unread)]))
    let running = Task { try await session.run { _ in } }
    let reading = Task {
      var count = 0
      for await element in read {
        if case .packet(let packet) = element, packet.track == .video { count += 1 }
      }
      return count
    }
    for (index, frame) in clip.frames.enumerated() {
      try await feed.send(
        EncodedPacket(
          frame.bytes, pts: Int64(index) * 3000, timeBase: Self.clock, isKey: frame.isKey))
      try await Task.sleep(for: .milliseconds(20))
    }
    feed.finish()
    try await running.value
    #expect(await reading.value > 60)
    // What waited is still there, and the sequence ends.
    var waiting = 0
    for await _ in unread { waiting += 1 }
    #expect(waiting <= 1)
  }

  @Test("A session that waits for packets stops at once", arguments: [true, false])
  func stops(isRTP: Bool) async throws {
    let input: LiveInput =
      isRTP
      ? .datagrams(RTPFeed(description: "v=0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000"))
      : .packets(PacketFeed(try VideoDescription(.h264), timeBase: Self.clock))
    let output = MemoryOutput<LivePacket>()
    let session = try LiveSession(Self.configuration(input, [.packets(output)]))
    let running = Task { try await session.run { _ in } }
    try await Task.sleep(for: .milliseconds(50))
    running.cancel()
    try? await running.value
    #expect(session.join(timeout: 0))
    switch input {
    case .packets(let feed):
      await #expect(throws: UprightError.self) {
        try await feed.send(
          EncodedPacket([0], pts: 0, timeBase: Self.clock, isKey: true))
      }
    case .datagrams(let feed): #expect(!feed.offer([0]))
    default: break
    }
    for await _ in output { Issue.record("a packet") }
  }

  @Test("MP4 isn't a stream of bytes in memory")
  func refused() throws {
    let feed = PacketFeed(try VideoDescription(.h264), timeBase: Self.clock)
    let error = #expect(throws: UprightError.self) {
      try LiveSession(Self.configuration(.packets(feed), [.bytes(.mp4, MemoryOutput())]))
    }
    #expect(error?.code == .usage)
    #expect(throws: UprightError.self) { try AudioDescription(.aac, sampleRate: 0, channels: 2) }
  }
}
