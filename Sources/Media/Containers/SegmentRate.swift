package import UprightOrientation

/// The bit rates of a media playlist, measured from its segments (RFC 8216, 4.3.4.2).
package struct SegmentRate: Sendable {
  private struct Segment {
    let bits: Int
    let duration: MediaTime
  }

  private let targetDuration: MediaTime
  /// The last segments, no longer together than the longest set that counts, plus one.
  private var recent: [Segment] = []
  private var bits = 0
  private var duration = MediaTime.zero
  private var highest = 0.0

  /// - Parameter targetDuration: The nominal duration of a segment.
  package init(targetDuration: MediaTime) { self.targetDuration = targetDuration }

  /// Adds the next segment.
  package mutating func add(bytes: Int, duration: MediaTime) {
    let segment = Segment(bits: bytes * 8, duration: max(.zero, duration))
    bits += segment.bits
    self.duration += segment.duration
    recent.append(segment)
    var sum = (bits: 0, duration: MediaTime.zero)
    var kept = 0
    // The sets of contiguous segments that end with this one.
    for segment in recent.reversed() {
      sum = (sum.bits + segment.bits, sum.duration + segment.duration)
      kept += 1
      let length = sum.duration + sum.duration
      if length > targetDuration + targetDuration + targetDuration { break }
      if length >= targetDuration { highest = max(highest, Self.rate(sum.bits, sum.duration)) }
    }
    recent.removeFirst(recent.count - kept)
  }

  /// The largest rate of contiguous segments whose duration is 0.5 to 1.5 times the target duration, in bits
  /// per second: `BANDWIDTH`. For a stream shorter than that it is the average.
  package var peak: Double { max(highest, average) }

  /// The rate of all segments, in bits per second: `AVERAGE-BANDWIDTH`.
  package var average: Double { Self.rate(bits, duration) }

  private static func rate(_ bits: Int, _ duration: MediaTime) -> Double {
    duration > .zero ? Double(bits) / duration.seconds : 0
  }
}
