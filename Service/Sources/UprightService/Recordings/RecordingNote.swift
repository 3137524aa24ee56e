internal import Foundation
internal import UprightPolicy
internal import Upright

/// What is known of a recording besides its file. It is kept in a hidden file beside it, so that it outlives the
/// process.
struct RecordingNote: Sendable, Hashable {
  /// A note of `recording` of an earlier process means that this process was killed.
  var state: LiveRecording.State
  /// The time at which the file was started, as in RFC 3339.
  var started: String
  /// The time at which it was closed, as in RFC 3339; `nil` while it is written.
  var ended: String?
  /// The duration in seconds, and the number of frames; `nil` while it is written.
  var duration: Double?
  var frames: Int?
  /// Why it has failed.
  var problem: String?
  var report: JSONValue?

  init(started: Date) {
    state = .recording
    self.started = started.rfc3339
  }

  /// Reads a note. Returns `nil` if the file isn't one: people may have changed it.
  init?(_ data: Data) {
    guard let value = try? JSONValue(parsing: data),
      let state = value["state"]?.text.flatMap(LiveRecording.State.init),
      let started = value["started"]?.text, Date(rfc3339: started) != nil
    else { return nil }
    self.state = state
    self.started = started
    ended = value["ended"]?.text.flatMap { Date(rfc3339: $0) == nil ? nil : $0 }
    duration = value["duration"]?.double.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    frames = value["frames"]?.double.flatMap { Int(exactly: $0) }
    problem = value["problem"]?.text
    report = value["report"].flatMap(RecordingReport.init)?.json
  }

  var json: JSONValue {
    [
      "state": .string(state.rawValue), "started": .string(started), "ended": .text(ended),
      "duration": duration.map { .number($0) } ?? .null,
      "frames": frames.map { .integer($0) } ?? .null, "problem": .text(problem),
      "report": report ?? .null,
    ]
  }
}

/// What happened while a file was recorded.
struct RecordingReport: Sendable, Hashable {
  /// A rotation of the frames.
  struct Rotation: Sendable, Hashable {
    /// The time in seconds: of the file's timeline in a report, of the session's elsewhere.
    var at: Double
    var from: String
    var to: String
  }

  /// The media time of the file's first frame in the session, in seconds.
  var start: Double
  /// The number of frames that are missing because the output did not take them.
  var dropped: Int
  /// How often the input was lost.
  var inputLosses: Int
  /// The last rotations, at most `maxRotations`.
  var rotations: [Rotation]

  static let maxRotations = 1000

  init(_ recording: LiveRecording, inputLosses: Int, rotations: [Rotation]) {
    start = recording.start
    dropped = recording.dropped
    self.inputLosses = inputLosses
    let end = recording.start + recording.duration
    self.rotations = rotations.filter { $0.at >= recording.start && $0.at < end }
      .suffix(Self.maxRotations).map {
        var rotation = $0
        rotation.at -= recording.start
        return rotation
      }
  }

  /// Returns `nil` if the JSON isn't a report.
  init?(_ value: JSONValue) {
    guard let start = value["start"]?.double, start.isFinite,
      let dropped = value["dropped"]?.double.flatMap({ Int(exactly: $0) }),
      let losses = value["inputLosses"]?.double.flatMap({ Int(exactly: $0) }),
      case .array(let list)? = value["rotations"], list.count <= Self.maxRotations
    else { return nil }
    self.start = start
    self.dropped = dropped
    inputLosses = losses
    rotations = list.compactMap { entry in
      guard let at = entry["at"]?.double, at.isFinite, let from = entry["from"]?.text,
        let to = entry["to"]?.text
      else { return nil }
      return Rotation(at: at, from: from, to: to)
    }
  }

  var json: JSONValue {
    [
      "start": .number(start), "dropped": .integer(dropped), "inputLosses": .integer(inputLosses),
      "rotations": .array(
        rotations.map {
          ["at": .number($0.at), "from": .string($0.from), "to": .string($0.to)]
        }),
    ]
  }
}

extension Date {
  private static let style = ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The time in UTC with milliseconds, as in RFC 3339: `2026-03-01T12:00:00.250Z`.
  var rfc3339: String { formatted(Self.style) }

  /// Parses what `rfc3339` returns. Returns `nil` for anything else.
  init?(rfc3339 text: String) {
    guard let date = try? Self.style.parse(text) else { return nil }
    self = date
  }
}

extension JSONValue {
  /// A string, or `null` for `nil`.
  static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
