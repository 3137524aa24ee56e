public import Orientation
internal import Synchronization

/// Takes orientation events for a stream of frames, from any thread.
///
/// Bounded: 10 000 events may wait for their frame.
public final class EventInbox: Sendable {
  private struct Waiting {
    /// `nil`: the next frame.
    var at: Double?
    var event: RotationEvent
  }

  private let waiting = Mutex<[Waiting]>([])
  /// The number of events that may wait.
  public static let capacity = 10_000

  package init() {}

  /// Posts `events`, each of which takes effect at the first frame at or after its time; one whose time has
  /// passed, at the next frame.
  ///
  /// - Throws: `badData` for a time that isn't finite or is beyond `RotationEvent.latest`; `usage` if too
  ///   many events wait. Nothing is posted then.
  public func post(_ events: [RotationEvent]) throws(UprightError) {
    for event in events where !(event.at.magnitude <= RotationEvent.latest) {
      throw UprightError(
        .badData, "\(event.at) is not a time", at: "at",
        remedy: "give seconds, up to \(RotationEvent.latest)")
    }
    try add(events.map { Waiting(at: $0.at, event: $0) })
  }

  /// Posts an event that takes effect at the next frame.
  ///
  /// - Throws: `usage` if too many events wait.
  public func post(_ action: RotationEvent.Action) throws(UprightError) {
    try add([Waiting(at: nil, event: RotationEvent(at: 0, action))])
  }

  private func add(_ events: [Waiting]) throws(UprightError) {
    let isFull = waiting.withLock { waiting in
      guard waiting.count + events.count <= Self.capacity else { return true }
      waiting += events
      return false
    }
    if isFull {
      throw UprightError(
        .usage, "\(Self.capacity) events are waiting already", remedy: "post them later")
    }
  }

  /// Takes the events that are due at `seconds`, in the order of their times, those without one last; of one
  /// time in the order in which they were posted. What is late happens at `last`, the frame before.
  package func take(upTo seconds: Double, after last: Double) -> [RotationEvent] {
    waiting.withLock { waiting in
      if waiting.isEmpty { return [] }
      func isDue(_ item: Waiting) -> Bool {
        item.at ?? seconds <= seconds + OrientationTimeline.grain
      }
      let due = waiting.filter(isDue)
      waiting.removeAll(where: isDue)
      return due.enumerated().map { index, item in
        var event = item.event
        event.at = max(item.at ?? seconds, last)
        return (index, event)
      }.sorted { ($0.1.at, $0.0) < ($1.1.at, $1.0) }.map(\.1)
    }
  }
}
