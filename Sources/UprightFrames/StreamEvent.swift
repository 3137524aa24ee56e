public import UprightPolicy

/// An event for a stream that is running. It takes effect at a time of the stream, or now.
public enum StreamEvent: Sendable, Hashable, Codable {
  /// Takes effect at the next frame.
  case now(RotationEvent.Action)
  /// Takes effect at the first frame at or after this time, in seconds on the stream's timeline. If that frame
  /// has passed, it takes effect at the next one.
  case at(Double, RotationEvent.Action)

  /// Creates an event that takes effect at the time of `event`.
  public init(_ event: RotationEvent) { self = .at(event.at, event.action) }

  /// Reads an event. An event without `at` takes effect at the next frame.
  ///
  /// - Throws: The error of `RotationEvent.init(_:)`.
  public init(json value: JSONValue) throws(PolicyError) {
    guard case .object(let members) = value, value["at"] == nil else {
      self.init(try RotationEvent(value))
      return
    }
    self = .now(try RotationEvent(.object([.init("at", .number(0))] + members)).action)
  }

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
