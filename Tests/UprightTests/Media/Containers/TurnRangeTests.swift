import Foundation
import Testing
import UprightOrientation
import UprightPolicy
import UprightTestSupport

@testable import UprightMedia

/// The turns that playlists list as EXT-X-DATERANGE (RFC 8216, 4.3.2.7).
@Suite struct TurnRangeTests {
  private static let two = MediaTime(2, .one)

  /// Returns a log of the turns of events, with frames at each tenth of a second.
  private static func log(
    _ events: [(at: Double, device: DeviceOrientation)], policy: PolicyDocument = PolicyDocument(),
    date: CalendarTime? = nil
  ) throws -> TurnLog {
    let plan = try OrientationPlan(
      policy, events: events.map { RotationEvent(at: $0.at, .device($0.device)) })
    let log = TurnLog(date: date)
    var pending = PendingTurns()
    pending.add(plan.entries)
    for frame in 0..<400 {
      let time = MediaTime(Int64(frame), Rational(1, 10))
      pending.log(upTo: time.seconds, as: time, in: log)
    }
    return log
  }

  /// Adds segments of two seconds, with the turns of `log`, as sinks do.
  private static func add(
    _ count: Int, to list: inout LivePlaylist, from first: Int = 0, _ log: TurnLog
  ) {
    for index in first..<first + count {
      let number = list.nextSegment
      if index == first { list.begin(map: "i-\(number).mp4") }
      list.add(segment: "\(number).m4s", duration: two, start: two * index)
      for turn in log.turns(from: two * index, for: two, offset: .zero) {
        list.add(turn, size: PixelSize(1280, 720))
      }
    }
  }

  @Test("A turn is listed with its date, both orientations, size and reason, while its segment is")
  func live() throws {
    let log = try Self.log([(5, .landscapeLeft), (6, .portrait)])
    var list = LivePlaylist(segmentDuration: Self.two)
    Self.add(4, to: &list, log)
    let read = try Playlist(text: list.text)
    let zero = try #require(read.segments.first?.date)
    #expect(read.turns.map(\.from) == ["portrait", "landscapeRight"])
    #expect(read.turns.map(\.to) == ["landscapeRight", "portrait"])
    #expect(read.turns.allSatisfy { $0.size == "1280x720" && $0.reason == "device" })
    #expect(read.turns.allSatisfy { $0.duration == 0 && $0.category == "upright.turn" })
    for (turn, seconds) in zip(read.turns, [5.0, 6]) {
      #expect(abs(turn.start.timeIntervalSince(zero) - seconds) < 0.002)
    }
    #expect(Set(read.turns.map(\.id)).count == 2)
    // The second one is the first frame of segment 3, the first one in segment 2.
    var (counts, text) = ([Int](), list.text)
    for index in 4..<12 {
      list.add(segment: "\(index).m4s", duration: Self.two, start: Self.two * index)
      let next = try Playlist(text: list.text)
      counts.append(next.turns.count)
      #expect(next.turns.allSatisfy { text.contains($0.id) }, "a turn has another ID")
      text = list.text
    }
    #expect(counts == [2, 2, 2, 2, 1, 0, 0, 0])
  }

  @Test("Another run in the same folder keeps the turns of the segments that it lists")
  func restart() throws {
    let log = try Self.log([(5, .landscapeLeft), (9, .portrait)])
    var first = LivePlaylist(segmentDuration: Self.two)
    Self.add(6, to: &first, log)
    let before = try Playlist(text: first.text).turns
    var second = LivePlaylist(segmentDuration: Self.two, continuing: first.text)
    Self.add(2, to: &second, try Self.log([(1, .landscapeRight)]))
    var read = try Playlist(text: second.text)
    #expect(read.turns.count == 3 && read.turns.prefix(2).map(\.id) == before.map(\.id))
    #expect(Set(read.turns.map(\.id)).count == 3)
    #expect(read.turns[2].start > (read.segments[3].date ?? .distantFuture))
    Self.add(3, to: &second, from: 2, TurnLog())
    read = try Playlist(text: second.text)
    #expect(read.turns.count == 1 && read.turns[0].to == "landscapeLeft")
    // One with another target duration lists none of the segments.
    let other = LivePlaylist(segmentDuration: Self.two * 2, continuing: first.text)
    #expect(!other.text.contains("DATERANGE"))
  }

