public import UprightOrientation
internal import Synchronization

/// Takes orientation events for a stream of frames, from any thread.
///
/// Bounded: 10 000 events may wait for their frame.
public final class EventInbox: Sendable {
  private let waiting = Mutex(WaitingEvents<Void>())
  /// The number of events that may wait.
  public static let capacity = 10_000

  /// Creates an inbox without events.
  public init() {}

  /// Posts `events`.
  ///
  /// - Throws: `badData` for a time that isn't finite or is beyond `RotationEvent.latest`; `usage` if too
  ///   many events wait. Nothing is posted then.
  public func post(_ events: [StreamEvent]) throws(UprightError) {
    for event in events { try event.checkTime() }
    let error = waiting.withLock { waiting -> UprightError? in
      guard events.count <= waiting.space else { return WaitingEvents<Void>.full }
      do throws(UprightError) {
        for event in events { try waiting.add(event, ()) }
        return nil
      } catch { return error }
    }
    if let error { throw error }
  }

  /// Removes and returns the events that are due at the frame at `seconds`.
  package func take(upTo seconds: Double) -> [RotationEvent] {
    waiting.withLock { $0.take(upTo: seconds).map(\.event) }
  }
}
