import Testing

@testable import UprightMediaIO

/// Cues that overlap become several, of which each has everything that is shown for its time.
@Suite struct CueLineTests {
  private func line(_ cues: [(Int64, Int64, String)]) -> [String] {
    var line = CueLine()
    var shown: [CueLine.Cue] = []
    for (start, end, text) in cues {
      shown += line.add(
        CueLine.Cue(start: start, end: end, events: ["0,0,Default,,0,0,0,,\(text)"]))
    }
    shown += line.finish()
    return shown.map {
      "\($0.start)-\($0.end) \($0.dialogue.dropFirst("0,0,Default,,0,0,0,,".count))"
    }
  }

  @Test func oneAfterAnother() {
    #expect(
      line([(0, 10, "a"), (10, 20, "b"), (30, 40, "c, d")]) == ["0-10 a", "10-20 b", "30-40 c, d"])
  }

  @Test func aSignBehindLines() {
    #expect(
      line([(0, 60, "sign"), (10, 20, "one, two"), (15, 40, "three")]) == [
        "0-10 sign", "10-15 sign\\None, two", "15-20 sign\\None, two\\Nthree", "20-40 sign\\Nthree",
        "40-60 sign",
      ])
  }

  @Test func sameTimes() {
    #expect(line([(5, 9, "a"), (5, 9, "b"), (9, 12, "c")]) == ["5-9 a\\Nb", "9-12 c"])
  }

  @Test("Cues that come late or have no length keep what they can")
  func odd() {
    #expect(
      line([(10, 30, "a"), (5, 20, "b"), (30, 30, "c")]) == ["10-20 a\\Nb", "20-30 a", "30-30 c"])
    #expect(
      line([(10, 30, "a"), (20, 25, "b"), (5, 8, "c")]) == ["10-20 a", "20-25 a\\Nb", "25-30 a"])
  }
}
