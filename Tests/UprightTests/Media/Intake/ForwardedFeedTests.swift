import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightLive
@testable import UprightSignals

/// RTP as Janus forwards it: video and audio on one port, with source identifiers that the session chose.
@Suite("Forwarded RTP as a live input", .enabled(if: FFmpegTool.isHere), .realTime)
struct ForwardedFeedTests {
  private static func description(_ codec: String = "H264", audio: Bool = false) -> String {
    """
    v=0
    m=video 9 RTP/AVP 96
    a=rtpmap:96 \(codec)/90000
    a=extmap:4 urn:3gpp:video-orientation

    """ + (audio ? "m=audio 9 RTP/AVP 97\na=rtpmap:97 opus/48000/2\n" : "")
  }

  private static func clip(
    _ codec: RTPSender.Codec = .h264, count: Int, source: String = DecodedFrames.source
  ) throws -> SentClip {
    try SentClip(codec, count: count, interval: 15, source: ["-f", "lavfi", "-i", source])
  }

  /// Sends a clip in real time at 30 frames per second, with CVO `turns`.
  private static func send(
    _ clip: SentClip, _ sender: inout RTPSender, to socket: Loopback.Datagrams,
    turns: [UInt8]? = nil, losing lost: Set<Int> = [], meanwhile: (Int) -> Void = { _ in }
  ) {
    let said = turns.map(clip.coordination) ?? clip.frames.map { _ in 0 }
    let begun = Date()
    for (index, frame) in clip.frames.enumerated() {
      let wait = begun.addingTimeInterval(Double(index) / 30).timeIntervalSinceNow
      if wait > 0 { usleep(UInt32(wait * 1e6)) }
      meanwhile(index)
      for packet in sender.packets(frame, ticks: index * 3000, cvo: said[index])
      where !lost.contains(index) {
        socket.send(packet)
      }
    }
  }

  @Test("CVO rotates from its frame on; packets of another sender are ignored")
  func turn() throws {
    let scratch = try Scratch()
    let feed = ForwardedFeed()
    let stage = try LiveTestSession(
      [.hls(folder: scratch.path("hls"))], input: .forwarded(feed))
    let target = try #require(try feed.begin(Self.description()) {})
    #expect(try feed.begin(Self.description()) {} == nil && feed.isPublishing)
    let clip = try Self.clip(count: 90)
    let other = try Self.clip(count: 1, source: "color=red:s=160x90:r=30")
    var sender = RTPSender(.h264)
    sender.ssrc = target.videoSource
    var (guesser, thief) = (RTPSender(.h264), RTPSender(.h264))
    (thief.ssrc, thief.sequence) = (target.videoSource, 1010)
    let socket = try Loopback.Datagrams(target.port)
    let strange = try Loopback.Datagrams(target.port)
    var generator = SeededGenerator(seed: 7)
    Self.send(clip, &sender, to: socket, turns: (0..<90).map { $0 < 50 ? 0 : 1 }) { index in
      // From another port: with a wrong source, the right one, and random bytes.
      guard index > 0 else { return }
      for packet in guesser.packets(other.frames[0], ticks: index * 3000, cvo: 2) {
        strange.send(packet)
      }
      for packet in thief.packets(other.frames[0], ticks: index * 3000, cvo: 2) {
        strange.send(packet)
      }
      strange.send((0..<100).map { _ in UInt8.random(in: 0...255, using: &generator) })
      // BYE of the right source.
      strange.send([0x81, 203, 0, 1] + thief.packet([], ticks: 0, isLast: true, cvo: nil)[8..<12])
    }
    #expect(feed.silence.map { $0 < 5 } == true)
    #expect(until { stage.session.snapshot.seconds > 2.3 })
    stage.end()
    let shown = try DecodedFrames(scratch.path("hls/index.m3u8"), scratch)
    let turned = try #require(shown.sizes.firstIndex(of: PixelSize(90, 160)))
    #expect(abs(shown.times[turned] - 50.0 / 30) < 0.001, "\(shown.times[turned])")
    #expect(shown.corners[..<turned].allSatisfy { $0 == "tl" }, "\(shown.corners)")
    #expect(shown.corners[turned...].allSatisfy { $0 == "tr" }, "\(shown.corners)")
    #expect(try feed.begin(Self.description()) {} == nil && feed.isClosed)
  }

