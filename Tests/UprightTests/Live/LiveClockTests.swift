import Testing

@testable import UprightLive
import UprightTestSupport

/// Media time of a live session, for all kinds of publishers' timestamps.
@Suite(.tags(.waits)) struct LiveClockTests {
  private typealias Track = LiveClock.Track

  /// Converts milliseconds to ticks.
  private static func ms(_ milliseconds: Int) -> Int64 { Int64(milliseconds) * 90 }

  /// Frames with the publisher's time and the wall clock time, and the expected media times, all in ms.
  /// `nil` is late.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let frames: [(raw: Int?, wall: Int)]
    let times: [Int?]
  }

  private static func run(_ range: Range<Int>, raw: Int, wall: Int) -> [(raw: Int?, wall: Int)] {
    range.map { (raw + 40 * $0, wall + 40 * $0) }
  }

  static let wrap = 1 << 32
  static let cases: [Case] = [
    Case(
      testDescription: "any start becomes 0", frames: run(0..<5, raw: 777_000, wall: 3),
      times: [0, 40, 80, 120, 160]),
    Case(
      testDescription: "irregular intervals are kept",
      frames: [(9, 0), (30, 20), (101, 90), (140, 140)],
      times: [0, 21, 92, 131]),
    Case(
      testDescription: "a jump ahead is bridged",
      frames: run(0..<5, raw: 0, wall: 0) + run(5..<8, raw: 3_600_000, wall: 0),
      times: [0, 40, 80, 120, 160, 200, 240, 280]),
    Case(
      testDescription: "a jump back is bridged",
      frames: run(0..<5, raw: 90_000, wall: 0) + run(5..<8, raw: 0, wall: 0),
      times: [0, 40, 80, 120, 160, 200, 240, 280]),
    Case(
      testDescription: "a jump for one frame only",
      frames: run(0..<5, raw: 0, wall: 0) + [(500_000, 200)] + run(6..<8, raw: 0, wall: 0),
      times: [0, 40, 80, 120, 160, 200, 240, 280]),
    Case(
      testDescription: "32 bits of milliseconds wrap, to the tick",
      frames: [(wrap - 70, 0), (wrap - 31, 40), (7, 80), (48, 120)], times: [0, 39, 77, 118]),
    Case(
      testDescription: "a pause that matches the wall clock is kept",
      frames: run(0..<5, raw: 0, wall: 0) + [(6000, 6100), (6040, 6140)],
      times: [0, 40, 80, 120, 160, 6000, 6040]),
    Case(
      testDescription: "the last frames before a pause come with the first one after it",
      frames: run(0..<5, raw: 0, wall: 0) + [(200, 6100), (240, 6102), (6000, 6140), (6040, 6180)],
      times: [0, 40, 80, 120, 160, 200, 240, 6000, 6040]),
    Case(
      testDescription: "no times: by arrival, at least one frame apart",
      frames: [(nil, 0), (nil, 33), (nil, 70), (nil, 2000)], times: [0, 33, 67, 2000]),
    Case(
      testDescription: "times that don't change",
      frames: run(0..<5, raw: 0, wall: 0) + [(160, 200), (160, 240), (160, 280)],
      times: [0, 40, 80, 120, 160, 200, 240, 280]),
    Case(
      testDescription: "frames that are sent again are late",
      frames: [
        (0, 0), (40, 40), (80, 80), (120, 120), (0, 121), (40, 122), (80, 123), (120, 124),
        (160, 160),
      ],
      times: [0, 40, 80, 120, nil, nil, nil, nil, 160]),
    Case(
      testDescription: "extreme values don't overflow",
      frames: [(0, 0), (.max / 1_000_000, 40), (.min / 1_000_000, 80), (120, 120)],
      times: [0, 33, 67, 100]),
  ]

  @Test("Frames", arguments: cases)
  func frames(_ test: Case) {
    var clock = LiveClock()
    let times = test.frames.map { frame in
      clock.frameTime(frame.raw.map(Self.ms), wall: Self.ms(frame.wall))
    }
    // The frame rate is unknown at first. The default is 30 frames per second.
    #expect(times.map { $0.map { Int((Double($0) / 90).rounded()) } } == test.times)
  }

  @Test(
    "Frames that come at once, because they were held back, keep their distance",
    arguments: [
      // Read to find the tracks.
      (4800, [(0, 4800), (2440, 4801), (4760, 6650)]),
      (900, [(0, 900), (40, 900), (80, 901), (120, 902)]),
      // The last two frames before the end of the stream.
      (1000, [(0, 4650), (2680, 7450), (4640, 8110), (7440, 8111)]),
      (
        0,
        [
          (0, 6010), (3000, 9010), (6000, 12_010), (9000, 15_010), (12_000, 15_500),
          (15_000, 15_501),
        ]
      ),
    ] as [(Int, [(raw: Int, wall: Int)])])
  func heldBack(_ lookAhead: Int, _ frames: [(raw: Int, wall: Int)]) {
    var clock = LiveClock()
    clock.open(frameRate: nil, lookAhead: Self.ms(lookAhead))
    for (raw, wall) in frames {
      #expect(clock.frameTime(Self.ms(raw), wall: Self.ms(wall)) == Self.ms(raw))
    }
  }

  @Test("A jump in the first frames is bridged where the stream wasn't read before")
  func earlyJump() {
    var clock = LiveClock(frameRate: 25)
    clock.open(frameRate: nil)
    let times = [(0, 0), (5000, 40), (5040, 80)].map {
      clock.frameTime(Self.ms($0), wall: Self.ms($1))
    }
    #expect(times == [0, 40, 80].map(Self.ms))
  }

  @Test("The times of a session that goes on with another's stream begin where it says")
  func start() {
    for raw in [nil, Self.ms(500)] {
      var clock = LiveClock(frameRate: 25, start: Self.ms(9000))
      let first = clock.frameTime(raw, wall: Self.ms(70))
      let second = clock.frameTime(raw.map { $0 + Self.ms(40) }, wall: Self.ms(110))
      #expect(first == Self.ms(9000) && second == Self.ms(9040))
    }
  }

  @Test("A step back of a frame's time is mended, and the frame shown")
  func stepsBack() {
    for raws in [
      [0, 0, 40, 80, 120, 160], [0, 40, 80, 50, 160, 200], [0, 40, 10, 120, 90, 200],
    ] {
      // A busy machine decodes two frames at a time.
      for pairs in [1, 2] {
        var clock = LiveClock(frameRate: 25)
        let times = raws.enumerated().map {
          clock.frameTime(Self.ms($1), wall: Self.ms(40 * pairs * ($0 / pairs) + $0))
        }
        let shown = times.compactMap(\.self)
        #expect(
          shown.count == 6 && zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
        #expect(abs((shown.last ?? 0) - Self.ms(200)) <= Self.ms(40), "\(times)")
      }
    }
  }

  /// A publisher of 25 fps.
  struct Pace: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The publisher's time of frame `index`, and its arrival, in ms.
    let raw: @Sendable (Int) -> Int
    var arrival: @Sendable (Int) -> Int = { 40 * $0 }
    let isByArrival: Bool
    /// How far media time may be ahead until it is found, in ms.
    var ahead = 1500
  }

  static let paces = [
    Pace(testDescription: "a tenth", raw: { 4 * $0 }, isByArrival: true),
    Pace(testDescription: "double", raw: { 80 * $0 }, isByArrival: true),
    Pace(testDescription: "ten times", raw: { 400 * $0 }, isByArrival: true, ahead: 5000),
    Pace(
      testDescription: "around 225 ms", raw: { $0 < 6 ? 40 * $0 : 212 + $0 * 7 % 27 },
      isByArrival: true),
    Pace(testDescription: "2 % fast", raw: { $0 * 408 / 10 }, isByArrival: true),
    Pace(testDescription: "right", raw: { 40 * $0 }, isByArrival: false),
    Pace(
      testDescription: "right, with jitter", raw: { 40 * $0 },
      arrival: { 40 * $0 + $0 * 7919 % 300 }, isByArrival: false),
    Pace(
      testDescription: "a network at half speed", raw: { 40 * $0 }, arrival: { 80 * $0 },
      isByArrival: false),
    Pace(
      testDescription: "stalls that are made up for", raw: { 40 * $0 },
      arrival: { $0 / 100 * 4000 + max($0 % 100 * 40, 3000 + $0 % 100) }, isByArrival: false),
    Pace(
      testDescription: "half the declared rate", raw: { 80 * $0 }, arrival: { 80 * $0 },
      isByArrival: false),
    Pace(
      testDescription: "four seconds at once", raw: { 40 * $0 },
      arrival: { max(0, 40 * $0 - 4000) }, isByArrival: false),
    Pace(
      testDescription: "a jump each ten seconds", raw: { 40 * $0 + $0 / 250 * 900 },
      isByArrival: false),
  ]

  @Test("A publisher's clock that isn't real time is found, and no other", arguments: paces)
  func pace(_ test: Pace) {
    var clock = LiveClock(frameRate: 25)
    clock.open(frameRate: 25)
    var audio = Int64.min
    for index in 0..<1500 {
      let (raw, wall) = (Self.ms(test.raw(index)), Self.ms(test.arrival(index)))
      let time = clock.frameTime(raw, wall: wall)
      if let time, let sound = clock.audioTime(raw, duration: 1920, wall: wall) {
        #expect(abs(sound - time) <= Self.ms(80))
        audio = sound
      }
    }
    #expect(clock.isByArrival == test.isByArrival)
    let last = Self.ms(test.arrival(1499))
    if test.isByArrival { #expect(abs((clock.latest ?? 0) - last) <= Self.ms(test.ahead)) }
    #expect(audio > 0)
    clock.lose()
    #expect(!clock.isByArrival)
  }

  @Test("33-bit and 32-bit timestamps wrap around exactly", arguments: [Int64(1) << 33, 1 << 32])
  func wraps(_ period: Int64) {
    var clock = LiveClock()
    var times: [Int64?] = []
    for index in 0..<6 {
      let raw = (period - 8000 + Int64(index) * 3000) % period
      times.append(clock.frameTime(raw, wall: Int64(index) * 3000))
    }
    #expect(times == [0, 3000, 6000, 9000, 12000, 15000])
  }

  @Test("A jump in both tracks, in either order, keeps them in sync")
  func tracks() {
    for audioLeapsFirst in [true, false] {
      for leap in [Self.ms(500_000), -Self.ms(70_000)] {
        var clock = LiveClock()
        let base = Self.ms(100_000)
        var frames: [Int64] = []
        var audioTimes: [Int64] = []
        for index in 0..<50 {
          let wall = Int64(index) * 3600
          // One track sends three more packets with the old clock.
          let old = base + wall
          let audioRaw = index < (audioLeapsFirst ? 20 : 23) ? old : old + leap
          let frameRaw = index < (audioLeapsFirst ? 23 : 20) ? old : old + leap
          if let time = clock.frameTime(frameRaw, wall: wall) { frames.append(time) }
          if let time = clock.audioTime(audioRaw, duration: 1920, wall: wall) {
            audioTimes.append(time)
          }
        }
        let expected = (0..<50).map { Int64($0) * 3600 }
        #expect(frames.count == 50 && audioTimes.count == 50)
        let apart = zip(frames, audioTimes).map { abs($0 - $1) }.max() ?? .max
        // Half a frame: only the duration of the packet before the jump is known.
        #expect(apart <= 3600 - 1920, "\(apart)")
        let drift = zip(frames, expected).map { abs($0 - $1) }.max() ?? .max
        #expect(drift <= 3600, "\(drift)")
      }
    }
  }

  @Test("Audio is dropped until the first frame, and after a loss until the next frame")
  func audio() {
    var clock = LiveClock()
    #expect(clock.audioTime(5000, duration: 1920, wall: 0) == nil)
    #expect(clock.frameTime(9000, wall: 90) == 0)
    #expect(clock.audioTime(8100, duration: 1920, wall: 100) == -900)
    clock.lose()
    #expect(clock.audioTime(12000, duration: 1920, wall: 200) == nil)
    #expect(clock.frameTime(50, wall: 9000) == 3000)
    #expect(clock.audioTime(50, duration: 1920, wall: 9000) == 3000)
  }

  @Test(
    "Video that the session leaves out keeps its distance from the audio", arguments: [2, 5, 9])
  func skipped(_ seconds: Int) {
    var clock = LiveClock(frameRate: 25)
    for index in 0..<50 { _ = clock.frameTime(Self.ms(40 * index), wall: Self.ms(40 * index)) }
    #expect(clock.audioTime(Self.ms(1960), duration: 1920, wall: Self.ms(1960)) == Self.ms(1960))
    clock.skip(wall: Self.ms(1960))
    // Frames that were decoded before come first.
    #expect(clock.frameTime(Self.ms(2000), wall: Self.ms(1970)) == Self.ms(2000))
    let leapt = Self.ms(2000 + 1000 * seconds)
    #expect(clock.frameTime(leapt, wall: Self.ms(1980)) == leapt)
    #expect(clock.audioTime(Self.ms(1984), duration: 1920, wall: Self.ms(1990)) == Self.ms(1984))
  }

  @Test("Repeated bursts after losses do not move media time ahead of the wall clock")
  func bursts() {
    var clock = LiveClock(frameRate: 25)
    var wall: Int64 = 0
    for _ in 0..<100 {
      // Ten frames at once, then fifty at their normal speed.
      for index in 0..<60 {
        if index >= 10 { wall += 3600 }
        _ = clock.frameTime(Int64(index) * 3600, wall: wall)
      }
      clock.lose()
      for _ in 0..<20 {
        wall += 3600
        while clock.repeatTime(wall: wall) != nil {}
      }
    }
    #expect(abs((clock.latest ?? 0) - wall) <= LiveClock.rate)
  }

  @Test(
    "During a loss, the last frame is repeated, and new input continues after it")
  func loss() {
    var clock = LiveClock()
    for index in 0..<10 { _ = clock.frameTime(Int64(index) * 3600, wall: Int64(index) * 3600) }
    clock.lose()
    var filled: [Int64] = []
    while let time = clock.repeatTime(wall: 9 * 3600 + 90_000) { filled.append(time) }
    // A quarter of a second behind the wall clock.
    #expect(filled == (10...27).map { Int64($0) * 3600 })
    // Another publisher with another clock, 1.05 s later.
    let wall: Int64 = 9 * 3600 + 94_500
    #expect(clock.frameTime(123_456_789, wall: wall) == wall)
    let next: Int64 = wall + 3600
    #expect(clock.frameTime(123_456_789 + 3600, wall: 140_000) == next)
  }

  @Test("Frames of a delayed burst are late until the burst has caught up")
  func burst() {
    var clock = LiveClock()
    for index in 0..<10 { _ = clock.frameTime(Int64(index) * 3600, wall: Int64(index) * 3600) }
    let wall: Int64 = 9 * 3600 + 180_000
    while clock.repeatTime(wall: wall) != nil {}
    let latest = clock.latest ?? 0
    // 60 frames at once, which the network had delayed.
    var shown: [Int64] = []
    for index in 10..<70 {
      if let time = clock.frameTime(Int64(index) * 3600, wall: wall + Int64(index)) {
        shown.append(time)
      }
    }
    #expect(shown == (10..<70).map { Int64($0) * 3600 }.filter { $0 > latest })
  }

  @Test("A clock that had stopped is continued, with audio")
  func stopped() {
    var clock = LiveClock()
    for index in 0..<10 {
      _ = clock.frameTime(Int64(index) * 3600, wall: Int64(index) * 3600)
      _ = clock.audioTime(Int64(index) * 3600, duration: 1920, wall: Int64(index) * 3600)
    }
    let pause: Int64 = 360_000
    while clock.repeatTime(wall: 9 * 3600 + pause) != nil {}
    var times: [Int64?] = []
    for index in 10..<50 {
      let raw = Int64(index) * 3600
      let frame = clock.frameTime(raw, wall: raw + pause)
      let audio = clock.audioTime(raw, duration: 1920, wall: raw + pause)
      times.append(frame)
      if let frame { #expect(audio == frame) }
    }
    // It takes half a second to detect that the clock doesn't catch up.
    let shown = times.compactMap(\.self)
    #expect(times.prefix(12).allSatisfy { $0 == nil } && shown.count >= 26)
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 == 3600 })
    #expect(shown.first.map { abs($0 - (9 * 3600 + pause + 14 * 3600)) <= 2 * 3600 } == true)
  }
}
