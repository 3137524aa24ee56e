import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightMedia
@testable import UprightMediaIO

/// Times near the limits of 64 bits: unknown when read, clamped when converted.
@Suite struct TimeLimitTests {
  private static let limits: [Int64] = [
    .min + 1, -(1 << 61), 1 << 61, .max - 1, .max,
  ]

  private static func packet(
    _ pts: Int64?, _ dts: Int64?, duration: Int64 = 40, timeBase: Rational = Rational(1, 1000)
  ) throws -> Packet {
    var packet = try Packet()
    (packet.pts, packet.dts, packet.duration) = (pts, dts, duration)
    packet.timeBase = timeBase
    return packet
  }

  @Test("An implausible time is unknown", arguments: limits)
  func implausible(time: Int64) throws {
    var packet = try Self.packet(40, time, duration: time)
    packet.dropImplausibleTimes()
    let (pts, dts, duration) = (packet.pts, packet.dts, packet.duration)
    #expect(pts == 40)
    #expect(dts == nil)
    #expect(duration == 0)
  }

  @Test("A time beyond 136 years is unknown, in any time base")
  func years() throws {
    for (ticks, isKept) in [(Int64(1) << 31, true), (1 << 32, false), (-(1 << 32), false)] {
      var packet = try Self.packet(ticks, nil, timeBase: Rational(1, 1))
      packet.dropImplausibleTimes()
      let pts = packet.pts
      #expect((pts != nil) == isKept, "\(ticks) s")
    }
  }

  @Test("Seconds are converted to ticks and clamped")
  func ticks() {
    let nanosecond = Rational(1, 1_000_000_000)
    #expect(Rational(1, 1000).ticks(in: 1.4996) == 1500)
    #expect(nanosecond.ticks(in: 1e300) == 1 << 60)
    #expect(nanosecond.ticks(in: -.infinity) == -(1 << 60))
    #expect(nanosecond.ticks(in: .nan) == 0)
    #expect(Rational(0, 1).ticks(in: 1) == 1 << 60)
    #expect(Int64.max.rescaled(from: Rational(1, 1), to: nanosecond) == 1 << 60)
    #expect(Int64(3).rescaled(from: Rational(1, 25), to: Rational(1, 1000)) == 120)
  }

  @Test("Packets with extreme durations do not move a broadcast's clock out of range")
  func joined() throws {
    var joined = ClockJoiner(start: 0)
    for index in 0..<5000 {
      var packet = try Self.packet(
        index % 2 == 0 ? 1 << 40 : 0, nil, duration: 1 << 40, timeBase: Rational(1, 90_000))
      joined.fit(&packet)
      let pts = packet.pts
      #expect(pts != nil, "packet \(index)")
    }
  }

  @Test("Decoding times increase up to the largest value")
  func decodingTimes() throws {
    var times = DecodingTimestamps()
    for _ in 0..<3 {
      var packet = try Self.packet(.max, .max)
      times.fit(&packet)
      let dts = packet.dts
      #expect(dts == .max)
    }
  }

  @Test("A packet without a time follows the one before it")
  func untimed() throws {
    var times = DecodingTimestamps()
    var found: [Int64?] = []
    for time in [nil, 100, nil, nil, 110] as [Int64?] {
      var packet = try Self.packet(time, nil)
      times.fit(&packet)
      let dts = packet.dts
      found.append(dts)
    }
    #expect(found == [0, 100, 140, 180, 181])
  }

  @Test("Packets without times increase after a duration that reaches past the largest time")
  func untimedAtTheLimit() throws {
    var times = DecodingTimestamps()
    var last = Int64.min
    for time in [1 << 62, nil, nil, nil] as [Int64?] {
      var packet = try Self.packet(time, nil, duration: 1 << 62)
      times.fit(&packet)
      let dts = packet.dts ?? .min
      #expect(dts > last)
      last = dts
    }
  }

  @Test("Frames without times at an extremely low frame rate")
  func slow() throws {
    var repair = TimestampRepair(
      timeBase: Rational(1, 1_000_000_000), frameRate: Rational(1, Int(Int32.max)))
    var last: Int64?
    for _ in 0..<20_000 {
      var frame = try VideoFrame()
      repair.repair(&frame)
      let time = frame.pts
      let pts = try #require(time)
      if let last { #expect(pts > last) }
      last = pts
    }
  }

  @Test("A playlist with an infinite segment")
  func playlist() {
    var playlist = MediaPlaylist(
      targetDuration: MediaTime(6, .one), date: CalendarTime(seconds: 0))
    playlist.add(segment: "0.ts", duration: MediaTime(.max, .one), start: .zero)
    #expect(playlist.text.contains("#EXT-X-TARGETDURATION:\(1 << 60)\n"))
  }

  struct Found: CustomTestStringConvertible, Sendable {
    let file: String
    let output: String
    var start: Double?
    var testDescription: String { "\(file) to \(output)" }
  }

  @Test(
    "Files with such times are transcoded or rejected", .clips("found"),
    arguments: [
      Found(file: "trap-audiotranscoder-135.mkv", output: "out.flv"),
      Found(file: "trap-audiotranscoder-135.mkv", output: "out.ts"),
      Found(file: "trap-audiotranscoder-135.mkv", output: "out.m3u8"),
      Found(file: "trap-hlssink-149.mkv", output: "out.m3u8"),
      Found(file: "trap-muxer-161-chapters.mp4", output: "out.mp4"),
      Found(file: "trap-sessionrun-156-start.mkv", output: "out.mp4", start: 0.1),
    ])
  func found(_ found: Found) throws {
    let scratch = try Scratch()
    do {
      _ = try Transcoded(
        SharedFiles.url("clips/found/\(found.file)").path, to: scratch.path(found.output)
      ) {
        $0.segments = .ts
        $0.start = found.start
      }
    } catch let error as UprightError {
      #expect(error.code == .badData, "\(error)")
    }
  }
}
