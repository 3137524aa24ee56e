import Foundation
import UprightOrientation
import Testing
import UprightMediaIO
@testable import UprightMedia
import UprightPolicy
import UprightTestSupport

@testable import UprightLive

/// Parts, and the answers of the origin (RFC 8216bis, 4.4.4.9 and 6.2.5). No encoder: costs less than a second.
@Suite struct LowLatencyTests {
  private static let base = Rational(1, 90_000)
  private static let target = MediaTime(334_000, Rational(1, 1_000_000))

  /// Segments whose bytes are the numbers of the frames.
  private final class Frames: HLSSegments {
    let fileExtension = "m4s"
    private var frames: [UInt8] = []

    func begin(_ description: OutputDescription, segment index: Int) -> [UInt8]? { [0] }
    func write(_ packet: consuming Packet, track: Int) {
      frames.append(UInt8(truncatingIfNeeded: (packet.pts ?? 0) / 900))
    }
    func cut() -> [UInt8] {
      defer { frames = [] }
      return frames
    }
  }

  /// A sink in a folder, fed with frames at given times.
  private final class Stage {
    let origin: HLSOrigin
    let scratch: Scratch
    let sink: HLSSink
    private var hasBegun = false

    init(
      _ scratch: Scratch? = nil, origin: HLSOrigin = HLSOrigin(), turns: TurnLog = TurnLog(),
      comesBack: Bool = false
    ) throws {
      self.origin = origin
      self.scratch = try scratch ?? Scratch()
      sink = try HLSSink(
        HLSMedia(Frames(), segmentDuration: MediaTime(2, .one), turns: turns),
        playlistPath: self.scratch.path("index.m3u8"), isLive: true,
        lowLatency: .init(origin: origin), unfinished: UnfinishedFiles(),
        comesBack: { comesBack })
    }

    /// Writes frames of `step` hundredths of a second. The first of each two seconds is a keyframe; the first of all
    /// has a new format if `changes` is set.
    func write(from start: Int, to end: Int, step: Int = 3, changes: Bool = false) throws {
      let format = EncodedFormat(
        index: 0, size: PixelSize(16, 16), parameters: try CodecParameters(naming: "h264"))
      if !hasBegun {
        sink.begin(
          OutputDescription(format: format, videoTimeBase: LowLatencyTests.base))
        hasBegun = true
      }
      var key = start
      for time in stride(from: start, to: end, by: step) {
        let isKey = time == start || time - key >= 200
        if isKey { key = time }
        let frame = try packet(
          pts: Int64(time * 900), dts: Int64(time * 900), duration: Int64(step * 900), key: isKey,
          base: LowLatencyTests.base)
        try sink.write(frame, track: 0, format: changes && time == start ? format : nil)
      }
    }

    func text(_ query: String? = nil) async throws -> String {
      guard case .playlist(let text, _) = await origin.playlist("index.m3u8", query: query) else {
        throw Absent()
      }
      return text
    }
  }

  private struct Absent: Error {}

  @Test("Parts have 85 to 100 % of the target, and a segment's parts are its bytes")
  func parts() async throws {
    for step in [1, 2, 3, 4, 5] {
      let stage = try Stage()
      try stage.write(from: 0, to: 700, step: step)
      let list = try Playlist(text: try await stage.text())
      #expect(list.segments.count == 3 && list.openParts.count > 0, "\(step)")
      for segment in list.segments {
        #expect(segment.parts.first?.isIndependent == true)
        var whole: [UInt8] = []
        for part in segment.parts {
          whole += try #require(await stage.origin.file(part.file)).bytes
        }
        let file = try Data(contentsOf: URL(fileURLWithPath: stage.scratch.path(segment.file)))
        #expect(whole == Array(file) && !whole.isEmpty, "\(segment.file), \(step)")
      }
      // The playlist in the folder has no parts, which are only in memory.
      let saved = try String(contentsOfFile: stage.scratch.path("index.m3u8"), encoding: .utf8)
      #expect(!saved.contains("EXT-X-PART"))
    }
  }

