internal import Foundation
internal import Orientation
public import RotationPolicy
internal import UprightEncoding
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline

/// What a session did: spec 4's `--report`.
public struct TranscodeReport: Sendable {
  /// The report as it is written.
  public let json: JSONValue
  /// What the user should know.
  public let warnings: [String]
  /// Frames written.
  public let frames: Int
  /// Those of them that were copied.
  public let copied: Int
  /// Sizes that were encoded, in order.
  public let formats: [String]
  /// The files that were made, if they are others than the one that was named: one for each format, or a
  /// partial one.
  public let files: [String]
  /// Where a run was stopped, and the length of what it would have written, in seconds; `nil` if it came
  /// to its end.
  public let stopped: (at: Double, of: Double?)?
  /// Seconds of wall clock.
  public let wall: Double
  /// The decisions, one an event, in order.
  public let entries: [RotationDecision]

  init(
    plan: SessionPlan, tally: SessionTally, formats: [EncodedFormat], files: [String],
    outcome: SourceOutcome,
    entries: [RotationDecision],
    warnings: [String], wall: Double
  ) {
    self.warnings = warnings
    self.entries = entries
    self.files = files
    self.wall = wall
    frames = tally.frames
    copied = tally.copied
    stopped = plan.request.isStopped ? (tally.duration, plan.partDuration) : nil
    self.formats = formats.map(\.size.description)
    let size = plan.video.parameters.size
    var dropped = plan.dropped
    dropped += outcome.droppedMetadata.sorted()
    if plan.dropsLocation { dropped.append("GPS position tags") }
    if let tags = plan.droppedTags { dropped.append(tags) }
    var output: [JSONValue.Member] = [
      .init("path", .string(files.count == 1 ? files[0] : plan.request.output)),
      .init("frames", .integer(tally.frames)),
      .init("duration", .number(tally.duration)),
      .init("copied_frames", .integer(tally.copied)),
      .init("encoded_frames", .integer(tally.frames - tally.copied)),
      .init("dropped", .array(dropped.map { .string($0) })),
    ]
    if files.count > 1 { output.append(.init("files", .array(files.map { .string($0) }))) }
    json = [
      "input": [
        "path": .string(plan.request.input), "codec": .string(plan.video.codecName),
        "width": .integer(size.width), "height": .integer(size.height),
        "frames": .integer(outcome.frames),
        "duration": plan.duration.map { .number($0) } ?? .null,
      ],
      "output": .object(output),
      "formats": .array(tally.changes),
      "events": .array(entries.map(\.json)),
      "warnings": .array(warnings.map { .string($0) }),
      "timing": Self.timing(
        wall: wall, decode: outcome.seconds, orient: tally.orientSeconds,
        encode: tally.encodeSeconds),
    ]
  }

  /// Seconds, of all and of each stage.
  static func timing(
    wall: Double, decode: Double = 0, orient: Double = 0, encode: Double = 0
  ) -> JSONValue {
    [
      "wall": .number(wall.rounded(toPlaces: 3)),
      "cpu": .number(processorSeconds.rounded(toPlaces: 3)),
      "stages": [
        "decode": .number(decode.rounded(toPlaces: 3)),
        "orient": .number(orient.rounded(toPlaces: 3)),
        "encode": .number(encode.rounded(toPlaces: 3)),
      ],
    ]
  }

  /// User and system time of the whole process so far.
  private static var processorSeconds: Double {
    var usage = rusage()
    guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}

extension SessionPlan {
  /// Seconds of the clip's pictures; nil where unknown.
  var duration: Double? { video.duration ?? demuxer.container.duration }

  /// Seconds of the part that is wanted; `nil` where unknown.
  var partDuration: Double? {
    (options.end ?? duration).map { min($0, duration ?? $0) - (options.start ?? 0) }
  }

  /// Where the media timeline's zero lies on the container's, in seconds.
  var startSeconds: Double {
    video.startTime.map { Double($0) * video.timeBase.doubleValue } ?? 0
  }

  /// A frame's pixel shape, settled when it was read.
  func sampleAspectRatio(of frame: borrowing VideoFrame) -> Rational {
    frame.sampleAspectRatio
  }
}
