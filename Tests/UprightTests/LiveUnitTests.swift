import Synchronization
import Testing
import UprightTestSupport

@testable import UprightLive
@testable import UprightMediaIO

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

@Suite struct LiveAddressTests {
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

    let pipe = try #require(feed.next(within: 1))
    var bytes = [UInt8](repeating: 0, count: 1000)
    let count = bytes.withUnsafeMutableBytes { pipe.read(into: $0, Interrupt()) }
    #expect(count == 213 && bytes.starts(with: "FLV".utf8))
    #expect(rooms.withLock { $0 } == 1)
    #expect(feed.write([1]))
    feed.end()
    #expect(!feed.isPublishing && !feed.write([1]))
    #expect(feed.begin(), "another publisher may follow")
  }
}
