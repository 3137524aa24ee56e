import Testing
import UprightOrientation

@testable import UprightMedia
@testable import UprightMediaIO

@Suite struct TimestampRepairTests {
  private func repaired(
    _ times: [Int64?], durations: [Int64] = [], rate: Rational? = Rational(25, 1)
  ) throws -> (pts: [Int64], durations: [Int64], repairs: Int) {
    var repair = TimestampRepair(timeBase: Rational(1, 1000), frameRate: rate)
    var out: [Int64] = []
    var lengths: [Int64] = []
    for (index, time) in times.enumerated() {
      var frame = try VideoFrame()
      frame.pts = time
      frame.duration = index < durations.count ? durations[index] : 0
      repair.repair(&frame)
      let (pts, duration) = (frame.pts ?? -1, frame.duration)
      out.append(pts)
      lengths.append(duration)
    }
    return (out, lengths, repair.repairs)
  }

  @Test("Valid times are unchanged")
  func good() throws {
    let result = try repaired([-80, -40, 0, 41, 79, 500])
    #expect(result.pts == [-80, -40, 0, 41, 79, 500])
    #expect(result.repairs == 0)
  }

  @Test("Missing times follow from the duration, or else from the frame rate")
  func missing() throws {
    #expect(try repaired([nil, nil, nil]).pts == [0, 40, 80])
    #expect(try repaired([100, nil, nil], durations: [33, 0, 0]).pts == [100, 133, 173])
    #expect(try repaired([nil, nil], rate: nil).pts == [0, 40])
  }

  @Test("Repeated and decreasing times are raised by a tick, and counted")
  func falling() throws {
    let result = try repaired([0, 40, 40, 20, 80])
    #expect(result.pts == [0, 40, 41, 42, 80])
    #expect(result.repairs == 2)
  }

  @Test("Extreme times don't trap and are replaced")
  func absurd() throws {
    let result = try repaired(
      [0, .max, .min + 1, 1 << 61, 120], durations: [.max, -5, .min, 40, 0])
    #expect(zip(result.pts, result.pts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(result.pts.allSatisfy { abs($0) < 1 << 61 })
    #expect(result.durations.allSatisfy { $0 > 0 && $0 <= 1 << 40 })
  }
}
