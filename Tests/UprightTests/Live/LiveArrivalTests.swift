import Foundation
import Testing
import UprightOrientation
import UprightPolicy
import UprightTestSupport

@testable import UprightLive
@testable import UprightMediaIO

/// When an event takes effect: at the frame that was the newest to have arrived.
struct LiveArrivalTests {
  private static func packet(at seconds: Double, isKey: Bool = false) throws -> Packet {
    var packet = try Packet()
    packet.isKey = isKey
    packet.timeBase = LiveClock.timeBase
    packet.pts = Int64(seconds * Double(LiveClock.rate))
    return packet
  }

  @Test("The newest video is the latest in presentation order, of the present connection")
  func newest() throws {
    let packets = ArrivedPackets()
    #expect(packets.newest == ArrivalMark())
    #expect(packets.open() == 1)
    for (time, isVideo) in [(0, true), (0.12, true), (0.04, true), (7, false)] {
      #expect(packets.put(try Self.packet(at: time), isVideo: isVideo))
    }
    #expect(packets.newest == ArrivalMark(run: 1, time: 10_800))
    // A publisher's clock that is set back.
    #expect(packets.put(try Self.packet(at: -2), isVideo: true))
    #expect(packets.newest == ArrivalMark(run: 1, time: -180_000))
    #expect(packets.open() == 2 && packets.newest == ArrivalMark(run: 2, time: .min))
    #expect(packets.depth == 5)
    packets.close()
    #expect(!packets.put(try Self.packet(at: 1), isVideo: true))
    #expect(Self.takes(packets) && packets.depth == 4)
    packets.refuse()
    #expect(!Self.takes(packets))
  }

  @Test("The time between keyframes is that of one connection, whatever comes in between")
  func keyframes() throws {
    let packets = ArrivedPackets()
    func put(_ time: Double, isKey: Bool) throws {
      #expect(packets.put(try Self.packet(at: time, isKey: isKey), isVideo: true))
    }
    _ = packets.open()
    try put(0, isKey: true)
    #expect(packets.counted.keyframeInterval == nil)
    try put(1, isKey: false)
    try put(2, isKey: true)
    #expect(packets.counted.keyframeInterval == 2)
    // Another publisher has other times.
    _ = packets.open()
    try put(100, isKey: true)
    #expect(packets.counted.keyframeInterval == 2)
    try put(100.5, isKey: true)
    #expect(packets.counted.keyframeInterval == 0.5)
  }

  @Test("Where no keyframe waits that could be skipped to, one is asked for, once")
  func wantedKeyframe() throws {
    let packets = ArrivedPackets()
    #expect(packets.put(try Self.packet(at: 0, isKey: false), isVideo: true))
    #expect(!packets.takeKeyframeRequest())
    #expect(!packets.skipToNewestKeyframe())
    #expect(packets.takeKeyframeRequest() && !packets.takeKeyframeRequest())
    #expect(packets.depth == 1)
    #expect(packets.put(try Self.packet(at: 1, isKey: true), isVideo: true))
    _ = packets.skipToNewestKeyframe()
    #expect(!packets.takeKeyframeRequest() && packets.depth == 1)
  }

  @Test("What an open group shows before its keyframe is skipped too, now and when it comes")
  func leadingFrames() throws {
    let packets = ArrivedPackets()
    func put(_ times: Double..., key: Double? = nil) throws {
      if let key { #expect(packets.put(try Self.packet(at: key, isKey: true), isVideo: true)) }
      for time in times { #expect(packets.put(try Self.packet(at: time), isVideo: true)) }
    }
    try put(0.1, 0.2, key: 0)
    try put(0.3, key: 0.4)
    #expect(packets.skipToNewestKeyframe())
    // The keyframe is left.
    #expect(packets.depth == 1 && packets.counted.shed == 4)
    try put(0.35, 0.5, 0.6)
    #expect(packets.depth == 3 && packets.counted.shed == 5)
    // What precedes the next keyframe isn't skipped.
    try put(0.7, key: 0.8)
    #expect(packets.depth == 5)
    // With no frame before it, nothing is.
    #expect(Self.takes(packets) && Self.takes(packets) && Self.takes(packets))
    #expect(!packets.skipToNewestKeyframe() && packets.depth == 2)
    try put(0.75)
    #expect(packets.depth == 3)
    // A publisher's clock that is set back.
    try put(0.9, key: 1)
    #expect(packets.skipToNewestKeyframe())
    try put(-3)
    #expect(packets.depth == 2)
  }

  private static func takes(_ packets: ArrivedPackets) -> Bool {
    guard let item = packets.take() else { return false }
    _ = consume item
    return true
  }

  @Test(
    "An event turns the newest frame that had arrived, however many wait to be decoded",
    .enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime)
  func backlog() async throws {
    let scratch = try Scratch()
    let clip = try FLVClip("testsrc2=size=640x360:rate=30", seconds: 4, audio: false)
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))]) { $0.options.sensor() }
    try #require(stage.feed.begin())
    // Three seconds of video at once: they are decoded and encoded after the event.
    let (burst, rest) = (clip.tags.prefix { $0.time < 3000 }, clip.tags.drop { $0.time < 3000 })
    let size = burst.reduce(0) { $0 + ($1.isVideo && $1.body[1] == 1 ? $1.body.count - 5 : 0) }
    for tag in burst { while !stage.feed.write(tag.bytes) { usleep(100) } }
    #expect(until { stage.session.snapshot.counters.bytesIn >= size })
    #expect(until { stage.session.snapshot.counters.framesOut > 0 })
    let newest = try #require(burst.last { $0.isVideo }).time
    async let answer = stage.session.post([.now(.device(.landscapeLeft))])
    try await Task.sleep(for: .milliseconds(50))
    stage.send(Array(rest))
    let decisions = try await answer
    stage.feed.end()
    stage.end()
    let turn = try #require(decisions.first ?? stage.decisions.first)
    figure("the turn is at \(turn.at) s, \(newest) ms had arrived")
    #expect(abs(turn.at - Double(newest) / 1000) < 0.05)
  }

  @Test(
    "An event while the input is lost holds from the next frame on; the frozen frame keeps its orientation",
    .enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime)
  func loss() async throws {
    let scratch = try Scratch()
    let clip = try FLVClip(DecodedFrames.source, seconds: 1, audio: false)
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))]) { $0.options.sensor() }
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.state == .inputLost })
    // No frame is waited for.
    #expect(try await stage.session.post([.now(.device(.landscapeLeft))]).isEmpty)
    let before = stage.session.snapshot.seconds
    #expect(until { stage.session.snapshot.seconds > before + 0.5 })
    #expect(stage.decisions.isEmpty)
    let frozen = stage.session.snapshot.seconds
    try stage.publish(clip.tags)
    #expect(until { !stage.decisions.isEmpty })
    stage.end()
    #expect(try #require(stage.decisions.first).at >= frozen)
  }
}
