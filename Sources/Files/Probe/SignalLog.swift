internal import Orientation
internal import RotationPolicy
internal import UprightIntake
internal import UprightPipeline

/// Makes a list of what each source says, and from when, out of what stands picture by picture.
struct SignalLog {
  /// One line of the list.
  struct Entry {
    let seconds: Double
    let frame: Int
    let content: Content
  }

  enum Content {
    /// A source says so from here on; `applies`: nothing stronger speaks.
    case says(OrientationSignal, applies: Bool)
    /// A source says nothing any more.
    case ends(OrientationSignal.Source)
    /// The coded pictures have this size from here on.
    case size(PixelSize)
  }

  private var last: SignalScan.Change?
  /// Whether any source ever said something.
  private(set) var hasSignals = false

  /// What is new at `change`: sources in precedence. A source is named again where it begins to apply
  /// because a stronger one has ended. A size is named where it changes.
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
  /// Spec 4's form: `at`, `frame`, `source`, then what it says; a source that ends has null there.
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
  /// One line for a person.
  var description: String {
    let start = "at \(seconds.rounded(toPlaces: 3)) s, frame \(frame): "
    switch content {
    case .says(let signal, let applies):
      return start + "\(signal.source.rawValue) says \(signal.orientation.name): \(words(signal))"
        + (applies ? "" : " (not applied: a stronger signal speaks)")
    case .ends(let source): return start + "\(source.rawValue) says nothing any more"
    case .size(let size): return start + "pictures of \(size)"
    }
  }

  private func words(_ signal: OrientationSignal) -> String {
    let isMirrored = signal.orientation.isMirrored
    guard signal.isExact else {
      return (isMirrored ? "mirror, then " : "")
        + "turn \(signal.degrees.rounded(toPlaces: 2)) degrees clockwise, taken as the nearest quarter turn"
    }
    let degrees = signal.orientation.clockwiseDegrees
    if degrees == 0 { return isMirrored ? "mirror left and right" : "nothing to turn" }
    return (isMirrored ? "mirror left and right, then " : "")
      + "turn \(degrees) degrees clockwise"
  }
}
