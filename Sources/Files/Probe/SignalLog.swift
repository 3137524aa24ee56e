internal import Orientation
internal import RotationPolicy
internal import UprightIntake
internal import UprightPipeline

/// Lists the signals of each source, with the frames at which they begin and end.
struct SignalLog {
  /// One entry of the list.
  struct Entry {
    let seconds: Double
    let frame: Int
    let content: Content
  }

  enum Content {
    /// A signal begins here. `applies` is `true` if no signal of higher precedence is present.
    case says(OrientationSignal, applies: Bool)
    /// The signal of a source ends here.
    case ends(OrientationSignal.Source)
    /// The coded frame size from here on.
    case size(PixelSize)
  }

  private var last: SignalScan.Change?
  /// Whether any signal was found.
  private(set) var hasSignals = false

  /// Returns the entries for `change`, with sources in order of precedence. A signal is listed again if it
  /// begins to apply because one of higher precedence has ended. A size is listed if it changes.
  mutating func entries(of change: SignalScan.Change) -> [Entry] {
    defer { last = change }
    if !change.signals.isEmpty { hasSignals = true }
    var contents: [Content] = []
    if let last, last.size != change.size { contents.append(.size(change.size)) }
    for source in OrientationSignal.Source.allCases {
      let before = last?.signals.first { $0.source == source }
      guard let now = change.signals.first(where: { $0.source == source }) else {
        if before != nil { contents.append(.ends(source)) }
        continue
      }
      let applies = change.signal == now
      if now != before || (applies && last?.signal?.source != source) {
        contents.append(.says(now, applies: applies))
      }
    }
    return contents.map { Entry(seconds: change.seconds, frame: change.frame, content: $0) }
  }
}

extension SignalLog.Entry {
  /// The entry as JSON: `at`, `frame`, `source`, then the signal. If the signal has ended, its members are
  /// `null`.
  var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("at", .number(seconds)), .init("frame", .integer(frame)),
    ]
    switch content {
    case .says(let signal, let applies):
      members += [
        .init("source", .string(signal.source.rawValue)),
        .init("orientation", .string(signal.orientation.name)),
        .init("degrees", Self.degrees(signal)),
        .init("mirrored", .bool(signal.orientation.isMirrored)), .init("applies", .bool(applies)),
      ]
    case .ends(let source):
      members += [
        .init("source", .string(source.rawValue)), .init("orientation", .null),
        .init("degrees", .null), .init("mirrored", .null), .init("applies", .bool(false)),
      ]
    case .size(let size):
      members += [
        .init("source", .string("size")), .init("width", .integer(size.width)),
        .init("height", .integer(size.height)),
      ]
    }
    return .object(members)
  }

  private static func degrees(_ signal: OrientationSignal) -> JSONValue {
    signal.isExact ? .integer(signal.orientation.clockwiseDegrees) : .number(signal.degrees)
  }
}

extension SignalLog.Entry: CustomStringConvertible {
  /// The entry as one line of text.
  var description: String {
    let start = "at \(seconds.rounded(toPlaces: 3)) s, frame \(frame): "
    switch content {
    case .says(let signal, let applies):
      return start + "\(signal.source.rawValue) is \(signal.orientation.name): \(words(signal))"
        + (applies ? "" : " (not applied: a signal of higher precedence is present)")
    case .ends(let source): return start + "\(source.rawValue) ends"
    case .size(let size): return start + "frame size \(size)"
    }
  }

  private func words(_ signal: OrientationSignal) -> String {
    let isMirrored = signal.orientation.isMirrored
    guard signal.isExact else {
      return (isMirrored ? "mirror, then " : "")
        + "turn \(signal.degrees.rounded(toPlaces: 2)) degrees clockwise, rounded to a quarter turn"
    }
    let degrees = signal.orientation.clockwiseDegrees
    if degrees == 0 { return isMirrored ? "mirror left and right" : "no turn" }
    return (isMirrored ? "mirror left and right, then " : "")
      + "turn \(degrees) degrees clockwise"
  }
}
