import Foundation
import UprightOrientation
import UprightPolicy
import Synchronization
import Testing
import UprightTestSupport

@testable import UprightContainers
@testable import UprightFiles
@testable import UprightIntake
@testable import UprightMediaIO
@testable import UprightOrienting
@testable import UprightPipeline

/// Returns an empty packet, for tests that only use its times.
func packet(
  pts: Int64?, dts: Int64? = nil, duration: Int64 = 0, key: Bool = false,
  base: Rational = Rational(1, 1000)
) throws -> Packet {
  var packet = try Packet()
  packet.pts = pts
  packet.dts = dts ?? pts
  packet.timeBase = base
  packet.duration = duration
  packet.isKey = key
  return packet
}

@Suite struct PacketInterleaverTests {
  /// Returns the available packets, as track and milliseconds.
  private func drain(_ interleaver: PacketInterleaver) -> [String] {
    var out: [String] = []
    while let item = interleaver.next() {
      out.append("\(item.track)@\(item.time.rescaled(to: Rational(1, 1000)).ticks)")
    }
    return out
  }

  private func add(
    _ interleaver: PacketInterleaver, _ track: Int, pts: Int64, dts: Int64? = nil, key: Bool = false
  ) throws {
    interleaver.add(
      try packet(pts: pts, dts: dts, key: key), track: track, format: nil, isVideo: track == 0)
  }

  @Test("Packets are output in order of time, and only once the order is certain")
  func order() throws {
    let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: false)
    try add(interleaver, 1, pts: 0)
    try add(interleaver, 1, pts: 20)
    // There is no frame yet, so the audio waits.
    #expect(drain(interleaver) == [])
    try add(interleaver, 0, pts: 10, key: true)
    #expect(drain(interleaver) == ["1@0", "0@10"])
    try add(interleaver, 0, pts: 40)
    #expect(drain(interleaver) == ["1@20"])
    interleaver.end(track: 1)
    #expect(drain(interleaver) == ["0@40"])
  }

  @Test("At equal times, video comes first")
  func ties() throws {
    let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: true)
    try add(interleaver, 1, pts: 0)
    try add(interleaver, 0, pts: 0, key: true)
    interleaver.end(track: 0)
    interleaver.end(track: 1)
    #expect(drain(interleaver) == ["0@0", "1@0"])
  }

  @Test("An IDR is ordered by its PTS only if segments are cut at IDRs")
  func keys() throws {
    for (cutsAtKeys, expected) in [
      (true, ["1@980", "0@1000", "1@1001"]), (false, ["0@900", "1@980", "1@1001"]),
    ] {
      let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: cutsAtKeys)
      try add(interleaver, 0, pts: 1000, dts: 900, key: true)
      try add(interleaver, 1, pts: 980)
      try add(interleaver, 1, pts: 1001)
      interleaver.end(track: 0)
      interleaver.end(track: 1)
      #expect(drain(interleaver) == expected)
    }
  }

  @Test("Packets after an IDR on its track follow it")
  func afterKey() throws {
    let interleaver = PacketInterleaver(awaited: [true], cutsAtKeys: true)
    try add(interleaver, 0, pts: 1000, dts: 900, key: true)
    try add(interleaver, 0, pts: 1100, dts: 933)
    try add(interleaver, 0, pts: 1033, dts: 1010)
    interleaver.end(track: 0)
    #expect(drain(interleaver) == ["0@1000", "0@1000", "0@1010"])
  }

  @Test("Only an awaited track delays others, and at most for the timeout")
  func timeout() throws {
    let subtitles = PacketInterleaver(awaited: [true, false], cutsAtKeys: false)
    try add(subtitles, 0, pts: 0, key: true)
    #expect(drain(subtitles) == ["0@0"])

    let late = PacketInterleaver(
      awaited: [true, true], cutsAtKeys: false, timeout: MediaTime(1, .one))
    for time in stride(from: Int64(0), through: 1500, by: 100) {
      try add(late, 0, pts: time, key: time == 0)
    }
    // Packets more than a second older than the newest are output without waiting for audio.
    #expect(drain(late) == (0...5).map { "0@\($0 * 100)" })
  }

  @Test("No packet is lost, in any order of arrival")
  func whole() throws {
    var random = SeededGenerator()
    let interleaver = PacketInterleaver(
      awaited: [true, true, false], cutsAtKeys: true, timeout: MediaTime(5, .one))
    var came = 0
    var out: [String] = []
    var times: [Int64] = [0, 0, 0]
    for _ in 0..<400 {
      let track = Int.random(in: 0..<3, using: &random)
      times[track] += Int64.random(in: 1...60, using: &random)
      try add(interleaver, track, pts: times[track], key: track == 0 && Bool.random(using: &random))
      came += 1
      out += drain(interleaver)
    }
    for track in 0..<3 { interleaver.end(track: track) }
    out += drain(interleaver)
    #expect(out.count == came, "seed \(random.seed)")
    for track in 0..<3 {
      let own = out.filter { $0.hasPrefix("\(track)@") }.compactMap { Int($0.dropFirst(2)) }
      #expect(own == own.sorted(), "seed \(random.seed)")
    }
  }

  @Test("The earliest decoding time of the first packets")
  func earliest() throws {
    let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: true)
    #expect(interleaver.earliestDecodingTime.seconds == 0)
    try add(interleaver, 0, pts: 0, dts: -66, key: true)
    try add(interleaver, 1, pts: -21)
    #expect(abs(interleaver.earliestDecodingTime.seconds + 0.066) < 1e-9)
  }
}

