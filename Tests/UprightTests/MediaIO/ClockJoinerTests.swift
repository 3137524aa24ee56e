import Testing
import UprightOrientation

@testable import UprightMediaIO

/// One timeline of clocks that are reset. Milliseconds in, milliseconds out; each packet lasts 40.
@Suite struct ClockJoinerTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    /// The track, its time and the number of discontinuities so far.
    let given: [(track: Int, time: Int64, seams: Int)]
    let expected: [Int64]
    var testDescription: String { name }

    init(_ name: String, _ given: [(Int, Int64, Int)], _ expected: [Int64]) {
      (self.name, self.expected) = (name, expected)
      self.given = given.map { (track: $0.0, time: $0.1, seams: $0.2) }
    }
  }

  @Test("A packet that comes before the last one's end is on the same clock")
  func overlap() throws {
    var joiner = ClockJoiner(start: 0)
    var found: [Int64?] = []
    for (time, duration) in [(0, 10_000), (3000, 10_000), (3500, 0), (1000, 40), (1040, 40)] {
      var packet = try Packet()
      packet.timeBase = Rational(1, 1000)
      (packet.pts, packet.duration) = (Int64(time), Int64(duration))
      joiner.fit(&packet)
      let pts = packet.pts
      found.append(pts)
    }
    #expect(found == [0, 3000, 3500, 3500, 3540])
  }

  @Test(
    "The tracks of each clock go on where those before ended",
    arguments: [
      Case(
        "a short piece, then another",
        [(0, 0, 0), (1, 0, 0), (0, 3000, 0), (1, 3000, 0), (0, 0, 0), (1, 3040, 0), (1, 10, 0)],
        [0, 0, 3000, 3000, 3040, 3040, 3050]),
      Case(
        "one wrong time", [(0, 0, 0), (0, 3000, 0), (0, 0, 0), (0, 3080, 0), (0, 3120, 0)],
        [0, 3000, 3040, 3080, 3120]),
      Case(
        "a pause", [(0, 0, 0), (1, 0, 0), (0, 100_000, 0), (1, 100_000, 0)],
        [0, 0, 100_000, 100_000]),
      Case(
        "a jump forward at a discontinuity",
        [(0, 0, 0), (1, 0, 0), (0, 100_000, 1), (1, 40, 1), (1, 100_020, 1), (0, 100_040, 1)],
        [0, 0, 40, 40, 60, 80]),
      Case(
        "a pause after a discontinuity whose times go on",
        [(0, 0, 0), (0, 40, 1), (0, 40_000, 1), (0, 90_000, 1)], [0, 40, 40_000, 90_000]),
      Case(
        "a track with few packets",
        [
          (0, 0, 0), (2, 0, 0), (0, 4000, 1), (0, 8000, 1), (2, 8000, 1), (0, 0, 1), (2, 20_000, 1),
        ],
        [0, 0, 4000, 8000, 8000, 8040, 28_040]),
      Case(
        "a wrong time ahead", [(0, 0, 0), (0, 20_000, 0), (0, 80, 0), (0, 120, 0)],
        [0, 20_000, 80, 120]),
    ])
  func joined(_ example: Case) throws {
    var joiner = ClockJoiner(start: 0)
    var found: [Int64?] = []
    for (track, time, seams) in example.given {
      var packet = try Packet()
      packet.timeBase = Rational(1, 1000)
      (packet.pts, packet.dts, packet.duration) = (time, time, 40)
      packet.streamIndex = track
      joiner.fit(&packet, discontinuities: seams)
      let pts = packet.pts
      found.append(pts)
    }
    #expect(found == example.expected)
  }
}
