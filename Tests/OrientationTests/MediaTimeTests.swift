import UprightOrientation
import Testing

@Suite struct MediaTimeTests {
  private static let video = Rational(1, 90_000)

  private static let cases: [(time: MediaTime, base: Rational, ticks: Int64)] = [
    (MediaTime(1, Rational(1, 25)), Rational(1, 90_000), 3600),
    (MediaTime(3003, Rational(1, 90_000)), Rational(1, 30_000), 1001),
    (MediaTime(1, Rational(1, 3)), Rational(1, 1000), 333),
    (MediaTime(-1, Rational(1, 3)), Rational(1, 1000), -333),
    (MediaTime(1, Rational(1, 2000)), Rational(1, 1000), 1),
    (MediaTime(-1, Rational(1, 2000)), Rational(1, 1000), -1),
    (MediaTime(.max, Rational(1, 1)), Rational(1, 90_000), .max),
    (MediaTime(.min, Rational(1, 1)), Rational(1, 90_000), .min),
    (MediaTime(.max, Rational(1, 90_000)), Rational(1, 1), 102_481_911_520_609),
    (MediaTime(.max, Rational(.max, 1)), Rational(1, .max), .max),
    (MediaTime(7, Rational(1, 90_000)), Rational(0, 1), 0),
  ]

  @Test("Rescaling rounds to the nearest and never overflows", arguments: cases)
  func rescaled(time: MediaTime, base: Rational, ticks: Int64) {
    #expect(time.rescaled(to: base).ticks == ticks)
  }

  @Test("Times of different time bases are compared exactly")
  func compared() {
    #expect(MediaTime(1, Rational(1, 3)) > MediaTime(333_333_333, Rational(1, 1_000_000_000)))
    #expect(MediaTime(1, Rational(1, 3)) < MediaTime(333_333_334, Rational(1, 1_000_000_000)))
    #expect(MediaTime(-1, Rational(1, 3)) < MediaTime(-333_333_333, Rational(1, 1_000_000_000)))
    #expect(MediaTime(1, Rational(1, 25)) == MediaTime(3600, Self.video))
    #expect(MediaTime(-1, Rational(1, 25)) == MediaTime(-3600, Self.video))
    #expect(MediaTime(1, Rational(1, 25)).hashValue == MediaTime(3600, Self.video).hashValue)
    #expect(MediaTime(.max, Rational(.max, 1)) > MediaTime(.max, Rational(.max - 1, 1)))
    #expect(MediaTime(.min, Self.video) < MediaTime(.max, Self.video))
    // A day's ticks that doubles would take for equal.
    let (a, b) = (MediaTime(1 << 60, Self.video), MediaTime((1 << 60) + 1, Self.video))
    #expect(a < b && a != b)
  }

  @Test("Seconds")
  func seconds() {
    #expect(MediaTime(3, Rational(1, 25)).seconds == 0.12)
    #expect(MediaTime(seconds: 0.12, Rational(1, 25)).ticks == 3)
    #expect(MediaTime(seconds: .nan, Self.video).ticks == 0)
    #expect(MediaTime(seconds: .infinity, Self.video).ticks == .max)
    #expect(MediaTime(seconds: -1e300, Self.video).ticks == .min)
  }
}