  @Test("A publisher leaves and comes back in another codec; audio keeps its distance")
  func comesBack() throws {
    let scratch = try Scratch()
    let feed = ForwardedFeed()
    let stage = try LiveTestSession(
      [.hls(folder: scratch.path("hls"))], input: .forwarded(feed))
    for codec in [RTPSender.Codec.vp8, .h264] {
      let refusals = Counter()
      let target = try #require(
        try feed.begin(Self.description(codec == .vp8 ? "VP8" : "H264")) { refusals.add() })
      var sender = RTPSender(codec)
      sender.ssrc = target.videoSource
      Self.send(try Self.clip(codec, count: 45), &sender, to: try Loopback.Datagrams(target.port))
      #expect(until { stage.session.snapshot.state == .live })
      feed.end(because: "the publisher has left")
      #expect(until { stage.session.snapshot.state == .inputLost })
      #expect(stage.session.snapshot.reason == "the publisher has left")
      #expect(refusals.count == 0)
    }
    feed.refuse(because: "the WebRTC server doesn't answer")
    stage.end()
    #expect(stage.states.prefix(4) == [.live, .inputLost, .live, .inputLost])
    #expect(stage.formats.count == 1)
    let shown = try DecodedFrames(scratch.path("hls/index.m3u8"), scratch)
    #expect(shown.longestStep < 0.2 && shown.shortestStep > 0)
  }

  @Test(
    "A refused publisher is the reason of a waiting session; a stream without use ends its publisher"
  )
  func refused() throws {
    let feed = ForwardedFeed()
    let scratch = try Scratch()
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))], input: .forwarded(feed))
    feed.refuse(because: "the WebRTC server doesn't answer")
    #expect(until { stage.session.snapshot.reason == "the WebRTC server doesn't answer" })
    #expect(stage.session.snapshot.state == .waiting)
    let refusals = Counter()
    #expect(throws: UprightError.self) { try feed.begin("v=0") {} }
    _ = try #require(try feed.begin(Self.description()) { refusals.add() })
    stage.end()
    #expect(until { refusals.count == 1 } && !feed.isPublishing)
  }

  @Test("A missing packet delays the frames after it for 0.3 s, and no longer")
  func loss() throws {
    let scratch = try Scratch()
    let feed = ForwardedFeed()
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))], input: .forwarded(feed))
    let target = try #require(try feed.begin(Self.description("VP8")) {})
    let requests = try Loopback.Receiver()
    feed.requestKeyframes(at: requests.port)
    var sender = RTPSender(.vp8)
    sender.ssrc = target.videoSource
    sender.size = 100_000
    let socket = try Loopback.Datagrams(target.port)
    Self.send(try Self.clip(.vp8, count: 60), &sender, to: socket, losing: [20])
    // One packet a frame: the buffer alone would wait for 512 frames.
    #expect(until { stage.session.snapshot.counters.framesIn >= 59 })
    stage.end()
    let request = try #require(requests.receive())
    #expect(ControlPacket.parse(request).isEmpty && request[9] == 206)
    #expect(request.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } == target.videoSource)
  }

  @Test("A change of the coded size in the same shape changes no format; one of the shape does")
  func sizes() throws {
    let scratch = try Scratch()
    let feed = ForwardedFeed()
    let stage = try LiveTestSession(
      [.hls(folder: scratch.path("hls"))], input: .forwarded(feed))
    let target = try #require(
      try feed.begin("v=0\nm=video 9 RTP/AVP 96\na=rtpmap:96 VP8/90000\n") {})
    var sender = RTPSender(.vp8)
    sender.ssrc = target.videoSource
    let socket = try Loopback.Datagrams(target.port)
    for (index, size) in ["160x90", "320x180", "80x46", "90x160"].enumerated() {
      let clip = try Self.clip(.vp8, count: 30, source: "testsrc2=s=\(size):r=30")
      sender.timestamp = UInt32(50_000 + index * 90_000)
      Self.send(clip, &sender, to: socket)
    }
    #expect(until { stage.session.snapshot.counters.framesIn >= 120 })
    stage.end()
    let shown = try DecodedFrames(scratch.path("hls/index.m3u8"), scratch)
    #expect(stage.formats.count == 2, "\(stage.formats)")
    let turned = try #require(shown.sizes.firstIndex(of: PixelSize(90, 160)))
    #expect(turned >= 85 && Set(shown.sizes[..<turned]) == [PixelSize(160, 90)])
  }

  /// Counts calls from any thread.
  private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0
    func add() { lock.withLock { value += 1 } }
    var count: Int { lock.withLock { value } }
  }
}

