internal import Foundation
internal import Orientation
public import RotationPolicy
internal import UprightEncoding
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline

/// The result of a session: the report of `--report`.
public struct TranscodeReport: Sendable {
  /// The report as JSON.
  public let json: JSONValue
  /// Warnings for the user.
  public let warnings: [String]
  /// The number of frames written.
  public let frames: Int
  /// The number of those frames that were copied.
  public let copied: Int
  /// The encoded sizes, in order.
  public let formats: [String]
  /// The files that were written, if they differ from the named output: one for each format, or a partial
  /// file.
  public let files: [String]
  /// Where the run was stopped, and the duration of the complete output, in seconds; `nil` if the run reached
  /// its end.
  public let stopped: (at: Double, of: Double?)?
  /// The elapsed time in seconds.
  public let wall: Double
  /// The decisions in order, one for each event.
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
      "formats": .array(tally.changes.map(\.json)),
      "events": .array(entries.map(\.json)),
      "warnings": .array(warnings.map { .string($0) }),
      "timing": Self.timing(
        wall: wall, decode: outcome.seconds, orient: tally.orientSeconds,
        encode: tally.encodeSeconds),
    ]
  }

  /// Returns the report's timing: the seconds in total and for each stage.
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

  /// The user and system time of the process so far, in seconds.
  private static var processorSeconds: Double {
    var usage = rusage()
    guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}

extension SessionPlan {
  /// The duration of the input's video in seconds; `nil` if unknown.
  var duration: Double? { video.duration ?? demuxer.container.duration }

  /// The duration of the requested part in seconds; `nil` if unknown.
  var partDuration: Double? {
    (options.end ?? duration).map { min($0, duration ?? $0) - (options.start ?? 0) }
  }

  /// The position of the media timeline's zero on the container's timeline, in seconds.
  var startSeconds: Double {
    video.startTime.map { Double($0) * video.timeBase.doubleValue } ?? 0
  }

  /// Returns a frame's sample aspect ratio, which was resolved when it was read.
  func sampleAspectRatio(of frame: borrowing VideoFrame) -> Rational {
    frame.sampleAspectRatio
  }
}