@Suite struct DecodingTimestampsTests {
  @Test("Increasing times are unchanged")
  func rising() throws {
    var times = DecodingTimestamps()
    for (pts, dts) in [(0, -2), (3, -1), (1, 0), (2, 1)] as [(Int64, Int64)] {
      var made = try packet(pts: pts, dts: dts)
      times.fit(&made)
      let (newPTS, newDTS) = (made.pts, made.dts)
      #expect(newPTS == pts && newDTS == dts)
    }
  }

  @Test("The DTS of a new encoder are raised above the old one's last, but not above the PTS")
  func rebased() throws {
    var times = DecodingTimestamps()
    // The old encoder ended at 97. The new one reorders by two and starts at 94.
    let given: [(Int64, Int64)] = [
      (96, 96), (97, 97), (100, 94), (106, 95), (103, 100), (102, 102),
    ]
    var out: [(Int64, Int64)] = []
    for (pts, dts) in given {
      var made = try packet(pts: pts, dts: dts)
      times.fit(&made)
      let (newPTS, newDTS) = (made.pts ?? -1, made.dts ?? -1)
      out.append((newPTS, newDTS))
    }
    #expect(out.map(\.0) == given.map(\.0), "no PTS may change")
    #expect(out.map(\.1) == [96, 97, 98, 99, 100, 102])
  }

  @Test("Packets without a DTS are ordered by their PTS")
  func missing() throws {
    var times = DecodingTimestamps()
    var first = try packet(pts: 5)
    first.dts = nil
    times.fit(&first)
    var second = try packet(pts: 6)
    second.dts = nil
    times.fit(&second)
    let (a, b) = (first.dts, second.dts)
    #expect(a == 5 && b == 6)
  }
}

@Suite struct BoundedQueueTests {
  private struct Item: ~Copyable, Sendable { let number: Int }

