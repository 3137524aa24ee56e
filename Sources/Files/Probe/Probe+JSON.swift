internal import UprightOrientation
public import UprightPolicy
internal import UprightMediaIO
internal import UprightMedia

extension Probe {
  /// The result as JSON: `{"streams": [...], "signals": [...]}`, and `telemetry` if there is any.
  public var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("streams", .array(streams.map(\.json))), .init("signals", .array(signals.map(\.json))),
    ]
    if !telemetry.isEmpty { members.append(.init("telemetry", .array(telemetry.map(\.json)))) }
    return .object(members)
  }
}

extension Probe.Stream {
  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("index", .integer(index)), .init("kind", .string(kind.rawValue)),
      .init("codec", .string(codec)),
    ]
    if let video { members += video.members }
    if let audio {
      members += [
        .init("sampleRate", .integer(audio.sampleRate)),
        .init("channels", .integer(audio.channels)),
      ]
    }
    members.append(.init("duration", duration.map { .number($0) } ?? .null))
    return .object(members)
  }
}

extension Probe.Stream.Video {
  /// `displayMatrix` and `rotateTag` are omitted if there are none.
  fileprivate var members: [JSONValue.Member] {
    var members: [JSONValue.Member] = [
      .init("width", .integer(size.width)), .init("height", .integer(size.height)),
      .init("shownWidth", .integer(shownSize.width)),
      .init("shownHeight", .integer(shownSize.height)),
      .init("sampleAspectRatio", .string(sampleAspectRatio.description)),
      .init("frames", frames.map { .integer($0) } ?? .null),
    ]
    if let displayMatrix {
      let values = displayMatrix.values.map { JSONValue.integer(Int($0)) }
      members.append(.init("displayMatrix", .array(values)))
    }
    if let rotateTag { members.append(.init("rotateTag", .integer(rotateTag))) }
    return members
  }
}

extension Probe.Signal {
  /// `at`, `frame`, `source`, then the signal. If the signal has ended, its members are `null`.
  var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("at", .number(seconds)), .init("frame", .integer(frame)),
    ]
    switch content {
    case .begins(let signal, let isApplied):
      let orientation = signal.orientation
      members += [
        .init("source", .string(signal.source.rawValue)),
        .init("orientation", .string(orientation.name)),
        .init(
          "degrees",
          signal.isExact ? .integer(orientation.clockwiseDegrees) : .number(signal.degrees)),
        .init("mirrored", .bool(orientation.isMirrored)), .init("applies", .bool(isApplied)),
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
}
