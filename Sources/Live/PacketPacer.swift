internal import UprightOrientation
internal import UprightMediaIO

/// Delays packets to the speed of their timestamps.
struct PacketPacer {
  private let interrupt: Interrupt
  /// When the first packet was due.
  private let opening: ContinuousClock.Instant
  private var start: (wall: ContinuousClock.Instant, seconds: Double)?
  private var last = 0.0

  /// How long the analysis of a stream takes at most, in seconds of its media.
  private static let longestAnalysis = 1.0

  /// - Parameter opening: When opening the input began. A live stream goes on while it is analysed: packets that
  ///   arrived in that time are not delayed, or else all that follows would be late by it.
  init(_ interrupt: Interrupt, since opening: ContinuousClock.Instant) {
    self.interrupt = interrupt
    self.opening = max(opening, .now - .seconds(Self.longestAnalysis))
  }

  /// Waits until `packet` is due. Does not wait if the timestamps jump.
  mutating func wait(for packet: borrowing Packet) {
    let tick = packet.timeBase.doubleValue
    guard let ticks = packet.dts ?? packet.pts, tick.isFinite else { return }
    let seconds = Double(ticks) * tick
    guard let start, abs(seconds - last) < 10 else {
      start = (start == nil ? opening : .now, seconds)
      last = seconds
      return
    }
    last = seconds
    let due = start.wall + .seconds(seconds - start.seconds)
    interrupt.wait(until: due)
  }
}