  @Test(
    "All items are received in order, and the producer is limited to the capacity",
    arguments: [0, 1, 3])
  func inOrder(_ capacity: Int) {
    let queue = BoundedQueue<Item>(capacity: capacity)
    let ahead = Atomic<Int>(0)
    let highest = Atomic<Int>(0)
    let producer = WorkThread(name: "producer") { () -> Bool in
      var isAllTaken = true
      for number in 0..<2000 {
        isAllTaken = queue.put(Item(number: number)) && isAllTaken
        let (_, now) = ahead.add(1, ordering: .relaxed)
        highest.max(now, ordering: .relaxed)
      }
      queue.close()
      return isAllTaken
    }
    var numbers: [Int] = []
    while let item = queue.take() {
      numbers.append(item.number)
      ahead.subtract(1, ordering: .relaxed)
    }
    #expect(producer.join() == true)
    #expect(numbers == Array(0..<2000))
    // The queued items, one that is counted late, and one that was just taken.
    #expect(highest.load(ordering: .relaxed) <= capacity + 2)
  }

  @Test("With capacity 0, no item is produced before it is requested")
  func turns() {
    let queue = BoundedQueue<Item>(capacity: 0)
    let made = Atomic<Int>(0)
    let producer = WorkThread(name: "producer") { () -> Bool in
      for number in 0..<3 {
        queue.waitForRoom()
        made.add(1, ordering: .sequentiallyConsistent)
        _ = queue.put(Item(number: number))
      }
      queue.close()
      return true
    }
    for asked in 0..<3 {
      usleep(50_000)
      #expect(made.load(ordering: .sequentiallyConsistent) == asked)
      var number = -1
      if let item = queue.take() { number = item.number }
      #expect(number == asked)
    }
    let last = queue.take() == nil
    #expect(last && producer.join() == true)
  }

  @Test("With capacity 0, closing wakes the other side")
  func closedWithoutCapacity() {
    let queue = BoundedQueue<Item>(capacity: 0)
    let producer = WorkThread(name: "producer") { () -> Bool in queue.put(Item(number: 0)) }
    usleep(20_000)
    queue.close()
    #expect(producer.join() == false)
    let other = BoundedQueue<Item>(capacity: 0)
    let consumer = WorkThread(name: "consumer") { () -> Bool in other.take() == nil }
    usleep(20_000)
    other.close()
    #expect(consumer.join() == true)
  }

  @Test("Closing by the consumer wakes a waiting producer")
  func closedByConsumer() {
    let queue = BoundedQueue<Item>(capacity: 1)
    let producer = WorkThread(name: "producer") { () -> Int in
      var put = 0
      while queue.put(Item(number: put)) { put += 1 }
      return put
    }
    var first = -1
    if let item = queue.take() { first = item.number }
    #expect(first == 0)
    queue.close()
    let count = producer.join() ?? -1
    #expect(count >= 1 && count <= 3)
    // Queued items can still be taken.
    var left = 0
    while let item = queue.take() { left += item.number >= 0 ? 1 : 0 }
    #expect(left <= 1)
    let isTaken = queue.put(Item(number: 9))
    #expect(!isTaken)
  }

  @Test("Closing by the producer wakes a waiting consumer")
  func closedByProducer() {
    let queue = BoundedQueue<Item>(capacity: 4)
    let consumer = WorkThread(name: "consumer") { () -> [Int] in
      var numbers: [Int] = []
      while let item = queue.take() { numbers.append(item.number) }
      return numbers
    }
    _ = queue.put(Item(number: 1))
    _ = queue.put(Item(number: 2))
    queue.close()
    queue.close()
    #expect(consumer.join() == [1, 2])
  }
}

@Suite struct WorkThreadTests {
  private final class Captured: Sendable {}

  @Test("What a job captured is released when its thread is joined, and its result is kept")
  func released() {
    for number in 0..<200 {
      var captured: Captured? = Captured()
      weak let seen = captured
      let thread = WorkThread(name: "a name of more than 15 bytes") { [captured] in
        captured == nil ? -1 : number
      }
      captured = nil
      #expect(thread.join() == number && thread.join() == number)
      #expect(seen == nil)
    }
  }
}

