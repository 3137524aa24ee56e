import Foundation
import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightMedia
@testable import UprightLive

/// What a host passes on to a session in another process.
@Suite("Feeds and origins for another process")
struct FeedDeliveryTests {
  @Test("FLV: a publisher, its bytes, its end, and the next publisher")
  func published() {
    let feed = PublishedFeed(capacity: 100)
    #expect(feed.begin() && !feed.begin() && feed.write([1, 2, 3]))
    guard case .began(.flv)? = feed.next(), case .bytes(let header)? = feed.next(),
      case .bytes([1, 2, 3])? = feed.next()
    else {
      Issue.record("another delivery")
      return
    }
    #expect(header.starts(with: Array("FLV".utf8)))
    feed.refuse(because: "no")
    feed.end()
    guard case .ended(refusal: "no")? = feed.next() else {
      Issue.record("another end")
      return
    }
    #expect(feed.begin())
    guard case .began? = feed.next() else {
      Issue.record("another delivery")
      return
    }
    #expect(feed.rejection == nil)
    feed.refusePublisher(because: "no video")
    #expect(!feed.isPublishing && feed.rejection == "no video")
    #expect(feed.begin() && feed.rejection == nil)
    feed.close()
    // What was there before, and then nothing.
    while feed.next() != nil {}
  }

  @Test("FLV: bytes that were refused are accepted when the others have been read")
  func room() {
    let feed = PublishedFeed(capacity: 1)
    #expect(feed.begin())
    #expect(!feed.write([1]))
    guard case .began(.flv)? = feed.next(), case .bytes? = feed.next() else {
      Issue.record("another delivery")
      return
    }
    #expect(feed.write([1]))
  }

  @Test("RTP: the other process receives at the same port, and is told of keyframes and the end")
  func forwarded() throws {
    let description = "v=0\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
    let (feed, other) = (ForwardedFeed(), ForwardedFeed())
    let target = try #require(try feed.begin(description) {})
    guard case .began(let publisher)? = feed.next() else {
      Issue.record("another delivery")
      return
    }
    #expect(publisher.description == description && publisher.target == target)
    let passed = try JSONDecoder().decode(
      ForwardedFeed.Target.self, from: JSONEncoder().encode(publisher.target))
    try other.begin(publisher.description, target: passed, socket: dup(publisher.socket)) {}
    #expect(other.isPublishing && other.silence == nil && feed.silence == nil)
    feed.noteArrival(secondsAgo: 2)
    #expect(try #require(feed.silence) >= 2)
    feed.requestKeyframes(at: 1234)
    guard case .keyframePort(1234)? = feed.next() else {
      Issue.record("another delivery")
      return
    }
    feed.end(because: "gone")
    #expect(try feed.begin(description) {} != nil)
    guard case .ended? = feed.next(), case .began? = feed.next() else {
      Issue.record("another delivery")
      return
    }
    feed.refusePublisher()
    guard case .ended(reason: nil)? = feed.next() else {
      Issue.record("another delivery")
      return
    }
    feed.close()
    #expect(feed.next() == nil)
  }

  @Test("An origin that is told of each change answers alike; impossible numbers are ignored")
  func origin() async throws {
    let origin = HLSOrigin()
    let session = HLSOrigin { change in
      guard let data = try? JSONEncoder().encode(change),
        var read = try? JSONDecoder().decode(HLSOrigin.Change.self, from: data)
      else { return }
      #expect(read.bytes.isEmpty)
      read.bytes = change.bytes
      origin.apply(read)
    }
    var edition = HLSOrigin.Edition(
      text: "#EXTM3U\n", delta: nil, lastSegment: 3, lastPart: .init(segment: 4, index: 1),
      hint: nil, targetDuration: 2, partTarget: 0.3)
    session.publish(
      edition, as: "index.m3u8", files: [("a.m4s", [1, 2]), ("b.m4s", [3])], expired: [])
    guard case .playlist(let text, _) = await origin.playlist("index.m3u8") else {
      Issue.record("no playlist")
      return
    }
    #expect(text.hasPrefix("#EXTM3U\n"))
    #expect(await origin.file("a.m4s")?.bytes == [1, 2])
    #expect(await origin.file("b.m4s")?.bytes == [3])
    session.remove("a.m4s")
    #expect(await origin.file("a.m4s") == nil)
    edition.targetDuration = .max
    session.publish(edition, as: "other.m3u8")
    edition.targetDuration = 2
    edition.lastSegment = .max
    session.publish(edition, as: "other.m3u8")
    #expect(await origin.playlist("other.m3u8") == .missing)
    // A file whose bytes are missing.
    let wrong = HLSOrigin { change in
      var change = change
      change.bytes = []
      origin.apply(change)
    }
    edition.lastSegment = 3
    wrong.publish(edition, as: "other.m3u8", files: [("c.m4s", [1])])
    #expect(await origin.playlist("other.m3u8") == .missing)
  }

