import Testing

@testable import UprightMediaIO

/// What happens to gaps, overlaps and jumps in the times of audio.
@Suite struct AudioPlacerTests {
  struct Case: CustomTestStringConvertible, Sendable {
    /// The position of the samples, relative to the end of the track.
    let gap: Int64
    let file: AudioPlacer.Answer
    let live: AudioPlacer.Answer
    var testDescription: String { "\(gap) samples" }
  }

  private static let file = AudioPlacer.file(rate: 48_000)
  private static let live = AudioPlacer.live(rate: 48_000, frameSize: 1024)

  static let cases: [Case] = [
    Case(gap: 0, file: .append, live: .append),
    Case(gap: 1024, file: .append, live: .append),
    Case(gap: 1025, file: .append, live: .appendAfter(silence: 1025)),
    Case(gap: 2048, file: .append, live: .appendAfter(silence: 2048)),
    Case(gap: 2049, file: .appendAfter(silence: 2049), live: .appendAfter(silence: 2049)),
    Case(gap: 480_000, file: .appendAfter(silence: 480_000), live: .appendAfter(silence: 480_000)),
    Case(gap: 480_001, file: .restart, live: .appendAfter(silence: 480_001)),
    Case(gap: 1_440_000, file: .restart, live: .appendAfter(silence: 1_440_000)),
    Case(gap: 1_440_001, file: .restart, live: .ignore),
    Case(gap: 1 << 60, file: .restart, live: .ignore),
    Case(gap: -1024, file: .append, live: .append),
    Case(gap: -1025, file: .append, live: .append),
    Case(gap: -2048, file: .append, live: .append),
    Case(gap: -2049, file: .appendWithout(first: 2049), live: .append),
    Case(gap: -479_999, file: .appendWithout(first: 479_999), live: .appendWithout(first: 479_999)),
    Case(gap: -480_000, file: .append, live: .appendWithout(first: 480_000)),
    Case(gap: -(1 << 60), file: .append, live: .appendWithout(first: 1 << 60)),
  ]

  @Test("Samples of a file and of a live session are placed", arguments: cases)
  func place(_ test: Case) {
    for end in [0, 7, -1_000_000, Int64(1) << 60, -(1 << 60)] {
      var (file, live) = (Self.file, Self.live)
      let places = [
        file.place(at: end + test.gap, after: end), live.place(at: end + test.gap, after: end),
      ]
      #expect(places == [test.file, test.live], "after \(end)")
    }
  }

  @Test("The limits of time follow the sample rate, the jitter of a file doesn't")
  func rates() {
    var slow = AudioPlacer.file(rate: 8000)
    let places = [2048, 80_000, 80_001, -80_000].map { slow.place(at: $0, after: 0) }
    #expect(places == [.append, .appendAfter(silence: 80_000), .restart, .append])
  }

  struct Publisher: CustomTestStringConvertible, Sendable {
    let name: String
    /// The samples of a packet, and the time of each of them.
    let count: Int64
    let time: @Sendable (Int64) -> Int64
    /// What is lost of its audio, and how much silence there is, in samples.
    var dropped: ClosedRange<Int64> = 0...0
    var silence: ClosedRange<Int64> = 0...0
    var testDescription: String { name }
  }

  static let publishers: [Publisher] =
    [60, 80, 120].map { milliseconds in
      Publisher(name: "rounded down to \(milliseconds) ms", count: 1024) {
        $0 * 1024 / (milliseconds * 48) * (milliseconds * 48)
      }
    }
    + [2, 4, 8].map { burst in
      Publisher(name: "\(burst) packets with one time", count: 1114) { $0 / burst * burst * 1114 }
    }
    + [
      Publisher(name: "1 ms apart in a burst", count: 1114) {
        $0 / 4 * 4 * 1114 + $0 % 4 * 48
      },
      Publisher(
        name: "late by up to 90 ms", count: 1024, time: { $0 * 1024 + $0 * 37 % 91 * 48 },
        silence: 0...4320),
      Publisher(name: "exact", count: 1024) { $0 * 1024 },
      Publisher(
        name: "100 ms lost", count: 1024, time: { $0 * 1024 + ($0 < 100 ? 0 : 4800) },
        silence: 4800...4800),
      Publisher(
        name: "set back by 50 ms", count: 1024, time: { $0 * 1024 - ($0 < 100 ? 0 : 2400) },
        dropped: 1376...2400),
      Publisher(
        name: "100 ms lost in bursts", count: 1024,
        time: { $0 / 4 * 4096 + ($0 < 100 ? 0 : 4800) }, silence: 3800...4800),
      Publisher(
        name: "a fast clock in bursts", count: 1024,
        time: { $0 * 1024 * 101 / 100 / 3840 * 3840 }, silence: 2000...4500),
      Publisher(
        name: "a clock that is 1 % slow", count: 1024, time: { $0 * 1034 },
        silence: 2000...4000),
      Publisher(
        name: "a clock that is 1 % fast", count: 1024, time: { $0 * 1014 },
        dropped: 2000...4000),
    ]