@Suite struct MediaPlaylistTests {
  @Test("Three formats: one map each, a discontinuity before the second and the third")
  func formats() throws {
    var playlist = MediaPlaylist(targetDuration: MediaTime(6, .one))
    playlist.begin(map: "a-init-0.mp4")
    playlist.add(segment: "a-0.m4s", duration: MediaTime(seconds: 3.3333333), start: .zero)
    playlist.begin(map: "a-init-1.mp4")
    playlist.add(segment: "a-1.m4s", duration: MediaTime(seconds: 6), start: .zero)
    playlist.add(segment: "a-2.m4s", duration: MediaTime(seconds: 0.5), start: .zero)
    playlist.begin(map: "a-init-2.mp4")
    playlist.add(segment: "a-3.m4s", duration: MediaTime(seconds: 7.6), start: .zero)
    var read = try Playlist(text: playlist.text)
    #expect(read.type == "EVENT" && !read.isEnded)
    playlist.end()
    read = try Playlist(text: playlist.text)
    #expect(read.type == "VOD" && read.isEnded)
    #expect(read.maps == ["a-init-0.mp4", "a-init-1.mp4", "a-init-2.mp4"])
    #expect(read.discontinuities == 2)
    #expect(read.segments.map(\.isDiscontinuous) == [false, true, false, true])
    #expect(read.segments.map(\.file) == (0...3).map { "a-\($0).m4s" })
    // RFC 8216, 4.3.3.1: every rounded EXTINF is at most the target duration.
    #expect(read.targetDuration == 8)
    #expect(read.segments.map(\.duration) == [3.333333, 6, 0.5, 7.6])
  }

  @Test("Durations are never negative and use a decimal point")
  func durations() throws {
    var playlist = MediaPlaylist(targetDuration: MediaTime(2, .one))
    playlist.begin(map: "i.mp4")
    playlist.add(segment: "0.m4s", duration: MediaTime(seconds: -1), start: .zero)
    #expect(playlist.text.contains("#EXTINF:0.000000,\n0.m4s\n"))
    #expect(playlist.text.contains("#EXT-X-TARGETDURATION:2\n"))
    #expect(playlist.text.hasPrefix("#EXTM3U\n"))
  }
}

@Suite struct TimestampRepairTests {
  private func repaired(
    _ times: [Int64?], durations: [Int64] = [], rate: Rational? = Rational(25, 1)
  ) throws -> (pts: [Int64], durations: [Int64], repairs: Int) {
    var repair = TimestampRepair(timeBase: Rational(1, 1000), frameRate: rate)
    var out: [Int64] = []
    var lengths: [Int64] = []
    for (index, time) in times.enumerated() {
      var frame = try VideoFrame()
      frame.pts = time
      frame.duration = index < durations.count ? durations[index] : 0
      repair.repair(&frame)
      let (pts, duration) = (frame.pts ?? -1, frame.duration)
      out.append(pts)
      lengths.append(duration)
    }
    return (out, lengths, repair.repairs)
  }

  @Test("Valid times are unchanged")
  func good() throws {
    let result = try repaired([-80, -40, 0, 41, 79, 500])
    #expect(result.pts == [-80, -40, 0, 41, 79, 500])
    #expect(result.repairs == 0)
  }

  @Test("Missing times follow from the duration, or else from the frame rate")
  func missing() throws {
    #expect(try repaired([nil, nil, nil]).pts == [0, 40, 80])
    #expect(try repaired([100, nil, nil], durations: [33, 0, 0]).pts == [100, 133, 173])
    #expect(try repaired([nil, nil], rate: nil).pts == [0, 40])
  }

  @Test("Repeated and decreasing times are raised by a tick, and counted")
  func falling() throws {
    let result = try repaired([0, 40, 40, 20, 80])
    #expect(result.pts == [0, 40, 41, 42, 80])
    #expect(result.repairs == 2)
  }

