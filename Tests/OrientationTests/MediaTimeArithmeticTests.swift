import UprightOrientation
import Testing

@Suite struct MediaTimeArithmeticTests {
  private static let (second, nanosecond) = (Rational.one, Rational(1, 1_000_000_000))
  private static let (video, frame, audio) = (
    Rational(1, 90_000), Rational(1, 25), Rational(1, 48_000)
  )

  struct Sum: Sendable {
    let a: MediaTime
    let b: MediaTime
    let sum: MediaTime
    let difference: MediaTime

    init(_ a: MediaTime, _ b: MediaTime, _ sum: MediaTime, _ difference: MediaTime) {
      (self.a, self.b, self.sum, self.difference) = (a, b, sum, difference)
    }
  }

  private static let sums = [
    Sum(MediaTime(3, video), MediaTime(5, video), MediaTime(8, video), MediaTime(-2, video)),
    Sum(MediaTime(1, frame), MediaTime(1, video), MediaTime(3601, video), MediaTime(3599, video)),
    // Neither time base is a multiple of the other: 1/720000 s divides both.
    Sum(
      MediaTime(1, video), MediaTime(1, audio), MediaTime(23, Rational(1, 720_000)),
      MediaTime(-7, Rational(1, 720_000))),
    Sum(
      MediaTime(1001, Rational(1, 30_000)), MediaTime(1, Rational(1001, 24_000)),
      MediaTime(9009, Rational(1, 120_000)), MediaTime(-1001, Rational(1, 120_000))),
    Sum(MediaTime(-4, second), MediaTime(-6, second), MediaTime(-10, second), MediaTime(2, second)),
    // Beyond 64 bits.
    Sum(
      MediaTime(.max, video), MediaTime(1, video), MediaTime(.max, video),
      MediaTime(.max - 1, video)),
    Sum(
      MediaTime(.min, video), MediaTime(1, video), MediaTime(.min + 1, video),
      MediaTime(.min, video)),
    Sum(
      MediaTime(.max, second), MediaTime(.min, second), MediaTime(-1, second),
      MediaTime(.max, second)),
    // In nanoseconds 64 bits don't hold it, so it is rounded to whole seconds.
    Sum(
      MediaTime(.max, second), MediaTime(1, nanosecond), MediaTime(.max, second),
      MediaTime(.max, second)),
    Sum(
      MediaTime(1_600_000_000, nanosecond), MediaTime(.min, second), MediaTime(.min + 2, second),
      MediaTime(.max, second)),
    // 64 bits hold it in nanoseconds, but not in the tick that divides both.
    Sum(
      MediaTime(1 << 62, nanosecond), MediaTime(1, Rational(1, 3)),
      MediaTime((1 << 62) + 333_333_333, nanosecond),
      MediaTime((1 << 62) - 333_333_333, nanosecond)),
    // No 64 bits hold a tick that divides both.
    Sum(
      MediaTime(1, Rational(1, .max)), MediaTime(1, Rational(1, .max - 1)),
      MediaTime(2, Rational(1, .max)), MediaTime(0, second)),
  ]

  @Test("Sums and differences are exact, or rounded and clamped at the limits", arguments: sums)
  func added(_ sum: Sum) {
    #expect(sum.a + sum.b == sum.sum)
    #expect(sum.b + sum.a == sum.sum)
    #expect(sum.a - sum.b == sum.difference)
    var total = sum.a
    total += sum.b
    #expect(total == sum.sum)
  }

  @Test("Time bases beyond all sense")
  func senseless() {
    let (large, small) = (
      MediaTime(1, Rational(500_000_000_000_000_000, 7)),
      MediaTime(1, Rational(3, 800_000_000_000_000_000))
    )
    #expect(large + small == large)
    #expect(large - small == large)
    #expect(small - large == -large)
    #expect(large.rescaled(to: small.timeBase).ticks == .max)
    #expect(small.rescaled(to: large.timeBase).ticks == 0)
    let (vast, tiny) = (MediaTime(.max, Rational(.max, 1)), MediaTime(.max, Rational(1, .max)))
    #expect(vast - vast == .zero && vast - tiny == vast && tiny + vast == vast)
  }

  @Test("An hour of audio frames adds up without an error")
  func longSum() {
    var total = MediaTime(1, Self.frame)
    for _ in 0..<168_750 { total += MediaTime(1024, Self.audio) }
    #expect(total == MediaTime(90_001, Self.frame))
  }

