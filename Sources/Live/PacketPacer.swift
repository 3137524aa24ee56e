internal import Foundation
internal import Orientation
internal import UprightMediaIO

/// Delays packets to the speed of their timestamps.
struct PacketPacer {
  private let interrupt: Interrupt
  private var start: (wall: ContinuousClock.Instant, seconds: Double)?
  private var last = 0.0

  init(_ interrupt: Interrupt) { self.interrupt = interrupt }

  /// Waits until `packet` is due. Does not wait if the timestamps jump.
  mutating func wait(for packet: borrowing Packet) {
    let tick = packet.timeBase.doubleValue
    guard let ticks = packet.dts ?? packet.pts, tick.isFinite else { return }
    let seconds = Double(ticks) * tick
    guard let start, abs(seconds - last) < 10 else {
      start = (.now, seconds)
      last = seconds
      return
    }
    last = seconds
    let due = start.wall + .seconds(seconds - start.seconds)
    while !interrupt.isRaised {
      let left = due - .now
      guard left > .zero else { return }
      let part = min(left, .milliseconds(50)).components
      Thread.sleep(
        forTimeInterval: Double(part.seconds) + Double(part.attoseconds) * 1e-18)
    }
  }
}
