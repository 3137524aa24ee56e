internal import UprightOrientation

extension SchemaText {
  /// The output of `upright plan`, and its members' meaning.
  static let plan: JSONValue = {
    let top = object(
      [
        ("version", ["const": .integer(1)]),
        ("tools", said("The versions that the output's bytes depend on.", list(of: text))),
        ("input", input), ("output", output),
        (
          "options",
          said("The options of transcode by their long names, except defaults.", ["type": "object"])
        ),
        ("policy", said("The policy: the schema policy.", ["type": "object"])),
        (
          "events",
          said(
            "Events: the schema events. null if the input's signals are the events.",
            orNull(list(of: ["type": "object"])))
        ),
        (
          "stills",
          said(
            "The still pictures that are drawn into the frames.",
            list(of: object([("path", text), ("digest", digest)], required: ["path", "digest"])))
        ),
        ("reason", said("Why frames are encoded or copied.", text)),
        (
          "chunks",
          said(
            "The chunks in the order of the output. None if join copies the input.",
            list(of: reference("chunk")))
        ),
        (
          "timeline",
          said(
            "The policy's decisions and the formats of the whole output, as in a report.",
            orNull(
              object(
                [
                  ("events", list(of: ["type": "object"])),
                  ("formats", list(of: ["type": "object"])),
                ],
                required: ["events", "formats"])))
        ),
        ("video", orNull(video)), ("warnings", list(of: text)),
      ],
      required: [
        "version", "tools", "input", "output", "options", "policy", "events", "stills", "reason",
        "chunks", "timeline", "video", "warnings",
      ], .init("$defs", ["chunk": chunk, "runs": runs, "signal": signal, "join": join]))
    guard case .object(let members) = top else { return top }
    return .object(header("plan", "An Upright plan: a transcode in chunks") + members)
  }()

  private static func said(_ meaning: String, _ schema: JSONValue) -> JSONValue {
    guard case .object(let members) = schema else { return schema }
    return .object([.init("description", .string(meaning))] + members)
  }

  private static let digest: JSONValue = [
    "description": "SHA-256.", "type": "string", "pattern": "^[0-9a-f]{64}$",
  ]

  private static let bytes: JSONValue = ["type": "string", "pattern": "^(?:[0-9a-f]{2})*$"]

  private static let input = object(
    [
      ("path", text), ("format", orNull(text)), ("size", count), ("head", digest), ("tail", digest),
    ], required: ["path", "format", "size", "head", "tail"])

  private static let output = object(
    [("path", text), ("format", orNull(text)), ("container", text)],
    required: ["path", "format", "container"])

  private static let chunk: JSONValue = [
    "oneOf": [
      object(
        [
          ("work", exactly(["encode", "copy"])), ("first", count), ("last", count),
          ("from", seconds), ("to", orNull(seconds)), ("reason", orNull(text)), ("digest", digest),
        ], required: ["work", "first", "last", "from", "to", "reason", "digest"]),
      object([("work", exactly(["tracks"])), ("digest", digest)], required: ["work", "digest"]),
      object([("work", exactly(["whole"]))], required: ["work"]),
    ]
  ]

  private static func pair(_ meaning: String) -> JSONValue {
    said(
      meaning,
      list(
        of: ["type": "integer", "minimum": .integer(1)], .init("minItems", .integer(2)),
        .init("maxItems", .integer(2))))
  }

  private static let runs = said(
    "Timestamps as runs of equal steps: start, step, count, start, step, count, ...",
    list(of: ["type": "integer"], .init("minItems", .integer(3))))

  private static let video = object(
    [
      ("stream", count), ("time_base", pair("Seconds per tick: numerator, denominator.")),
      ("frames", ["type": "integer", "minimum": .integer(1)]), ("times", reference("runs")),
      ("signals", list(of: reference("signal"))), ("warnings", list(of: text)),
      ("alignment", pair("The alignment of frames on the canvas, in samples.")),
      ("join", orNull(reference("join"))),
    ],
    required: [
      "stream", "time_base", "frames", "times", "signals", "warnings", "alignment", "join",
    ])

  private static let signal = object(
    [
      ("frame", count), ("size", pair("Width and height of the stored frames.")),
      ("shown", pair("Width and height that are shown, before the turn, if they differ.")),
      ("source", text), ("mirrored", flag), ("degrees", seconds),
    ], required: ["frame", "size"])

  private static let join = object(
    [
      ("decoding_times", reference("runs")), ("sets", list(of: bytes)),
      ("reordering", orNull(count)),
      (
        "parameters",
        said(
          "FFmpeg's codec parameters of the output's track.",
          ["type": "object", "additionalProperties": ["type": ["integer", "string"]]])
      ),
    ], required: ["decoding_times", "sets", "reordering", "parameters"])
}
