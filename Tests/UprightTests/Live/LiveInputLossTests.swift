import Testing

@testable import UprightLive
import UprightTestSupport

/// Detection of the loss of an input.
@Suite(.tags(.waits)) struct LiveInputLossTests {
  private static let tick = LiveClock.rate / 20

  @Test("The input is lost after one second without frames, until a frame arrives")
  func silence() {
    var detector = InputLossDetector()
    var wall: Int64 = 0
    for step in 0...40 {
      let isLost = detector.isLost(wall: wall, frames: 7, isBusy: false, timeout: LiveClock.rate)
      #expect(isLost == (step > 20), "\(step)")
      wall += Self.tick
    }
    let isLost = detector.isLost(wall: wall, frames: 8, isBusy: false, timeout: LiveClock.rate)
    #expect(!isLost)
  }

  @Test("A process that was stopped for an hour has not lost its input")
  func stopped() {
    var detector = InputLossDetector()
    for wall in [0, 3600 * LiveClock.rate, .max] {
      let isLost = detector.isLost(wall: wall, frames: 1, isBusy: false, timeout: LiveClock.rate)
      #expect(!isLost)
    }
  }

  @Test("While frames are waiting, the input is not lost")
  func busy() {
    var detector = InputLossDetector()
    for step in 0..<100 {
      let isLost = detector.isLost(
        wall: Int64(step) * Self.tick, frames: 1, isBusy: true, timeout: LiveClock.rate)
      #expect(!isLost)
    }
  }
}
