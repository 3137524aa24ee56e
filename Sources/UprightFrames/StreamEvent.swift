public import RotationPolicy

/// An event for a stream that is running. It takes effect at a time of the stream, or now.
public enum StreamEvent: Sendable, Hashable {
  /// Takes effect at the next frame.
  case now(RotationEvent.Action)
  /// Takes effect at the first frame at or after this time, in seconds on the stream's timeline. If that frame
  /// has passed, it takes effect at the next one.
  case at(Double, RotationEvent.Action)

  /// Creates an event that takes effect at the time of `event`.
  public init(_ event: RotationEvent) { self = .at(event.at, event.action) }

  /// The time in seconds; `nil` for `.now`.
  public var time: Double? {
    if case .at(let seconds, _) = self { seconds } else { nil }
  }

  /// The kind of event and its parameters.
  public var action: RotationEvent.Action {
    switch self {
    case .now(let action), .at(_, let action): action
    }
  }
}
