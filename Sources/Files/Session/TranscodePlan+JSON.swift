internal import UprightOrientation
public import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

extension TranscodePlan {
  /// The plan as JSON. Values that are `nil` are `null`.
  public var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("input", input.json), .init("output", output.json),
      .init("canvas", .string(canvases.count > 1 ? "dual" : canvas.name)),
    ]
    if let destination { members.append(.init("for", .string(destination))) }
    if !renditions.isEmpty {
      members.append(.init("renditions", .array(renditions.map(\.json))))
    }
    members += [
      .init("parts", .array(parts.map(\.json))), .init("concurrency", .integer(concurrency)),
      .init("tone_mapped", .bool(isToneMapped)), .init("tracks", .array(tracks.map(\.json))),
      .init("dropped", .array(dropped.map { .string($0) })),
      .init("warnings", .array(warnings.map { .string($0) })),
    ]
    return .object(members)
  }
}

extension PlannedRendition {
  fileprivate var json: JSONValue {
    let rateMember: JSONValue.Member =
      switch rate {
      case .bitrate(let bits): .init("bitrate", .integer(bits))
      case .constantQuality(let quality): .init("crf", quality.map { .number($0) } ?? .null)
      }
    return .object([.init("name", .string(name)), .init("path", .string(path)), rateMember])
  }
}

extension TranscodePlan.Input {
  fileprivate var json: JSONValue {
    [
      "path": .string(path), "codec": .string(codec), "width": .integer(size.width),
      "height": .integer(size.height), "duration": duration.map { .number($0) } ?? .null,
    ]
  }
}

extension TranscodePlan.Output {
  fileprivate var json: JSONValue {
    [
      "path": .string(path), "container": .string(container.rawValue), "codec": .string(codec),
    ]
  }
}

extension TranscodePlan.Part {
  fileprivate var json: JSONValue {
    [
      "from": .number(start), "to": end.map { .number($0) } ?? .null,
      "frames": frames.map { .integer($0) } ?? .null, "copied": .bool(isCopied),
      "reason": .string(reason),
    ]
  }
}

extension TranscodePlan.Track {
  fileprivate var json: JSONValue {
    [
      "stream": .integer(stream), "kind": .string(kind.rawValue), "codec": .string(codec),
      "action": .string(action.rawValue),
    ]
  }
}

extension FrameCanvas {
  /// The name in JSON, which is also the value of `--canvas`.
  fileprivate var name: String {
    switch self {
    case .follow: "follow"
    case .fixed(let isLandscape): isLandscape ? "landscape" : "portrait"
    case .initial: "initial"
    case .frame: "frame"
    }
  }
}
