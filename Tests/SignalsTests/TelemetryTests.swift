import Foundation
import Testing
import UprightTestSupport

@testable import UprightSignals

/// Readings of motion sensors. Costs 0.1 s.
@Suite("Telemetry of cameras") struct TelemetryTests {
  @Test("GPMF: the scales, types and kinds of streams; what isn't known is passed over")
  func gpmf() {
    let sample = GPMFWriter.device([
      GPMFWriter.stream(scale: [32767], "GRAV", [[0, 32767, 0], [-16384, 28377, 0]]),
      GPMFWriter.stream(scale: [10, 100, 1000], "ACCL", [[98, -981, 1]]),
      GPMFWriter.stream(scale: [32767], "IORI", [[32767, 0, 0, 0]]),
      GPMFWriter.stream(scale: [1], "TMPC", [[21]]),
    ])
    let readings = GPMFSample(sample).streams.flatMap(\.readings).compactMap(\.self)
    #expect(readings.map(\.kind) == [.gravity, .gravity, .acceleration, .imageOrientation])
    #expect(readings[0].values == [0, 1, 0])
    #expect(abs(readings[1].values[0] + 0.5) < 1e-4 && abs(readings[1].values[1] - 0.866) < 1e-4)
    #expect(readings[2].values == [9.8, -9.81, 0.001])
    #expect(readings[3].values == [1, 0, 0, 0])
  }

  @Test("GPMF: readings that aren't finite keep their places, and devices are told apart")
  func places() {
    let numbers = ([1, 2, .nan, 4, 5, 6] as [Float]).map(\.bitPattern)
    let bytes = numbers.flatMap { MovieWriter.be(Int($0), 4) }
    let odd = GPMFWriter.element(
      "STRM", 0, 1, 8 + bytes.count,
      GPMFWriter.element("GRAV", UInt8(ascii: "f"), 12, 2, bytes))
    let own = GPMFWriter.stream(scale: [1], "GRAV", [[7, 8, 9]])
    let streams = GPMFSample(GPMFWriter.device([odd]) + GPMFWriter.device([own])).streams
    #expect(streams.map(\.device) == [0, 1])
    let values = streams.map { $0.readings.map { $0?.values ?? [] } }
    #expect(values == [[[], [4, 5, 6]], [[7, 8, 9]]])
  }

  @Test("GPMF: a scale of 0, another number of values, deep nesting, truncation: left out")
  func damaged() {
    let zero = GPMFWriter.device([GPMFWriter.stream(scale: [0], "GRAV", [[1, 2, 3]])])
    #expect(GPMFSample(zero).streams.isEmpty)
    let four = GPMFWriter.device([GPMFWriter.stream(scale: [1], "GRAV", [[1, 2, 3, 4]])])
    #expect(GPMFSample(four).streams.isEmpty)
    var nested = GPMFWriter.stream(scale: [1], "GRAV", [[1, 2, 3]])
    for _ in 0..<64 { nested = GPMFWriter.element("STRM", 0, 1, nested.count, nested) }
    #expect(GPMFSample(nested).streams.isEmpty)
    let whole = GPMFWriter.device([
      GPMFWriter.stream(scale: [1], "GRAV", Array(repeating: [1, 2, 3], count: 9))
    ])
    for count in whole.indices { #expect(GPMFSample(Array(whole[..<count])).streams.isEmpty) }
    #expect(GPMFSample(whole).streams[0].readings.count == 9)
  }

  @Test("CAMM: little-endian numbers of the types of motion")
  func camm() {
    func sample(_ type: UInt8, _ values: [Float]) -> [UInt8] {
      [0, 0, type, 0]
        + values.flatMap { value in
          (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) }
        }
    }
    let reading = CAMMSample.reading(sample(3, [0.5, 9.75, -1]))
    #expect(reading?.kind == .acceleration && reading?.values == [0.5, 9.75, -1])
    #expect(CAMMSample.reading(sample(0, [0, 0, 1]))?.kind == .angleAxis)
    #expect(CAMMSample.reading(sample(2, [0, 0, 1]))?.kind == .rotationRate)
    #expect(CAMMSample.reading(sample(7, [0, 0, 1])) == nil)
    #expect(CAMMSample.reading(sample(3, [0, 1])) == nil)
    #expect(CAMMSample.reading(sample(3, [.nan, 0, 1])) == nil)
  }
}
