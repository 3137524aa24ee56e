extension SchemaText {
  static let check: JSONValue = .object(
    header("check", "The output of upright check --json") + [
      .init("type", "object"),
      .init(
        "properties",
        [
          "files": list(of: ["anyOf": [reference("file"), reference("failure")]]),
          "summary": reference("summary"),
          // Of a single playlist.
          "loads": count, "violations": list(of: ["type": "object"]),
        ]),
      .init("required", ["files"]),
      .init("additionalProperties", .bool(false)),
      .init("$defs", ["file": file, "failure": failed, "summary": summary]),
    ])

  private static let classNames = ["file", "hls", "hardware", "sei"]
  private static let verdicts = ["upright", "wrong", "unknown"]
  private static let problemKinds = [
    "missedTurn", "contradiction", "midStreamTurn", "mirrored", "aspectRatio", "angle",
    "motionPhoto", "location", "playlist",
  ]

  private static let file = object(
    [
      ("path", text), ("kind", exactly(["video", "image", "playlist", "other"])),
      ("orientation", orNull(text)), ("signals", list(of: signal)),
      ("classes", object(classNames.map { ($0, exactly(verdicts)) }, required: classNames)),
      (
        "problems",
        list(
          of: object(
            [("kind", exactly(problemKinds)), ("detail", text)], required: ["kind", "detail"]))
      ),
      (
        "fix",
        object(
          [
            ("by", exactly(["metadata", "pixels"])), ("output", orNull(text)),
            ("obstacle", orNull(text)),
          ], required: ["by", "output", "obstacle"])
      ),
    ], required: ["path", "kind", "orientation", "signals", "problems"])

  /// As `probe --json` prints it. The values of a signal that has ended are null.
  private static let signal = object(
    [
      ("at", seconds), ("frame", count), ("source", text), ("orientation", orNull(text)),
      ("degrees", orNull(["type": "number"])), ("mirrored", orNull(flag)), ("applies", flag),
    ], required: ["at", "frame", "source", "orientation", "degrees", "mirrored", "applies"])

  private static let failed = object(
    [
      ("path", text),
      (
        "error",
        object(
          [("error", text), ("where", text), ("remedy", text), ("code", text), ("exit", count)],
          required: ["error", "where", "remedy", "code", "exit"])
      ),
    ], required: ["path", "error"])

  private static let summary = object(
    [
      ("files", count), ("wrong", count), ("failed", count),
      (
        "classes",
        object(
          classNames.map { ($0, object(verdicts.map { ($0, count) }, required: verdicts)) },
          required: classNames)
      ),
      ("problems", object(problemKinds.map { ($0, count) })), ("mended", count),
      ("unmended", count),
    ], required: ["files", "wrong", "failed", "classes", "problems"])
}
