import UprightOrientation
import Testing

@Suite("Rational: sample aspect ratios")
struct RationalTests {
  @Test("Lowest terms, positive denominator")
  func reduced() {
    let rows: [(Int, Int, Int, Int)] = [
      (32, 27, 32, 27), (64, 60, 16, 15), (-2, 4, -1, 2), (2, -4, -1, 2), (0, 5, 0, 1),
      (7, 0, 0, 1), (0, 0, 0, 1), (Int.max, Int.max, 1, 1), (Int.min, Int.min, 1, 1),
      (Int.min, 1, -Int.max, 1), (1, Int.min, -1, Int.max), (Int.min, 2, Int.min / 2, 1),
    ]
    for (numerator, denominator, top, bottom) in rows {
      let rational = Rational(numerator, denominator)
      #expect(rational.numerator == top && rational.denominator == bottom)
    }
    #expect(Rational(1, 2) == Rational(4, 8))
    #expect(Rational(3, 2).doubleValue == 1.5)
    #expect(Rational(16, 15).description == "16:15")
    #expect(Rational(16, 15).inverted == Rational(15, 16))
    #expect(Rational(0, 1).inverted == Rational(0, 1))
  }

  @Test("Unknown and invalid ratios count as square")
  func asSampleAspectRatio() {
    #expect(Rational(0, 1).asSampleAspectRatio == .one)
    #expect(Rational(1, 0).asSampleAspectRatio == .one)
    #expect(Rational(-4, 3).asSampleAspectRatio == .one)
    #expect(Rational(4, 3).asSampleAspectRatio == Rational(4, 3))
  }
}
