import Synchronization
import Testing
import UprightOrientation
import UprightPolicy
import UprightTestSupport

@testable import UprightLive
@testable import UprightMediaIO
@testable import UprightMedia

@Suite struct LiveSizeTests {
  @Test(
    "Without a size, no side is longer than the source's or the guidance's",
    arguments: [
      (PixelSize(640, 360), PixelSize(640, 360)), (PixelSize(1920, 1080), PixelSize(1280, 720)),
      (PixelSize(1080, 1920), PixelSize(720, 1280)), (PixelSize(640, 480), PixelSize(640, 480)),
      (PixelSize(1600, 400), PixelSize(1280, 400)), (PixelSize(100, 1440), PixelSize(100, 1280)),
    ])
  func size(_ source: PixelSize, _ expected: PixelSize) {
    let guidance = StreamGuidance(encodeSize: source, captureSize: PixelSize(2160, 3840))
    let guided = LiveSize.guided(captureSize: nil).guidance(of: guidance)
    #expect(guided == StreamGuidance(encodeSize: expected))
    let capturing = LiveSize.guided(captureSize: PixelSize(2160, 3840)).guidance(of: guidance)
    #expect(capturing.encodeSize == expected && capturing.captureSize == guidance.captureSize)
    #expect(LiveSize.source.guidance(of: guidance) == guidance)
    #expect(LiveSize.fixed(.standard).guidance(of: guidance) == .standard)
  }
}

@Suite struct DurationHistogramTests {
  @Test("A duration is counted in the first bucket whose bound it doesn't exceed")
  func buckets() {
    var histogram = DurationHistogram()
    for seconds in [0.0005, 0.0006, 1.5, 100, -1, .nan] { histogram.add(seconds) }
    #expect(histogram.counts.count == DurationHistogram.bounds.count + 1)
    // A negative duration counts as zero; one that is not a number isn't counted.
    #expect(histogram.counts[0] == 2 && histogram.counts[1] == 1)
    #expect(histogram.counts.suffix(2) == [1, 1])
    #expect(histogram.count == 5 && abs(histogram.sum - 101.5011) < 1e-9)
  }

  @Test("Histograms of several sessions are added")
  func sums() {
    var (one, other) = (DurationHistogram(), DurationHistogram())
    one.add(0.01)
    other.add(0.01)
    other.add(3)
    one.add(other)
    #expect(one.count == 3 && abs(one.sum - 3.02) < 1e-9)
    #expect(one.counts.max() == 2 && one.counts.last == 1)
  }
}

@Suite struct PacketPacerTests {
  /// Returns when each packet is passed on, in seconds from the first call. The times are in milliseconds.
  private func moments(_ times: [Int64], openedBefore seconds: Double) throws -> [Double] {
    let start = ContinuousClock.now
    var pacer = PacketPacer(Interrupt(), since: start - .seconds(seconds))
    return try times.map { time in
      pacer.wait(for: try packet(pts: time))
      return start.secondsUntilNow
    }
  }

  @Test("Packets have the speed of their timestamps, and a jump delays none")
  func speed() throws {
    let moments = try moments([5000, 5150, 5300, 90_000, 90_100], openedBefore: 0)
    #expect(moments[1] >= 0.15 && moments[2] >= 0.3 && moments[4] >= 0.4, "\(moments)")
    #expect(moments[4] < 5, "\(moments)")
  }

  @Test("What arrived while the input was opened is not delayed, up to a second")
  func opening() throws {
    let moments = try moments([5000, 5900, 6100], openedBefore: 0.9)
    #expect(moments[1] < 0.8 && moments[2] >= 0.19, "\(moments)")
    let late = try self.moments([5000, 6000, 6200], openedBefore: 60)
    #expect(late[1] < 0.9 && late[2] >= 0.19, "\(late)")
  }
}

@Suite(.tags(.waits)) struct LiveAddressTests {
  @Test(
    "Two addresses of the same stream are recognised",
    arguments: [
      ("rtmp://h/live/cam", "rtmp://h/live/cam", true),
      ("rtmp://h/live/cam", "RTMP://H:1935/live//cam?key=secret", true),
      ("rtmp://localhost/live/cam", "rtmp://me:secret@127.0.0.1/live/cam", true),
      ("rtsp://h:8554/cam", "rtsp://h:8554/cam/", true), ("rtsp://h/cam", "rtsp://h:554/cam", true),
      ("srt://h:9000?streamid=a", "srt://h:9000?streamid=a", true),
      ("rtmp://h/live/cam", "rtmp://h/live/cam2", false),
      ("rtmp://h/live/cam", "rtmp://h:1936/live/cam", false),
      ("rtmp://h/live/cam", "rtmp://h/live?vhost=upright/cam", false),
      ("rtmp://h/live/cam", "rtmp://h/live/cam?vhost=upright", false),
      ("rtmp://h:8554/cam", "rtsp://h:8554/cam", false),
      ("srt://h:9000?streamid=a", "srt://h:9000?streamid=b", false),
    ])
  func same(_ one: String, _ other: String, _ areSame: Bool) {
    #expect(LiveAddress.areSame(one, other) == areSame)
    #expect(LiveAddress.areSame(other, one) == areSame)
  }
}

@Suite struct PublishedFeedTests {
  @Test("A feed takes one publisher at a time, and says when there is room again")
  func room() throws {
    let feed = PublishedFeed(capacity: 100)
    let rooms = Mutex(0)
    feed.onRoom { rooms.withLock { $0 += 1 } }
    #expect(!feed.isPublishing && !feed.write([1]), "there is no publisher")
    #expect(feed.begin() && !feed.begin() && feed.isPublishing)
    // The header leaves room, and one more piece is accepted whatever its size.
    #expect(feed.write([UInt8](repeating: 1, count: 200)))
    #expect(!feed.write([1]))
    #expect(rooms.withLock { $0 } == 0)

    let pipe = try #require(feed.next(Interrupt())?.pipe)
    #expect(pipe.take()?.starts(with: Array("FLV".utf8)) == true && pipe.take()?.count == 200)
    #expect(rooms.withLock { $0 } == 1)
    #expect(feed.write([1]))
    feed.end()
    #expect(!feed.isPublishing && !feed.write([1]))
    #expect(feed.begin(), "another publisher may follow")
  }
}
