internal import Foundation
internal import MediaIO
internal import Orientation
public import RotationPolicy

/// What a session did: spec 4's `--report`.
public struct TranscodeReport: Sendable {
  /// The report as it is written.
  public let json: JSONValue
  /// What the user should know.
  public let warnings: [String]
  /// Frames written.
  public let frames: Int
  /// Sizes that were encoded, in order.
  public let formats: [String]
  /// The files that were made, where each format has its own; else empty.
  public let files: [String]
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
    self.formats = formats.map(\.size.description)
    let size = plan.video.parameters.size
    var dropped = plan.dropped
    dropped += outcome.droppedMetadata.sorted()
    if plan.dropsLocation { dropped.append("GPS position tags") }
    if let tags = plan.droppedTags { dropped.append(tags) }
    var output: [JSONValue.Member] = [
      .init("path", .string(plan.session.output)), .init("frames", .integer(tally.frames)),
      .init("duration", .number(tally.duration)),
      .init("copied_frames", .integer(plan.copies ? tally.frames : 0)),
      .init("encoded_frames", .integer(plan.copies ? 0 : tally.frames)),
      .init("dropped", .array(dropped.map { .string($0) })),
    ]
    if !files.isEmpty { output.append(.init("files", .array(files.map { .string($0) }))) }
    json = [
      "input": [
        "path": .string(plan.session.input), "codec": .string(plan.video.codecName),
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

extension Double {
  func rounded(toPlaces places: Int) -> Double {
    let factor = [1.0, 10, 100, 1000, 10_000, 100_000, 1_000_000][min(max(places, 0), 6)]
    return (self * factor).rounded() / factor
  }
}

/// What a session would do: `--dry-run`.
public struct TranscodePlan: Sendable {
  /// Lines for a person.
  public let lines: [String]

  init(_ plan: SessionPlan) {
    let size = plan.video.parameters.size
    var lines = [
      "input   \(plan.session.input): \(plan.video.codecName) \(size), "
        + (plan.duration.map { "\($0.rounded(toPlaces: 3)) s" } ?? "length unknown"),
      "output  \(plan.session.output): \(plan.container.rawValue), \(plan.copies ? plan.video.codecName : plan.codec.rawValue)",
    ]
    let canvas =
      switch plan.canvas {
      case .follow: "follows the app orientation"
      case .fixed(let isLandscape): isLandscape ? "landscape, fixed" : "portrait, fixed"
      case .initial: "as the first frame wants it, fixed"
      }
    lines.append("canvas  \(canvas)")
    if let decided = plan.copyPlan {
      lines.append("frames  \(plan.copies ? "copied" : "re-encoded"): \(decided.reason)")
    }
    for track in plan.sideTracks {
      lines.append(
        "track   stream \(track.stream.index): \(track.stream.codecName), \(track.action)")
    }
    lines += plan.dropped.map { "dropped \($0)" }
    if plan.dropsLocation { lines.append("dropped GPS position tags") }
    if let tags = plan.droppedTags { lines.append("dropped \(tags)") }
    lines += plan.warnings.map { "warning \($0)" }
    self.lines = lines
  }
}

extension SessionPlan {
  /// Seconds of the clip's pictures; nil where unknown.
  var duration: Double? { video.duration ?? demuxer.container.duration }

  /// Where the media timeline's zero lies on the container's, in seconds.
  var startSeconds: Double {
    video.startTime.map { Double($0) * video.timeBase.doubleValue } ?? 0
  }

  /// A frame's pixel shape, settled when it was read.
  func sampleAspectRatio(of frame: borrowing VideoFrame) -> Rational {
    frame.sampleAspectRatio
  }

  /// What was lost of a damaged input, in words; empty where nothing was.
  func losses(_ outcome: SourceOutcome, sound: Int) -> [String] {
    var losses: [String] = []
    func add(_ count: Int, _ one: String, _ what: String) {
      if count > 0 { losses.append("\(count) \(one)\(count == 1 ? "" : "s") \(what)") }
    }
    add(outcome.damagedPackets, "video packet", "could not be decoded")
    add(outcome.damagedFrames, "frame", "had to be patched")
    add(sound, "sound packet", "could not be decoded")
    if let error = outcome.error { losses.append(error.message) }
    add(outcome.undecodedPackets(of: video) ?? 0, "packet", "gave no picture")
    // An index that promises more than the file holds: cut off.
    let missing = video.frameCount - outcome.videoPackets
    let isWhole = !outcome.isStopped && !outcome.isPartial && !outcome.isCut
    if missing > 0 && isWhole && !video.isAttachedPicture {
      losses.append("\(missing) of \(video.frameCount) frames are not in the file")
    }
    losses += demuxer.losses
    add(outcome.repairedTimestamps, "timestamp", "did not rise")
    return losses
  }
}

extension SideTrackWriter {
  /// What is done with the track, in a word.
  var action: String {
    switch work {
    case .copy, .filter: "copied"
    case .transcode: "re-encoded"
    case .rewrite: "rewritten"
    }
  }
}