  @Test("All playlists of a session have one date for a time, whichever of them is first")
  func shared() throws {
    let log = try Self.log([(5, .landscapeLeft)])
    var lists = (0..<2).map { _ in LivePlaylist(segmentDuration: Self.two, log: log) }
    for index in lists.indices {
      // The clock goes on between the first segments of both.
      if index > 0 { usleep(20_000) }
      Self.add(4, to: &lists[index], log)
    }
    let read = try lists.map { try Playlist(text: $0.text) }
    #expect(read[0].segments.map(\.date) == read[1].segments.map(\.date))
    #expect(read[0].turns.map(\.id) == read[1].turns.map(\.id) && read[0].turns.count == 1)
    // One that is opened again later too, but not before the end of its earlier segments.
    var later = LivePlaylist(segmentDuration: Self.two, log: log, continuing: lists[0].text)
    Self.add(2, to: &later, from: 4, log)
    let dates = try Playlist(text: later.text).segments.compactMap(\.date)
    #expect(zip(dates, dates.dropFirst()).allSatisfy { abs($1.timeIntervalSince($0) - 2) < 0.002 })
  }

  @Test(
    "Ranges of others and damaged ones are left out where a playlist is continued",
    arguments: [
      "#EXT-X-DATERANGE:", "#EXT-X-DATERANGE:ID=\"turn-1\"",
      "#EXT-X-DATERANGE:ID=\"turn-x\",CLASS=\"upright.turn\",START-DATE=\"2026-01-01T00:00:00Z\"",
      "#EXT-X-DATERANGE:ID=\"ad-1\",CLASS=\"upright.turn\",START-DATE=\"2026-01-01T00:00:00Z\"",
      "#EXT-X-DATERANGE:ID=\"turn-1\",CLASS=\"com.example.ad\",START-DATE=\"2026-01-01T00:00:00Z\"",
    ])
  func foreign(_ line: String) throws {
    let list = LivePlaylist(
      segmentDuration: Self.two, continuing: "#EXTM3U\n\(line)\n#EXT-X-TARGETDURATION:2\n")
    #expect(!list.text.contains("DATERANGE"))
  }

  @Test("Turns that end at one frame are one, and none where nothing changes with them")
  func same() throws {
    let merged = try Self.log([(5, .landscapeLeft), (5, .landscapeRight)])
    let turns = merged.turns(from: .zero, for: MediaTime(40, .one), offset: .zero)
    #expect(turns.map(\.from) == [.portrait] && turns.map(\.to) == [.landscapeLeft])
    let none = try Self.log([(5, .landscapeLeft), (5, .portrait)])
    #expect(none.turns(from: .zero, for: MediaTime(40, .one), offset: .zero).isEmpty)
  }

  @Test("An animated turn has its duration, and is listed with the first frame after it")
  func animated() throws {
    var policy = PolicyDocument()
    policy.transition = .init(style: .hold, duration: 0.4)
    let log = try Self.log([(5, .landscapeLeft)], policy: policy)
    let offset = MediaTime(1, Rational(1, 2))
    #expect(log.turns(from: .zero, for: Self.two + Self.two, offset: offset).isEmpty)
    let turn = try #require(
      log.turns(from: Self.two * 2, for: Self.two, offset: offset).first)
    #expect(turn.ends == MediaTime(59, Rational(1, 10)))
    #expect(abs((turn.ends - turn.starts).seconds - 0.4) < 1e-6)
  }

  @Test(
    "The playlist of a file has dates from when it was shot, if there are turns, once it is whole")
  func file() throws {
    let shot = try #require(CalendarTime("2026-03-01T10:00:00.000000Z"))
    for (date, start) in [(shot, "2026-03-01T10:00:00.000Z"), (nil, "1970-01-01T00:00:00.000Z")] {
      let log = try Self.log([(3, .landscapeLeft)], date: date)
      var list = MediaPlaylist(targetDuration: Self.two, date: log.date)
      // The first frame isn't at 0.
      let offset = MediaTime(7, Rational(1, 10))
      for index in 0..<3 {
        if index == 0 { list.begin(map: "i.mp4") }
        let start = Self.two * index + offset
        list.add(segment: "\(index).m4s", duration: Self.two, start: start)
        for turn in log.turns(from: start, for: Self.two, offset: offset) {
          list.add(turn, size: PixelSize(1280, 720))
        }
      }
      #expect(try Playlist(text: list.text).turns.isEmpty && !list.text.contains("DATE-TIME"))
      list.end()
      let read = try Playlist(text: list.text)
      #expect(list.text.contains("#EXT-X-PROGRAM-DATE-TIME:\(start)\n"))
      let dates = read.segments.compactMap(\.date)
      #expect(dates.count == 3 && read.turns.count == 1)
      #expect(abs(read.turns[0].start.timeIntervalSince(dates[0]) - 3) < 0.002)
    }
    var still = MediaPlaylist(targetDuration: Self.two, date: shot)
    still.begin(map: "i.mp4")
    still.add(segment: "0.m4s", duration: Self.two, start: .zero)
    still.end()
    #expect(!still.text.contains("DATE"))
  }
}
