import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightMedia
@testable import UprightFiles
@testable import UprightMediaIO

/// Decisions about times of different time bases, where seconds as floating-point numbers would be a little
/// too high or too low.
@Suite struct ExactTimeTests {
  private static let (video, audio) = (Rational(1, 90_000), Rational(1, 48_000))

  @Test("At equal times in different time bases, video comes first, for an hour")
  func ties() throws {
    let interleaver = PacketInterleaver(awaited: [true, true], cutsAtKeys: false)
    for second in Int64(0)..<3600 {
      let audio = try packet(pts: second * 48_000, base: Self.audio)
      interleaver.add(audio, track: 1, format: nil, isVideo: false)
      let frame = try packet(pts: second * 90_000, base: Self.video)
      interleaver.add(frame, track: 0, format: nil, isVideo: true)
    }
    interleaver.end(track: 0)
    interleaver.end(track: 1)
    var tracks: [Int] = []
    while let item = interleaver.next() { tracks.append(item.track) }
    #expect(tracks == (0..<7200).map { $0 % 2 })
  }

  @Test("A track without gaps lets others pass up to the exact end of its last packet")
  func gapless() throws {
    for start in Int64(0)..<1000 {
      let interleaver = PacketInterleaver(
        awaited: [true, true], cutsAtKeys: false, isGapless: true)
      let audio = try packet(pts: start * 960, duration: 960, base: Self.audio)
      interleaver.add(audio, track: 1, format: nil, isVideo: false)
      // One frame a tick before the end of the audio, and one at the end.
      for pts in [(start + 1) * 1800 - 1, (start + 1) * 1800] {
        let frame = try packet(pts: pts, base: Self.video)
        interleaver.add(frame, track: 0, format: nil, isVideo: true)
      }
      var tracks: [Int] = []
      while let item = interleaver.next() { tracks.append(item.track) }
      #expect(tracks == [1, 0], "\(start)")
    }
  }

  @Test("A keyframe is due from exactly a millisecond before its segment, which it ends")
  func keyframes() {
    let (interval, canvas) = (MediaTime(2, .one), PixelSize(16, 16))
    func milliseconds(_ ticks: Int64) -> MediaTime { MediaTime(ticks, Rational(1, 1000)) }
    for start in stride(from: Int64(0), to: 100_000, by: 137) {
      var clock = KeyframeClock(every: interval)
      let isFirstDue = clock.isDue(at: milliseconds(start), canvas: canvas)
      let isEarlyDue = clock.isDue(at: milliseconds(start + 1998), canvas: canvas)
      let isDue = clock.isDue(at: milliseconds(start + 1999), canvas: canvas)
      #expect(isFirstDue && !isEarlyDue && isDue, "\(start)")
      let elapsed = milliseconds(start + 1998) - milliseconds(start)
      #expect(KeyframeClock.ends(after: elapsed, of: interval), "\(start)")
    }
    #expect(!KeyframeClock.ends(after: milliseconds(1997), of: interval))
  }

  /// Segments that only record the decoding times.
  private final class Recorder: HLSSegments {
    let fileExtension = "none"
    private(set) var times: [Int64?] = []

    func begin(_ description: OutputDescription, segment index: Int) -> [UInt8]? { nil }
    func write(_ packet: consuming Packet, track: Int) { times.append(packet.dts) }
    func cut() -> [UInt8] { [] }
  }

  @Test("Segments are moved by no more than needed to begin at zero")
  func offsets() throws {
    for ticks in stride(from: Int64(0), through: 180_000, by: 600) {
      let recorder = Recorder()
      let cutter = SegmentCutter(recorder, duration: MediaTime(6, .one))
      let format = EncodedFormat(
        index: 0, size: PixelSize(16, 16), parameters: try CodecParameters(naming: "h264"))
      cutter.begin(
        OutputDescription(
          format: format, videoTimeBase: Self.video, earliestTime: MediaTime(-ticks, Self.video)))
      var pieces: [MediaTime] = []
      func emit(_ piece: SegmentCutter.Piece) {
        if case .segment(_, let start, let duration) = piece { pieces += [start, duration] }
      }
      let first = try packet(pts: 0, dts: -ticks, duration: 3600, key: true, base: Self.video)
      try cutter.write(first, track: 0, format: nil, emit: emit)
      try cutter.finish(emit: emit)
      #expect(recorder.times == [0], "\(ticks)")
      #expect(pieces == [MediaTime(ticks, Self.video), MediaTime(3600, Self.video)])
    }
  }

  @Test(
    "A segment before missing frames ends with its last frame, and the next format begins after them"
  )
  func hole() throws {
    let recorder = Recorder()
    let cutter = SegmentCutter(recorder, duration: MediaTime(6, .one))
    let format = EncodedFormat(
      index: 0, size: PixelSize(16, 16), parameters: try CodecParameters(naming: "h264"))
    cutter.begin(OutputDescription(format: format, videoTimeBase: Self.video))
    var pieces: [MediaTime] = []
    func emit(_ piece: SegmentCutter.Piece) {
      if case .segment(_, let start, let duration) = piece { pieces += [start, duration] }
    }
    for second in [Int64(0), 1, 9, 10] {
      let frame = try packet(
        pts: second * 90_000, dts: second * 90_000, duration: 90_000, key: second % 9 == 0,
        base: Self.video)
      try cutter.write(frame, track: 0, format: second == 9 ? format : nil, emit: emit)
    }
    try cutter.finish(emit: emit)
    #expect(pieces == [0, 2, 9, 2].map { MediaTime($0, .one) })
  }

  @Test(
    "Durations in playlists",
    arguments: [
      (MediaTime(0, .one), "0.000000"), (MediaTime(6, .one), "6.000000"),
      (MediaTime(1, Rational(1, 3)), "0.333333"), (MediaTime(2, Rational(1, 3)), "0.666667"),
      (MediaTime(180_180, video), "2.002000"), (MediaTime(1, Rational(1, 1_000_000)), "0.000001"),
      (MediaTime(1_999_999_999, Rational(1, 1_000_000_000)), "2.000000"),
      (MediaTime(.max, .one), "9223372036854.775807"),
    ])
  func text(time: MediaTime, text: String) {
    #expect(time.decimalSeconds == text)
  }

  @Test("A signal applies from the first frame that is at most a millisecond earlier")
  func firstTick() {
    let coarse = Rational(1, 600)
    for second in Int64(0)..<3600 {
      #expect((second * 600).firstTick(of: Self.video, from: coarse) == second * 90_000 - 90)
    }
    #expect(Int64(7).firstTick(of: coarse, from: coarse) == 7)
    #expect(Int64.max.firstTick(of: Self.video, from: .one) == .max)
    #expect(Int64.min.firstTick(of: Self.video, from: .one) == .min)
  }

  @Test("A packet is moved in its own time base, and never beyond the limits of timestamps")
  func moved() throws {
    var moved = try packet(pts: 1000, dts: 900, base: Self.audio)
    moved.move(by: MediaTime(-1, Rational(1, 100)))
    #expect(moved.pts == 520 && moved.dts == 420)
    moved.move(by: MediaTime(.max, .one))
    let limit: Int64 = (1 << 60) + 520
    #expect(moved.pts == limit)
    moved.pts = nil
    #expect(moved.time == moved.decodingTime)
    moved.dts = nil
    moved.move(by: MediaTime(1, .one))
    #expect(moved.time == nil && moved.decodingTime == nil)
  }
}
