internal import UprightOrientation
internal import UprightMediaIO

/// Gives each frame its places in a sequence of frames at a constant rate: place `n` is at `n / rate` seconds on the
/// media timeline. A frame has the places nearest to the times from its own to the next frame's, so a short one may
/// have none, and no place is left without a frame.
struct FramePlaces {
  /// The seconds from one place to the next.
  let step: Rational
  /// The number of frames without a place.
  private(set) var leftOut = 0
  /// The first place that no frame has.
  private var next: Int64

  /// - Parameters:
  ///   - rate: Frames per second.
  ///   - start: Where the output begins on the media timeline.
  init(_ rate: Rational, start: MediaTime) {
    step = rate.inverted
    next = start.plausibleTicks(of: step)
  }

  /// The place that is nearest to a time.
  func place(of time: MediaTime) -> Int64 { time.plausibleTicks(of: step) }

  /// Returns the time of a place.
  func time(of place: Int64) -> MediaTime { MediaTime(place, step) }

  /// The first place of the next frame, which begins at `time`; that of the frame after it if it has none.
  func first(at time: MediaTime) -> Int64 { max(place(of: time), next) }

  /// Takes the places of the next frame.
  ///
  /// - Parameters:
  ///   - end: The time of the frame after it.
  ///   - isOnly: Whether the frame has at least one place, however short it is.
  mutating func take(until end: MediaTime, isOnly: Bool = false) -> Range<Int64> {
    let upper = max(first(at: end), isOnly ? next + 1 : next)
    defer { next = upper }
    if upper == next { leftOut += 1 }
    return next..<upper
  }
}
