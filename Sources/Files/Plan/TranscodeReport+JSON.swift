internal import UprightOrientation
public import UprightPolicy
internal import UprightMedia

extension TranscodeReport {
  /// The report as JSON, with the keys in their documented order: the JSON Schema `report`.
  public var json: JSONValue {
    [
      "input": input.json, "output": output.json, "formats": .array(formats.map(\.json)),
      "events": .array(decisions.map(\.json)), "warnings": .array(warnings.map { .string($0) }),
      "timing": timing.json,
    ]
  }
}

extension TranscodeReport.Input {
  fileprivate var json: JSONValue {
    [
      "path": .string(path), "codec": .string(codec), "width": .integer(size.width),
      "height": .integer(size.height), "frames": .integer(frames),
      "duration": duration.map { .number($0) } ?? .null,
    ]
  }
}

extension TranscodeReport.Output {
  /// `files` is there only if there are several.
  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("path", .string(path)), .init("frames", .integer(frames)),
      .init("duration", .number(duration)), .init("copied_frames", .integer(copiedFrames)),
      .init("encoded_frames", .integer(encodedFrames)),
      .init("dropped", .array(dropped.map { .string($0) })),
    ]
    if files.count > 1 { members.append(.init("files", .array(files.map { .string($0) }))) }
    return .object(members)
  }
}

extension TranscodeReport.Timing {
  /// In milliseconds' precision.
  fileprivate var json: JSONValue {
    [
      "wall": .number(wall.rounded(toPlaces: 3)), "cpu": .number(cpu.rounded(toPlaces: 3)),
      "stages": [
        "decode": .number(stages.decode.rounded(toPlaces: 3)),
        "orient": .number(stages.orient.rounded(toPlaces: 3)),
        "encode": .number(stages.encode.rounded(toPlaces: 3)),
      ],
    ]
  }
}