  @Test("Uneven times of a live session's audio cost none of it", arguments: publishers)
  func uneven(_ publisher: Publisher) {
    var (live, end) = (Self.live, Int64(0))
    var (dropped, silence) = (Int64(0), Int64(0))
    for index in 0..<400 as Range<Int64> {
      switch live.place(at: publisher.time(index), after: end) {
      case .append: end += publisher.count
      case .appendAfter(let more):
        silence += more
        end += more + publisher.count
      case .appendWithout(let first):
        dropped += min(first, publisher.count)
        end += max(0, publisher.count - first)
      case .restart, .ignore: Issue.record("packet \(index)")
      }
    }
    #expect(publisher.dropped.contains(dropped), "\(dropped)")
    #expect(publisher.silence.contains(silence), "\(silence)")
    // It is where it belongs.
    #expect(abs(publisher.time(400) - end) <= 4320 + 1024, "\(publisher.time(400) - end)")
  }

  @Test(
    "Silence replaces missing audio up to the video, one second later if audio may still arrive",
    arguments: [
      (0, 0, 0), (1, 1, 0), (-1, 0, 0), (48_000, 48_000, 0), (49_024, 49_024, 0),
      (49_025, 49_025, 1025), (1 << 40, 1 << 40, 1 << 40 - 48_000), (-(1 << 60), 0, 0),
    ] as [(Int64, Int64, Int64)])
  func silence(_ ahead: Int64, _ missing: Int64, _ awaited: Int64) {
    var live = Self.live
    live.adapt(to: 0)
    for end in [0, 7, Int64(1) << 50] {
      #expect(live.silence(upTo: end + ahead, after: end, isExpected: false) == missing)
      #expect(live.silence(upTo: end + ahead, after: end, isExpected: true) == awaited)
    }
  }

  @Test("The first audio of a source is waited for two seconds, and then not at all until it comes")
  func firstAudio() {
    var live = Self.live
    for start in [0, 480_000] as [Int64] {
      live.open(at: start)
      let due = start + 96_000
      #expect(live.silence(upTo: due - 1, after: start, isExpected: true) == 0)
      #expect(live.silence(upTo: due, after: start, isExpected: true) == 96_000)
      #expect(live.silence(upTo: due - 1, after: start, isExpected: false) == 95_999)
      // Audio that is 1.5 s late.
      live.adapt(to: 72_000)
      #expect(live.silence(upTo: start + 84_000, after: start, isExpected: true) == 0)
      #expect(live.silence(upTo: start + 96_000, after: start, isExpected: true) == 12_000)
    }
  }

  @Test(
    "The first audio is waited for ten seconds where nobody watches, and as long as it was late before"
  )
  func longWait() {
    var live = Self.live
    live.open(at: 48_000)
    live.waitLonger()
    #expect(live.silence(upTo: 48_000 + 479_999, after: 48_000, isExpected: true) == 0)
    #expect(live.silence(upTo: 48_000 + 480_000, after: 48_000, isExpected: true) == 480_000)
    // Audio that is 3 s late, whose publisher returns.
    live.adapt(to: 144_000)
    live.open(at: 960_000)
    #expect(live.silence(upTo: 960_000 + 155_999, after: 960_000, isExpected: true) == 0)
    #expect(live.silence(upTo: 960_000 + 156_000, after: 960_000, isExpected: true) == 156_000)
  }
}