@Suite("RTP: distance of two streams")
struct RTPTrackTests {
  private static func track(_ kind: String, _ type: Int, _ codec: String) throws -> RTPTrack {
    let description = try SessionDescription(
      "v=0\nm=video 9 RTP/AVP 96\na=rtpmap:96 VP8/90000\nm=audio 9 RTP/AVP 97\na=rtpmap:97 opus/48000\n"
    )
    let media = try #require(kind == "video" ? description.video : description.audio)
    return RTPTrack(media, try #require(media.codec))
  }

  private static func ntp(_ seconds: Double) -> UInt64 { UInt64(seconds * 4_294_967_296) }

  @Test("Sender reports correct the distance that arrival has given")
  func align() throws {
    let video = try Self.track("video", 96, "VP8")
    let audio = try Self.track("audio", 97, "opus")
    var (pictures, sound) = (RTPSender(.vp8), RTPSender(.plain))
    (sound.payloadType, sound.timestamp) = (97, 7000)
    let frame = EncodedFrame(bytes: [0, 0, 0], isKey: true)
    func send(_ arrival: Int64, _ track: RTPTrack, _ sender: inout RTPSender, ticks: Int)
      -> [AccessUnit]
    {
      var units: [AccessUnit] = []
      for packet in sender.packets(frame, ticks: ticks) where track.accepts(packet, from: 0) {
        units += track.receive(packet, arrival: arrival)
      }
      return units + track.expire(at: arrival + 300)
    }
    // The audio arrives 80 ms late.
    let first = send(10, video, &pictures, ticks: 0)
    let late = send(90, audio, &sound, ticks: 0)
    #expect(first.map(video.timestamp) == [900] && late.map(audio.timestamp) == [90 * 48])
    // A report of one stream alone changes nothing.
    audio.report(time: Self.ntp(1000), timestamp: 7000)
    audio.align(with: video)
    #expect(late.map(audio.timestamp) == [90 * 48])
    video.report(time: Self.ntp(1000.5), timestamp: 50_000 + 45_000)
    audio.align(with: video)
    #expect(late.map(audio.timestamp) == [10 * 48])
    // A report that is seconds away, and one that is a millisecond away.
    video.report(time: Self.ntp(1010), timestamp: 50_000)
    audio.align(with: video)
    video.report(time: Self.ntp(1000.001), timestamp: 50_000)
    audio.align(with: video)
    #expect(late.map(audio.timestamp) == [10 * 48])
    video.report(time: .max, timestamp: 0)
    video.report(time: 0, timestamp: .max)
    audio.align(with: video)
    #expect(first.map(video.timestamp) == [900])
  }

  @Test("Without reports, the fastest packets of both streams correct the distance")
  func alignByArrival() throws {
    let video = try Self.track("video", 96, "VP8")
    let audio = try Self.track("audio", 97, "opus")
    var (pictures, sound) = (RTPSender(.vp8), RTPSender(.plain))
    (sound.payloadType, sound.timestamp) = (97, 7000)
    (video.expectedSource, audio.expectedSource) = (pictures.ssrc, sound.ssrc)
    let frame = EncodedFrame(bytes: [0, 0, 0], isKey: true)
    var generator = SeededGenerator(seed: 3)
    // Both start at 0 and take 20 to 80 ms; the first packets of the audio take 200 ms more. A packet of 10 ms of
    // audio is sent at its end.
    var arrivals: [(at: Int64, track: RTPTrack, packet: [UInt8])] = []
    for index in 0..<600 {
      func arrival() -> Int64 { Int64(index * 20) + .random(in: 20...80, using: &generator) }
      for packet in pictures.packets(frame, ticks: index * 1800) {
        arrivals.append((arrival(), video, packet))
      }
      for packet in sound.packets(frame, ticks: index * 960) {
        arrivals.append((arrival() + (index < 10 ? 210 : 10), audio, packet))
      }
    }
    var starts: [Int64] = []
    for (at, track, packet) in arrivals.sorted(by: { $0.at < $1.at }) {
      guard track.accepts(packet, from: 1) else { continue }
      _ = track.receive(packet, arrival: at)
      audio.align(with: video)
      let tick = AccessUnit(bytes: [], ticks: 0, isKey: true)
      starts.append(audio.timestamp(of: tick) / 48 - video.timestamp(of: tick) / 90)
    }
    #expect(starts.contains { $0 > 100 })
    #expect(starts.dropFirst(300).allSatisfy { abs($0) <= 10 }, "\(Set(starts.dropFirst(300)))")
    #expect(Set(starts.dropFirst(300)).count <= 2)
  }

  @Test("Video and audio may share a port if their payload types differ")
  func onePort() throws {
    func ports(_ types: (Int, Int), _ port: Int) throws -> Int {
      try SessionDescription(
        "v=0\nm=video 5000 RTP/AVP \(types.0)\na=rtpmap:\(types.0) VP8/90000\n"
          + "m=audio \(port) RTP/AVP \(types.1)\na=rtpmap:\(types.1) opus/48000\n"
      ).ports().count
    }
    #expect(try ports((96, 97), 5000) == 1)
    #expect(try ports((96, 96), 5002) == 2)
    #expect(throws: UprightError.self) { try ports((96, 96), 5000) }
  }
}