  @Test("Extreme times don't trap and are replaced")
  func absurd() throws {
    let result = try repaired(
      [0, .max, .min + 1, 1 << 61, 120], durations: [.max, -5, .min, 40, 0])
    #expect(zip(result.pts, result.pts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(result.pts.allSatisfy { abs($0) < 1 << 61 })
    #expect(result.durations.allSatisfy { $0 > 0 && $0 <= 1 << 40 })
  }
}

@Suite struct EventQueueTests {
  private static let events = [0.0, 1, 1, 2.5].map { RotationEvent(at: $0, .lock(true)) }

  /// A class around the feed, because the expectation macro doesn't support mutating calls.
  private final class Feed {
    private var feed: EventQueue

    init(_ source: EventSource, offset: Double) { feed = EventQueue(source, offset: offset) }

    func times(upTo seconds: Double = .infinity) throws -> [Double] {
      try feed.take(upTo: seconds).map(\.at)
    }
  }

  @Test("Events are returned up to a time, once each, in order")
  func due() throws {
    let feed = Feed(.list(Self.events), offset: 0)
    #expect(try feed.times(upTo: -1) == [])
    #expect(try feed.times(upTo: 0) == [0])
    #expect(try feed.times(upTo: 0.999) == [])
    #expect(try feed.times(upTo: 1) == [1, 1])
    #expect(try feed.times() == [2.5])
    #expect(try feed.times() == [])
  }

  @Test("An offset moves events, and those before the start apply at the start")
  func offset() throws {
    let later = Feed(.list(Self.events), offset: 2)
    #expect(try later.times(upTo: 3) == [2, 3, 3])
    let earlier = Feed(.list(Self.events), offset: -2)
    #expect(try earlier.times(upTo: 0) == [0, 0, 0])
    #expect(try earlier.times() == [0.5])
  }

  @Test("No events")
  func none() throws {
    #expect(try Feed(.none, offset: 5).times() == [])
  }
}

@Suite struct KeyframeClockTests {
  @Test("A keyframe is due at the start, at every interval, and on another canvas")
  func due() {
    var clock = KeyframeClock(every: MediaTime(2, .one))
    let (tall, wide) = (PixelSize(2, 4), PixelSize(4, 2))
    let asked = stride(from: 0.0, to: 9, by: 0.5).filter {
      clock.isDue(at: MediaTime(seconds: $0), canvas: $0 < 3 || $0 >= 6.5 ? tall : wide)
    }
    #expect(asked == [0, 2, 3, 5, 6.5, 8.5])
  }

  @Test(
    "An hour of irregular frames with gaps: a segment ends at every requested keyframe")
  func jitter() {
    var (clock, random) = (KeyframeClock(every: MediaTime(2, .one)), SeededGenerator(seed: 7))
    var (time, start, shift, longest) = (0.0, 0.0, 1.0 / 3, 0.0)
    while time < 3600 {
      let elapsed = (time + shift) - (start + shift)
      if clock.isDue(at: MediaTime(seconds: time), canvas: PixelSize(2, 4)), time > 0 {
        #expect(
          KeyframeClock.ends(after: MediaTime(seconds: elapsed), of: MediaTime(2, .one)),
          "\(elapsed)")
        longest = max(longest, elapsed)
        start = time
      }
      let hole = random.next() % 100 == 0 ? LivePlaylist.longestHole.seconds : 1.0 / 30
      time = ((time + hole) * 1000 + Double(random.next() % 5) - 2).rounded() / 1000
    }
    #expect(longest < 2.41, "\(longest)")
  }

  @Test("A new encoder begins a segment on any canvas")
  func encoder() {
    var clock = KeyframeClock(every: MediaTime(2, .one))
    let canvas = PixelSize(2, 4)
    let asked = stride(from: 0.0, to: 6, by: 0.5).filter {
      clock.isDue(at: MediaTime(seconds: $0), canvas: canvas, isFirst: $0 == 1.5)
    }
    #expect(asked == [0, 1.5, 3.5, 5.5])
  }

  @Test("A clock without an interval requests no keyframes")
  func never() {
    var clock = KeyframeClock(every: nil)
    let isDue = clock.isDue(at: .zero, canvas: PixelSize(2, 2))
    #expect(!isDue)
  }
}

