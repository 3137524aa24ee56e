import Testing
import UprightOrientation

@testable import UprightMediaIO

/// One timeline of clocks that are reset. Milliseconds in, milliseconds out; each packet lasts 40.
@Suite struct ClockJoinerTests {
  /// Returns the time that a packet gets.
  private static func fitted(
    _ time: Int64, lasting duration: Int64 = 40, track: Int = 0, seams: Int = 0,
    in joiner: inout ClockJoiner
  ) throws -> Int64? {
    var packet = try Packet()
    packet.timeBase = Rational(1, 1000)
    (packet.pts, packet.dts, packet.duration) = (time, time, duration)
    packet.streamIndex = track
    joiner.fit(&packet, discontinuities: seams)
    return packet.pts
  }

  @Test("A packet that comes before the last one's end is on the same clock")
  func overlap() throws {
    var joiner = ClockJoiner(start: 0)
    let found = try [(0, 10_000), (3000, 10_000), (3500, 0), (1000, 40), (1040, 40)].map {
      try Self.fitted($0.0, lasting: $0.1, in: &joiner)
    }
    #expect(found == [0, 3000, 3500, 3500, 3540])
  }

  /// A run of packets of a track, 40 ms apart.
  struct Run: Sendable {
    var track = 0
    let times: ClosedRange<Int64>
    var seams = 0
    /// Where the first one goes.
    let expected: Int64
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let runs: [Run]
    var testDescription: String { name }
  }

  @Test(
    "The tracks of each clock go on where those before ended",
    arguments: [
      Case(
        name: "a short piece, then another",
        runs: [
          Run(times: 0...3960, expected: 0), Run(track: 1, times: 0...3960, expected: 0),
          Run(times: 0...400, expected: 4000), Run(track: 1, times: 4000...4040, expected: 4000),
          Run(track: 1, times: 10...410, expected: 4010), Run(times: 440...800, expected: 4440),
        ]),
      Case(
        name: "one wrong time",
        runs: [
          Run(times: 0...3960, expected: 0), Run(times: 0...0, expected: 4000),
          Run(times: 4040...5000, expected: 4040),
        ]),
      Case(
        name: "a wrong time ahead",
        runs: [
          Run(times: 0...3960, expected: 0), Run(times: 24_000...24_000, expected: 24_000),
          Run(times: 4040...5000, expected: 4040),
        ]),
      Case(
        name: "a pause",
        runs: [
          Run(times: 0...3960, expected: 0), Run(track: 1, times: 0...3960, expected: 0),
          Run(times: 100_000...101_000, expected: 100_000),
          Run(track: 1, times: 100_000...101_000, expected: 100_000),
        ]),
      Case(
        name: "a jump forward at a discontinuity",
        runs: [
          Run(times: 0...3960, expected: 0), Run(track: 1, times: 0...3960, expected: 0),
          Run(times: 100_000...101_000, seams: 1, expected: 4000),
          Run(track: 1, times: 4000...4040, seams: 1, expected: 4000),
          Run(track: 1, times: 100_020...101_000, seams: 1, expected: 4020),
        ]),
      Case(
        name: "a pause after a discontinuity whose times go on",
        runs: [
          Run(times: 0...3960, expected: 0), Run(times: 4000...40_000, seams: 1, expected: 4000),
          Run(times: 90_000...91_000, seams: 1, expected: 90_000),
        ]),
      Case(
        name: "a track with few packets",
        runs: [
          Run(times: 0...3960, expected: 0), Run(track: 2, times: 0...0, expected: 0),
          Run(times: 4000...7960, seams: 1, expected: 4000),
          Run(track: 2, times: 8000...8000, seams: 1, expected: 8000),
          Run(times: 0...3960, seams: 1, expected: 8000),
        ]),
    ])
  func joined(_ example: Case) throws {
    var joiner = ClockJoiner(start: 0)
    for (index, run) in example.runs.enumerated() {
      for time in stride(from: run.times.lowerBound, through: run.times.upperBound, by: 40) {
        let pts = try Self.fitted(time, track: run.track, seams: run.seams, in: &joiner)
        #expect(pts == run.expected + time - run.times.lowerBound, "run \(index), \(time)")
      }
    }
  }
}
