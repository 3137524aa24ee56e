package import UprightOrientation
package import UprightPolicy

/// The events of a running stream that wait for their frame, each with a value of its sender's.
package struct WaitingEvents<Sender: Sendable>: Sendable {
  private struct Waiting: Sendable {
    /// The time in seconds. An event for the next frame has the time of the last one.
    var at: Double
    var action: RotationEvent.Action
    var sender: Sender
  }

  /// In the order of their times; those of one time in the order in which they were added.
  private var waiting: [Waiting] = []
  /// The time of the last frame in seconds; minus infinity before the first.
  private var last = -Double.infinity

  /// An event whose frame has come.
  package struct Due: Sendable {
    package let event: RotationEvent
    package let sender: Sender
    /// Whether it was to take effect at the next frame, whatever its time.
    package let isNext: Bool
  }

  package init() {}

  package var isEmpty: Bool { waiting.isEmpty }

  /// The number of events that may be added.
  package var space: Int { EventInbox.capacity - waiting.count }

  /// Adds an event. Returns whether it takes effect at the next frame, whatever its time.
  ///
  /// - Throws: `badData` for a time that isn't finite or is beyond `RotationEvent.latest`, `usage` if too many
  ///   events wait.
  @discardableResult
  package mutating func add(_ event: StreamEvent, _ sender: Sender) throws(UprightError) -> Bool {
    try event.checkTime()
    guard space > 0 else { throw Self.full }
    let at = max(event.time ?? last, last)
    let place = waiting.place { $0.at <= at }
    waiting.insert(Waiting(at: at, action: event.action, sender: sender), at: place)
    return at == last
  }

  package static var full: UprightError {
    UprightError(
      .usage, "\(EventInbox.capacity) events are already waiting", at: "at",
      remedy: "send them later")
  }

  /// Removes and returns the events that are due at the frame at `seconds`, in the order of their times. Those
  /// that missed their frame, and those for the next frame, come last and have the time `seconds`, so that a
  /// replay of the events turns at the same frame.
  package mutating func take(upTo seconds: Double) -> [Due] {
    defer { last = max(last, seconds) }
    guard let first = waiting.first, first.at <= seconds + OrientationTimeline.grain else {
      return []
    }
    let due = waiting.prefix { $0.at <= seconds + OrientationTimeline.grain }
    let late = due.prefix { $0.at <= last }
    let taken =
      due.dropFirst(late.count).map {
        Due(event: RotationEvent(at: max($0.at, 0), $0.action), sender: $0.sender, isNext: false)
      }
      + late.map {
        Due(event: RotationEvent(at: seconds, $0.action), sender: $0.sender, isNext: true)
      }
    waiting.removeFirst(due.count)
    return taken
  }
}

extension StreamEvent {
  /// - Throws: `badData` for a time that isn't finite or is beyond `RotationEvent.latest`.
  func checkTime() throws(UprightError) {
    guard let time, !(time.magnitude <= RotationEvent.latest) else { return }
    throw UprightError(
      .badData, "\(time) is not a valid time", at: "at",
      remedy: "give seconds, up to \(RotationEvent.latest)")
  }
}
