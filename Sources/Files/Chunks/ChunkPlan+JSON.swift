package import UprightOrientation
package import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

extension ChunkPlan {
  /// The plan as JSON: the JSON Schema `plan`.
  ///
  /// - Throws: `usage` for an option that has no name.
  package func json() throws(UprightError) -> JSONValue {
    [
      "version": .integer(Self.version), "tools": .array(tools.map { .string($0) }),
      "input": .object(
        [.init("path", .string(input)), .init("format", .text(inputFormat))] + identity.members),
      "output": [
        "path": .string(output), "format": .text(outputFormat),
        "container": .string(container.rawValue),
      ],
      "options": try options.named(), "policy": policy.json,
      "events": events.map { .array($0.map(\.json)) } ?? .null,
      "stills": .array(stills.map { ["path": .string($0.path), "digest": .string($0.digest)] }),
      "reason": .string(reason), "chunks": .array(chunks.map(\.json)),
      "timeline": timeline ?? .null, "video": video?.json ?? .null,
      "warnings": .array(warnings.map { .string($0) }),
    ]
  }

  /// The text of a plan: JSON with a line for each key, and for each chunk.
  ///
  /// - Throws: `usage` for an option that has no name.
  package func text() throws(UprightError) -> String {
    guard case .object(let members) = try json() else { return "" }
    let lines = members.map { member -> String in
      var value = member.value.compact
      if member.key == "chunks", case .array(let chunks) = member.value, !chunks.isEmpty {
        value = "[\n" + chunks.map { "  " + $0.compact }.joined(separator: ",\n") + "\n]"
      }
      return "\(JSONValue.string(member.key).compact):\(value)"
    }
    return "{\n" + lines.joined(separator: ",\n") + "\n}\n"
  }
}

extension JSONValue {
  fileprivate static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

  fileprivate init(_ rational: Rational) {
    self = [.integer(rational.numerator), .integer(rational.denominator)]
  }

  fileprivate init(_ size: PixelSize) { self = [.integer(size.width), .integer(size.height)] }
}

extension ChunkPlan.Chunk {
  fileprivate var json: JSONValue {
    switch self {
    case .tracks(let digest): ["work": "tracks", "digest": .string(digest)]
    case .whole: ["work": "whole"]
    case .frames(let frames):
      [
        "work": frames.reason == nil ? "copy" : "encode",
        "first": .integer(frames.frames.lowerBound), "last": .integer(frames.frames.upperBound - 1),
        "from": .number(frames.start), "to": frames.end.map { .number($0) } ?? .null,
        "reason": .text(frames.reason), "digest": .string(frames.digest),
      ]
    }
  }
}

extension ChunkPlan.Video {
  fileprivate var json: JSONValue {
    [
      "stream": .integer(stream), "time_base": .init(timeBase), "frames": .integer(times.count),
      "times": TickRuns.json(times), "signals": .array(changes.map(Self.json)),
      "warnings": .array(warnings.map { .string($0) }), "alignment": .init(alignment),
      "join": join?.json ?? .null,
    ]
  }

  private static func json(_ change: SignalScan.Change) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("frame", .integer(change.frame)), .init("size", .init(change.size)),
    ]
    if change.shown != change.size { members.append(.init("shown", .init(change.shown))) }
    if let signal = change.signal {
      members += [
        .init("source", .string(signal.source.rawValue)),
        .init("mirrored", .bool(signal.turn.isMirrored)),
        .init("degrees", .number(signal.turn.clockwiseDegrees)),
      ]
    }
    return .object(members)
  }
}

extension ChunkPlan.Join {
  fileprivate var json: JSONValue {
    [
      "decoding_times": TickRuns.json(decodingTimes),
      "sets": .array(sets.map { .string($0.hexadecimal) }),
      "reordering": reordering.map { .integer($0) } ?? .null, "parameters": shared.json,
    ]
  }
}

extension CodecParameters {
  /// The parameters of a video stream as JSON, with FFmpeg's names.
  var json: JSONValue {
    .object(
      numbers.map { .init($0.name, .integer($0.value)) }
        + [.init("extradata", .string(extradata.hexadecimal))])
  }

  convenience init(_ node: JSONNode) throws(UprightError) {
    var (numbers, extradata) = ([String: Int](), [UInt8]())
    do throws(PolicyError) {
      for member in try node.members("codec parameters") {
        let child = node.child(member)
        if member.key == "extradata" {
          extradata = try child.bytes()
        } else {
          numbers[member.key] = try child.count(in: -TickRuns.largest...TickRuns.largest)
        }
      }
    } catch {
      throw UprightError(error, code: .badData)
    }
    try self.init(numbers: numbers, extradata: extradata)
  }
}

extension JSONNode {
  /// Returns the bytes that hexadecimal digits give.
  func bytes() throws(PolicyError) -> [UInt8] {
    guard let bytes = [UInt8](hexadecimal: try string()) else {
      throw wrongType("hexadecimal digits")
    }
    return bytes
  }
}
