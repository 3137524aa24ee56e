internal import Glibc
internal import UprightOrientation

/// A date and time of day, by the clock that can be set.
package struct CalendarTime: Sendable, Hashable, Comparable {
  /// Seconds since 1970, in UTC.
  package var seconds: Double

  package init(seconds: Double) { self.seconds = seconds }

  package static var now: Self {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Self(seconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
  }

  package static func < (one: Self, other: Self) -> Bool { one.seconds < other.seconds }

  package static func + (time: Self, seconds: Double) -> Self {
    Self(seconds: time.seconds + seconds)
  }
}

extension CalendarTime {
  /// The time as in RFC 3339, in UTC, without a fraction of a second.
  package var text: String { Self.text(of: Int64(clamping: seconds.rounded(.down))) + "Z" }

  /// The milliseconds since 1970, rounded to the nearest one.
  package var milliseconds: Int64 { Int64(clamping: (seconds * 1000).rounded()) }

  /// `text` with milliseconds.
  package var millisecondText: String {
    let (second, millisecond) = Self.divide(milliseconds, by: 1000)
    return "\(Self.text(of: second)).\(millisecond.digits(3))Z"
  }

  private static func text(of seconds: Int64) -> String {
    let (days, second) = divide(seconds, by: 86_400)
    let (year, month, day) = date(days)
    return "\(year.digits(4))-\(month.digits(2))-\(day.digits(2))T"
      + "\((second / 3600).digits(2)):\((second / 60 % 60).digits(2)):\((second % 60).digits(2))"
  }

  /// Reads what `millisecondText` returns, with any number of digits of the fraction. Returns `nil` for anything else.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count > 21, bytes.last == UInt8(ascii: "Z") else { return nil }
    for (place, separator) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, ".")] {
      guard bytes[place] == separator.utf8.first else { return nil }
    }
    func number(_ range: Range<Int>, in limits: ClosedRange<Int64>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (48...57).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 48)
      }
      return limits.contains(value) ? value : nil
    }
    guard let year = number(0..<4, in: 0...9999), let month = number(5..<7, in: 1...12),
      let day = number(8..<10, in: 1...31), let hour = number(11..<13, in: 0...23),
      let minute = number(14..<16, in: 0...59), let second = number(17..<19, in: 0...60)
    else { return nil }
    var (fraction, unit) = (0.0, 0.1)
    for byte in bytes[20..<bytes.count - 1] {
      guard (48...57).contains(byte) else { return nil }
      fraction += Double(byte - 48) * unit
      unit /= 10
    }
    let whole = Self.days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    seconds = Double(whole) + fraction
  }

  // MARK: - The Gregorian calendar

  /// The days of 400 years, and those from the first of March of the year 0 to 1970. Years begin in March here, so that
  /// a leap day is the last one.
  private static let (era, epoch): (Int64, Int64) = (146_097, 719_468)

  private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = divide(days + epoch, by: Self.era)
    let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    return (era * 400 + year + (month < 10 ? 0 : 1), month < 10 ? month + 3 : month - 9, day)
  }

  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let (era, yearOfEra) = divide(month > 2 ? year : year - 1, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * Self.era + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - epoch
  }

  /// Divides and rounds down.
  private static func divide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