  /// The durations of the parts of ten seconds of frames at these times, in milliseconds, a keyframe each two seconds.
  private static func parts(
    of times: [Int], _ settings: LowLatencyHLS
  ) throws -> [(duration: MediaTime, isLast: Bool)] {
    let cutter = SegmentCutter(
      Frames(), duration: MediaTime(2, .one), partDuration: settings.partDuration)
    let format = EncodedFormat(
      index: 0, size: PixelSize(16, 16), parameters: try CodecParameters(naming: "h264"))
    cutter.begin(OutputDescription(format: format, videoTimeBase: base))
    var parts: [(duration: MediaTime, isLast: Bool)] = []
    func emit(_ piece: SegmentCutter.Piece) {
      if case .part(let part) = piece { parts.append((part.duration, part.next != .part)) }
    }
    var key = 0
    for (time, next) in zip(times, times.dropFirst()) {
      let isKey = time == 0 || time / 2000 > key / 2000
      if isKey { key = time }
      let frame = try packet(
        pts: Int64(time * 90), dts: Int64(time * 90), duration: Int64((next - time) * 90),
        key: isKey, base: base)
      try cutter.write(frame, track: 0, format: nil, emit: emit)
    }
    try cutter.finish(emit: emit)
    return parts
  }

  @Test(
    "Regular frames fill parts, and none is repeated",
    arguments: [
      (0.2, [60, 50, 30, 25, 24, 20, 15]), (0.334, [60, 30, 25, 24, 20, 15, 10]), (0.5, [30, 24]),
    ])
  func regular(_ seconds: Double, _ rates: [Int]) throws {
    let settings = LowLatencyHLS(partSeconds: seconds)
    let longest = settings.partDuration
    for rate in rates {
      let usual = MediaTime(1, Rational(1, rate))
      #expect(settings.repeats(usual: usual).after > usual, "\(rate)")
      let times = (0...10 * rate).map { ($0 * 1000 + rate / 2) / rate }
      for part in try Self.parts(of: times, settings) {
        #expect(part.duration <= longest, "\(rate)")
        #expect(part.isLast || part.duration.seconds >= longest.seconds * 0.85, "\(rate)")
      }
    }
    // Neither two nor three frames are a part of 0.2 s.
    let coarse = MediaTime(1, Rational(1, 12))
    #expect(LowLatencyHLS(partSeconds: 0.2).repeats(usual: coarse).after < coarse)
  }

  @Test("Irregular frames make no part longer than the target")
  func irregular() throws {
    let settings = LowLatencyHLS(partSeconds: 0.2)
    let longest = settings.repeats(usual: MediaTime(1, Rational(1, 30))).after
    var random = SeededGenerator()
    for _ in 0..<20 {
      var times = [0]
      while let last = times.last, last < 10_000 {
        times.append(last + Int.random(in: 22...Int(longest.seconds * 1000), using: &random))
      }
      let parts = try Self.parts(of: times, settings)
      #expect(parts.allSatisfy { $0.duration <= settings.partDuration }, "\(times)")
    }
  }