  @Test("MPEG-TS of publishers, in pieces that cut packets; one begins within a packet")
  func transportStream() throws {
    let scratch = try Scratch()
    let path = scratch.path("a.ts")
    try FFmpegTool.run(
      "-f lavfi -i \(DecodedFrames.source) -f lavfi -i sine=f=440 -c:a aac -t 2 -c:v libx264 "
        + "-preset ultrafast -g 30 -bf 0 -pix_fmt yuv420p -f mpegts", [path])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    for start in [0, 100] {
      let before = stage.session.snapshot.counters.framesIn
      try #require(stage.feed.begin(.mpegts))
      for place in stride(from: start, to: bytes.count, by: 1000) {
        let piece = Array(bytes[place..<min(place + 1000, bytes.count)])
        #expect(until { stage.feed.write(piece) })
      }
      stage.feed.end()
      #expect(until { stage.session.snapshot.counters.framesIn > before + 20 })
    }
    stage.end()
  }

  @Test(
    "A publisher whose video goes on in another codec can reconnect", arguments: ["aac", "mp2"])
  func transportStreamChanges(_ audio: String) throws {
    let scratch = try Scratch()
    let files = try ["libx264 -c:a aac", "libx265 -x265-params log-level=none -c:a \(audio)"].map {
      let path = scratch.path("\($0.prefix(7)).ts")
      try FFmpegTool.run(
        "-f lavfi -i \(DecodedFrames.source) -f lavfi -i sine=f=440 -t 2 -c:v \($0) "
          + "-preset ultrafast -g 30 -bf 0 -pix_fmt yuv420p -f mpegts", [path])
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    func publish(_ bytes: [UInt8]) throws {
      try #require(stage.feed.begin(.mpegts))
      for place in stride(from: 0, to: bytes.count, by: 1316) {
        let piece = Array(bytes[place..<min(place + 1316, bytes.count)])
        #expect(until { stage.feed.write(piece) || !stage.feed.isPublishing })
      }
    }
    try publish(files[0] + files[1])
    #expect(until { !stage.feed.isPublishing })
    #expect(until { stage.session.snapshot.reason?.contains("another codec") == true })
    let before = stage.session.snapshot.counters.framesIn
    try publish(files[1])
    stage.feed.end()
    #expect(until { stage.session.snapshot.counters.framesIn > before + 20 })
    stage.end()
  }

  @Test("A publisher whose data is no transport stream is refused while it goes on sending")
  func noTransportStream() throws {
    let scratch = try Scratch()
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    let noise = [UInt8](repeating: 7, count: 1316)
    for _ in 0..<2 {
      try #require(stage.feed.begin(.mpegts))
      // Slowly: it doesn't take what a demuxer reads before it gives up.
      var count = 0
      while stage.feed.write(noise) { count += 1 }
      #expect(count < 10 && !stage.feed.isPublishing)
      #expect(
        until {
          stage.session.snapshot.reason == "the publisher's data is no MPEG transport stream"
        })
    }
    #expect(stage.session.snapshot.state == .waiting)
    stage.end()
  }

  @Test("A transport stream is recognised wherever it begins, with each size of packets")
  func transportStreamProbe() {
    for size in [188, 192, 204] {
      for start in [0, 1, 100, 187] {
        var bytes = [UInt8](repeating: 0, count: 8 << 10)
        for place in stride(from: start, to: bytes.count, by: size) { bytes[place] = 0x47 }
        var probe = TransportStreamProbe()
        let isAccepted = stride(from: 0, to: bytes.count, by: 100).allSatisfy {
          probe.accepts(Array(bytes[$0..<min($0 + 100, bytes.count)]))
        }
        #expect(isAccepted, "\(size) \(start)")
        // What comes later isn't looked at.
        let isStill = probe.accepts([UInt8](repeating: 1, count: 20_000))
        #expect(isStill)
      }
    }
    var probe = TransportStreamProbe()
    let answers = [(8 << 10) - 1, 1].map { probe.accepts([UInt8](repeating: 1, count: $0)) }
    #expect(answers == [true, false])
  }
}