@Suite struct MajorityCanvasTests {
  private func timeline(_ points: [(Double, InterfaceOrientation)]) -> OrientationTimeline {
    func point(_ at: Double, _ app: InterfaceOrientation) -> OrientationTimeline.Point {
      .init(at: at, device: app.device, appOrientation: app)
    }
    var timeline = OrientationTimeline(start: point(points[0].0, points[0].1))
    for (at, app) in points.dropFirst() { timeline.append(point(at, app)) }
    return timeline
  }

  @Test("The orientation that lasts longest up to the end of the input")
  func longest() {
    let turning = timeline([(0, .portrait), (3, .landscapeRight), (7, .portrait)])
    #expect(!MajorityCanvas.isLandscape(turning, duration: 10))
    #expect(MajorityCanvas.isLandscape(turning, duration: 7.9))
    #expect(!MajorityCanvas.isLandscape(turning, duration: 3))
    // Both landscape orientations count together.
    let both = timeline([(0, .portrait), (4, .landscapeLeft), (7, .landscapeRight)])
    #expect(MajorityCanvas.isLandscape(both, duration: 9))
  }

  @Test("With a tie or without a duration, the first orientation is used")
  func ties() {
    let even = timeline([(0, .landscapeLeft), (5, .portrait)])
    #expect(MajorityCanvas.isLandscape(even, duration: 10))
    #expect(MajorityCanvas.isLandscape(even, duration: 0))
    #expect(!MajorityCanvas.isLandscape(timeline([(0, .portrait)]), duration: 0))
  }
}

@Suite struct OutputContainerTests {
  @Test("Only HLS has another kind of segments")
  func segments() {
    #expect(OutputContainer.hls.with(.ts) == .hlsTS && OutputContainer.hls.with(.fmp4) == .hls)
    #expect(OutputContainer.mp4.with(.ts) == .mp4)
  }

  @Test("Names and schemes determine the container")
  func names() throws {
    let expected: [(String, OutputContainer)] = [
      ("a.mp4", .mp4), ("a.M4V", .mp4), ("b.MOV", .mov), ("x/y.m3u8", .hls), ("a.ts", .mpegts),
      ("a.flv", .flv), ("a.mkv", .matroska), ("a.webm", .webm), ("a.y4m", .y4m),
      ("rtmp://h/app/key", .flv), ("srt://h:9", .mpegts), ("udp://h:9", .mpegts),
      ("rtsp://h/cam", .rtsp),
      ("a.mkv.mp4", .mp4), ("odd:name.ts", .mpegts),
    ]
    for (name, container) in expected { #expect(try OutputContainer(target: name) == container) }
    #expect(try OutputContainer(target: "-", format: "mpegts") == .mpegts)
    for name in ["a", "-", "a.avi", "folder.d/a"] {
      let error = #expect(throws: UprightError.self) { try OutputContainer(target: name) }
      #expect(error?.code == .usage)
      #expect(error?.remedy.isEmpty == false)
    }
  }

  @Test("Defaults of the canvas, and containers that can follow")
  func defaults() {
    for container in OutputContainer.allCases {
      if container.defaultCanvas == .follow { #expect(container.canFollow) }
      #expect(container.canCarry(container.defaultCodec))
    }
    #expect(!OutputContainer.webm.canCarry(.h264))
    #expect(!OutputContainer.flv.canCarry(.hevc))
    #expect(!OutputContainer.y4m.canCarry(.h264))
    #expect(OutputContainer.mp4.canCarry(.av1))
  }
}