  @Test("The first segment is 1, for hls.js, or follows that of an earlier run without parts")
  func first() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 100)
    let list = try Playlist(text: try await stage.text())
    #expect(list.mediaSequence == 1 && list.segments.isEmpty && list.discontinuities == 0)
    #expect(list.openParts.first?.file == "index-1.0.m4s")
    var earlier = LivePlaylist(segmentDuration: MediaTime(2, .one))
    earlier.begin(map: "init.mp4")
    for number in 0...1 {
      earlier.add(
        segment: "\(number).m4s", duration: MediaTime(2, .one), start: MediaTime(2, .one) * number)
    }
    for (text, next) in [(earlier.text, 2), ("#EXTM3U\n", 1), ("#EXT-X-STREAM-INF:\n", 1)] {
      let later = LivePlaylist(
        segmentDuration: MediaTime(2, .one), partTarget: Self.target, continuing: text)
      #expect(later.nextSegment == next, "\(text)")
    }
  }

  @Test("A change of format ends part and segment, with the discontinuity before the next hint")
  func turn() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 340)
    try stage.write(from: 342, to: 343, changes: true)
    var text = try await stage.text()
    let end = """
      index-2.m4s
      #EXT-X-DISCONTINUITY
      #EXT-X-MAP:URI="index-init-3.mp4"
      #EXT-X-PRELOAD-HINT:TYPE=PART,URI="index-3.0.m4s"

      """
    #expect(text.hasSuffix(end), "\(text)")
    try stage.write(from: 345, to: 390)
    text = try await stage.text()
    let tail = text.components(separatedBy: "index-2.m4s\n")[1]
    #expect(
      tail.hasPrefix("#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"index-init-3.mp4\"\n"), "\(tail)")
    #expect(tail.contains("URI=\"index-3.0.m4s\",INDEPENDENT=YES\n"))
    #expect(tail.contains("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"index-3.1.m4s\"\n"))
  }

  @Test("Parts are listed for three target durations, and removed three later")
  func removal() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 4000)
    let list = try Playlist(text: try await stage.text())
    #expect(list.segments.count == 12 && list.mediaSequence == 8)
    #expect(list.segments.map { !$0.parts.isEmpty } == (0..<12).map { $0 >= 9 })
    // Parts are kept for a target duration more than they must.
    for (segment, isHere) in [(20, true), (17, true), (13, true), (12, false), (1, false)] {
      #expect((await stage.origin.file("index-\(segment).0.m4s") != nil) == isHere, "\(segment)")
    }
  }

  @Test(
    "No part outlives its time, however often the format changes", arguments: [20, 50, 110, 167])
  func shortSegments(_ length: Int) async throws {
    let stage = try Stage()
    for turn in 0..<100 {
      try stage.write(from: turn * length, to: (turn + 1) * length, changes: true)
    }
    let last = try #require(try Playlist(text: try await stage.text()).segments.last)
    let number = try #require(Int(last.file.filter(\.isNumber).dropLast()))
    // Six target durations and one more, and those that are listed in any case.
    let kept = max(15, 1500 / length + 1)
    for segment in 1..<number - kept {
      let part = await stage.origin.file("index-\(segment).0.m4s")
      #expect(part == nil, "\(segment) of \(number)")
    }
  }

  /// Costs 6 s, three target durations.
  @Test("Parts of a run that another continues expire; those of the next run stay", .long)
  func restart() async throws {
    let origin = HLSOrigin()
    let first = try Stage(origin: origin, comesBack: true)
    try first.write(from: 0, to: 550)
    try first.sink.finish(isPartial: false)
    #expect(await origin.file("index-1.0.m4s") != nil)
    let second = try Stage(first.scratch, origin: origin)
    try second.write(from: 0, to: 150)
    let open = try Playlist(text: try await second.text()).openParts.map(\.file)
    #expect(!open.isEmpty)
    let end = ContinuousClock.now + .seconds(60)
    while await origin.file("index-1.0.m4s") != nil, .now < end {
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(await origin.file("index-1.0.m4s") == nil)
    #expect(await origin.file("index-2.3.m4s") == nil)
    for file in open { #expect(await origin.file(file) != nil, "\(file)") }
  }

  /// Costs 6 s, three target durations.
  @Test("The playlist of a run that has ended lists no parts once they have expired", .long)
  func ended() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 550)
    try stage.sink.finish(isPartial: false)
    let list = try await stage.text()
    #expect(list.contains("#EXT-X-PART:") && list.hasSuffix("#EXT-X-ENDLIST\n"))
    let end = ContinuousClock.now + .seconds(60)
    while try await stage.text().contains("#EXT-X-PART:"), .now < end {
      try await Task.sleep(for: .milliseconds(100))
    }
    let left = try Playlist(text: try await stage.text())
    #expect(left.segments.map(\.file) == (try Playlist(text: list)).segments.map(\.file))
    #expect(try await stage.text().hasSuffix("#EXT-X-ENDLIST\n"))
    #expect(await stage.origin.file("index-1.0.m4s") == nil)
  }

  @Test("Delta updates skip what is before the boundary, and nothing else")
  func delta() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 1005)
    #expect(try await stage.text("_HLS_skip=YES") == stage.text())
    try stage.write(from: 1005, to: 4020)
    let whole = try await stage.text()
    for query in ["_HLS_skip=YES", "_HLS_skip=v2&other=1"] {
      let delta = try await stage.text(query)
      let read = try Playlist(text: delta)
      #expect(read.skipped == 6 && read.segments.count == 6, "\(delta)")
      let first = try #require(read.segments.first?.file)
      #expect(whole.components(separatedBy: first)[1] == delta.components(separatedBy: first)[1])
    }
  }

  @Test("A turn is listed once its segment is complete, and in delta updates that skip the segment")
  func turnRange() async throws {
    let plan = try OrientationPlan(
      PolicyDocument(), events: [RotationEvent(at: 8.04, .device(.landscapeLeft))])
    var pending = PendingTurns()
    pending.add(plan.entries)
    let log = TurnLog()
    pending.log(upTo: 8.04, as: MediaTime(804, Rational(1, 100)), in: log)
    let stage = try Stage(turns: log)
    try stage.write(from: 0, to: 804)
    #expect(try Playlist(text: try await stage.text()).turns.isEmpty)
    try stage.write(from: 804, to: 1005)
    // hls.js would fail at a date in a segment that isn't complete.
    let open = try Playlist(text: try await stage.text())
    #expect(open.turns.isEmpty && !open.openParts.isEmpty)
    try stage.write(from: 1005, to: 1010)
    let early = try Playlist(text: try await stage.text())
    #expect(early.turns.map(\.to) == ["landscapeRight"])
    try stage.write(from: 1011, to: 1206)
    try stage.write(from: 1206, to: 3200)
    let (whole, delta) = (try await stage.text(), try await stage.text("_HLS_skip=YES"))
    #expect(delta.contains("EXT-X-SKIP") && !delta.contains("index-5.m4s"))
    for text in [whole, delta] {
      #expect(try Playlist(text: text).turns.map(\.id) == early.turns.map(\.id))
    }
  }

  @Test("A request waits for its part or segment, and no longer")
  func blocking() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 100)
    let origin = stage.origin
    async let part = origin.playlist("index.m3u8", query: "_HLS_msn=1&_HLS_part=3")
    async let segment = origin.playlist("index.m3u8", query: "_HLS_msn=1")
    async let past = origin.playlist("index.m3u8", query: "_HLS_msn=1&_HLS_part=9")
    async let hinted = origin.file("index-1.3.m4s")
    #expect(until { origin.waiting == 4 })
    try stage.write(from: 102, to: 130)
    guard case .playlist(let text, 12) = await part else { throw Absent() }
    #expect(text.contains("index-1.3.m4s\"") && text.contains("URI=\"index-1.4.m4s\""))
    #expect(await hinted != nil && origin.waiting == 2)
    try stage.write(from: 132, to: 190)
    // The last part comes with its segment.
    #expect(origin.waiting == 2)
    try stage.sink.write(
      packet(pts: 200 * 900, dts: 200 * 900, duration: 2700, key: true, base: Self.base), track: 0,
      format: nil)
    guard case .playlist(let whole, _) = await segment else { throw Absent() }
    #expect(whole.contains("index-1.m4s\n"))
    // Part 9 of segment 1 is part 0 of segment 2, which isn't there yet.
    #expect(origin.waiting == 1)
    try stage.write(from: 203, to: 240)
    guard case .playlist(let next, _) = await past else { throw Absent() }
    #expect(next.contains("index-2.0.m4s\""))
    #expect(origin.waiting == 0)
  }

  static let malformed = [
    "_HLS_msn=-1", "_HLS_msn=x", "_HLS_msn=", "_HLS_msn", "_HLS_msn=1.5", "_HLS_msn=0x1",
    "_HLS_msn=99999999999999999999", "_HLS_msn=2&_HLS_msn=3", "_HLS_part=1", "_HLS_part=0&x=1",
    "_HLS_msn=2&_HLS_part=-1", "_HLS_msn=2&_HLS_part=a", "_HLS_skip=NO", "_HLS_skip=",
    "_HLS_msn=4", "_HLS_msn=999999999999999999", "_HLS_msn=2&_HLS_part=30",
    "_HLS_msn=3&_HLS_part=999999999999999999",
  ]

  @Test("Directives that are wrong or too far ahead are refused at once")
  func refusals() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 290)
    for query in Self.malformed {
      guard case .malformed(let reason) = await stage.origin.playlist("index.m3u8", query: query)
      else {
        Issue.record("\(query) is accepted")
        continue
      }
      #expect(!reason.isEmpty)
    }
    #expect(await stage.origin.playlist("other.m3u8", query: "_HLS_msn=1") == .missing)
    for file in ["index-2.9.m4s", "index-1.99.m4s", "other", ""] {
      #expect(await stage.origin.file(file) == nil)
    }
    #expect(stage.origin.waiting == 0)
  }

  @Test("After the end nothing waits; a session that comes back ends its waits with an error")
  func ends() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 290)
    let origin = stage.origin
    async let waiting = origin.playlist("index.m3u8", query: "_HLS_msn=3")
    async let hinted = origin.file("index-2.2.m4s")
    #expect(until { origin.waiting == 2 })
    try stage.sink.finish(isPartial: false)
    guard case .playlist(let text, _) = await waiting else { throw Absent() }
    #expect(text.hasSuffix("#EXT-X-ENDLIST\n") && !text.contains("PRELOAD"))
    #expect(await hinted != nil)
    #expect(try await stage.text("_HLS_msn=77&_HLS_part=5&_HLS_skip=YES") == text)

    let other = try Stage(comesBack: true)
    try other.write(from: 0, to: 50)
    let second = other.origin
    async let late = second.playlist("index.m3u8", query: "_HLS_msn=2")
    async let last = second.file("index-1.1.m4s")
    #expect(until { second.waiting == 2 })
    try other.sink.finish(isPartial: false)
    #expect(await late == .late)
    #expect(await last != nil)
    // The next run continues the numbers, after a discontinuity.
    let again = try Stage(other.scratch)
    try again.write(from: 0, to: 50)
    let list = try Playlist(text: try await again.text())
    #expect(list.segments.map(\.file) == ["index-1.m4s"])
    #expect(list.openParts.map(\.file) == ["index-2.0.m4s"] && list.discontinuities == 1)
  }

  @Test("Playlists that share an origin report each other")
  func reports() async throws {
    let origin = HLSOrigin()
    func edition(_ last: HLSOrigin.Part?, segment: Int) -> HLSOrigin.Edition {
      .init(
        text: "#EXTM3U\n", delta: nil, lastSegment: segment, lastPart: last, hint: nil,
        targetDuration: 2, partTarget: 0.334)
    }
    origin.publish(edition(.init(segment: 7, index: 2), segment: 6), as: "a.m3u8")
    origin.publish(edition(nil, segment: 6), as: "b.m3u8")
    #expect(
      await origin.playlist("a.m3u8")
        == .playlist("#EXTM3U\n#EXT-X-RENDITION-REPORT:URI=\"b.m3u8\",LAST-MSN=6\n", maxAge: 1))
    #expect(
      await origin.playlist("b.m3u8")
        == .playlist(
          "#EXTM3U\n#EXT-X-RENDITION-REPORT:URI=\"a.m3u8\",LAST-MSN=7,LAST-PART=2\n", maxAge: 1))
  }

  @Test("Ten thousand waits end together, and none is left behind by a task that is cancelled")
  func crowd() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 100)
    let origin = stage.origin
    let answers = Task {
      await withTaskGroup(of: Bool.self, returning: Int.self) { group in
        for _ in 0..<10_000 {
          group.addTask {
            let answer = await origin.playlist("index.m3u8", query: "_HLS_msn=1&_HLS_part=3")
            return if case .playlist = answer { true } else { false }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }
    #expect(until { origin.waiting == 10_000 })
    try stage.write(from: 102, to: 140)
    #expect(await answers.value == 10_000 && origin.waiting == 0)
    let cancelled = Task { await origin.playlist("index.m3u8", query: "_HLS_msn=2") }
    #expect(until { origin.waiting == 1 })
    cancelled.cancel()
    #expect(await cancelled.value == .late && origin.waiting == 0)
  }

  @Test("What is too late is answered after three target durations", .realTime)
  func late() async throws {
    let stage = try Stage()
    try stage.write(from: 0, to: 100)
    let start = ContinuousClock.now
    #expect(await stage.origin.playlist("index.m3u8", query: "_HLS_msn=2") == .late)
    let waited = start.duration(to: .now)
    #expect(waited > .seconds(6), "\(waited)")
  }

  @Test("Sessions that can't have parts are refused")
  func settings() throws {
    func code(_ change: (inout LiveConfiguration) -> Void) -> UprightError.Code? {
      var configuration = LiveConfiguration(
        input: .published(PublishedFeed()), outputs: [.hls(folder: "/tmp/none")])
      configuration.lowLatency = LowLatencyHLS()
      change(&configuration)
      do throws(UprightError) { _ = try configuration.targets() } catch { return error.code }
      return nil
    }
    #expect(code { _ in } == nil)
    #expect(code { $0.options.encoderOptions["bf"] = "0" } == nil)
    let wrong: [(inout LiveConfiguration) -> Void] = [
      { $0.lowLatency?.partSeconds = .nan }, { $0.lowLatency?.partSeconds = 0.05 },
      { $0.lowLatency?.partSeconds = 2.5 }, { $0.options.segments = .ts },
      { $0.options.encoderOptions["bf"] = "2" }, { $0.outputs = [.file(path: "/tmp/none.ts")] },
      { $0.segmentSeconds = 0.5 },
    ]
    for change in wrong { #expect(code(change) == .usage) }
  }
}