  @Test("Negation is clamped")
  func negated() {
    #expect(-MediaTime(5, Self.video) == MediaTime(-5, Self.video))
    #expect(-MediaTime(.max, Self.video) == MediaTime(-.max, Self.video))
    #expect(-MediaTime(.min, Self.second) == MediaTime(.max, Self.second))
    #expect(MediaTime.zero == MediaTime(0, Self.video))
  }

  @Test("Products and quotients")
  func scaled() {
    #expect(MediaTime(3, Self.frame) * 25 == MediaTime(3, Self.second))
    #expect(MediaTime(3, Self.frame) * 0 == .zero)
    #expect(MediaTime(.max, Self.second) * -2 == MediaTime(.min, Self.second))
    #expect(MediaTime(.min, Self.second) * .min == MediaTime(.max, Self.second))
    #expect(MediaTime(1, Self.second) / 3 == MediaTime(1, Rational(1, 3)))
    #expect(MediaTime(10, Self.frame) / 4 == MediaTime(1, Rational(1, 10)))
    #expect(MediaTime(7, Self.second) / 0 == MediaTime(7, Self.second))
    #expect(MediaTime(7, Rational(1, .max)) / 2 == MediaTime(3, Rational(1, .max)))
    #expect(MediaTime(.min, Self.second) / .max == MediaTime(.min, Rational(1, .max)))
  }

  private static let rounded: [(time: MediaTime, base: Rational, ticks: Int64)] = [
    (MediaTime(1024, audio), video, 1920),
    (MediaTime(1023, audio), video, 1919),
    (MediaTime(1, nanosecond), video, 1),
    (MediaTime(-1, nanosecond), video, 0),
    (MediaTime(-1920, video), audio, -1024),
    (MediaTime(0, audio), video, 0),
    (MediaTime(.max, nanosecond), second, 9_223_372_037),
    (MediaTime(.min, nanosecond), second, -9_223_372_036),
    (MediaTime(.max, second), nanosecond, .max),
    (MediaTime(.min, second), nanosecond, .min),
  ]

  @Test("Rounding up, and down on the other side of zero", arguments: rounded)
  func roundedUp(time: MediaTime, base: Rational, ticks: Int64) {
    #expect(time.roundedUp(to: base) == MediaTime(ticks, base))
    guard time.ticks > .min, ticks < .max else { return }
    #expect((-time).roundedDown(to: base) == MediaTime(-ticks, base))
  }

  @Test("Seconds are read to the nanosecond")
  func seconds() {
    #expect(MediaTime(seconds: 0.1) == MediaTime(1, Rational(1, 10)))
    #expect(MediaTime(seconds: -6) == MediaTime(-6, Self.second))
    #expect(MediaTime(seconds: 1.0 / 3) == MediaTime(333_333_333, Self.nanosecond))
    #expect(MediaTime(seconds: .nan) == .zero)
    #expect(MediaTime(seconds: .infinity) == MediaTime(.max, Self.nanosecond))
    #expect(MediaTime(seconds: -.infinity) == MediaTime(.min, Self.nanosecond))
  }

  @Test("Equal times hash alike, however large they are")
  func hashed() {
    // Seconds as doubles differ: 9_007_199_254_740_993 has no double.
    let odd: Int64 = (1 << 53) + 1
    for (a, b) in [
      (MediaTime(odd, Rational(1, 1000)), MediaTime(odd * 90, Self.video)),
      (MediaTime(1, Rational(1, 10)), MediaTime(9000, Self.video)),
      (MediaTime(-3, Rational(1001, 30_000)), MediaTime(-1001, Rational(1, 10_000))),
      (MediaTime(0, Self.second), MediaTime(0, Self.nanosecond)),
      (MediaTime(.min, Rational(2, 1)), MediaTime(.min, Rational(2, 1))),
      (MediaTime(.max, Rational(1, .max)), MediaTime(1, Self.second)),
      (MediaTime(.min, Rational(1, 1 << 62)), MediaTime(-2, Self.second)),
    ] {
      #expect(a == b && a.hashValue == b.hashValue, "\(a) and \(b)")
    }
    #expect(MediaTime(1, Self.second).hashValue != MediaTime(-1, Self.second).hashValue)
    // Doubles would take these for one time.
    let near = [MediaTime(1 << 60, Self.video), MediaTime((1 << 60) + 1, Self.video)]
    #expect(Set(near).count == 2)
  }
}
