public import Orientation
public import RotationPolicy
internal import UprightIntake
internal import UprightMediaIO

/// All orientation signals in a file over time: `upright probe`.
public struct Probe: Sendable {
  /// The result as JSON: `{"streams": [...], "signals": [...]}`.
  public let json: JSONValue
  /// The result as lines of text.
  public let lines: [String]
  /// Warnings for the user: signals with invalid values.
  public let warnings: [String]

  /// Reads all of `input`. Frames are decoded only if a signal can't be found otherwise.
  ///
  /// - Throws: `noInput`, `badData`.
  public init(input: String, format: String? = nil) throws(UprightError) {
    let demuxer = try openSource(input, format: format)
    var lines = ["\(input): \(demuxer.container.format)"]
    var streams: [JSONValue] = []
    for stream in demuxer.container.streams {
      streams.append(Self.json(stream))
      lines.append(Self.line(stream))
    }
    var signals: [JSONValue] = []
    var warnings: [String] = []
    if demuxer.bestStream(.video) != nil {
      var scan = try SignalScan(demuxer)
      var log = SignalLog()
      while let change = try scan.next() {
        for entry in log.entries(of: change) {
          signals.append(entry.json)
          lines.append("  " + entry.description)
        }
      }
      if !log.hasSignals { lines.append("  no orientation signal") }
      warnings = scan.warnings
    } else {
      lines.append("  no video stream")
    }
    json = ["streams": .array(streams), "signals": .array(signals)]
    self.lines = lines
    self.warnings = warnings
  }

  private static func json(_ stream: StreamInfo) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("index", .integer(stream.index)), .init("kind", .string(stream.kind.rawValue)),
      .init("codec", .string(stream.codecName)),
    ]
    if stream.kind == .video {
      members += [
        .init("width", .integer(stream.parameters.size.width)),
        .init("height", .integer(stream.parameters.size.height)),
        .init("sampleAspectRatio", .string(stream.sampleAspectRatio.description)),
        .init("frames", stream.frameCount > 0 ? .integer(stream.frameCount) : .null),
      ]
      if let matrix = stream.displayMatrix {
        members.append(
          .init("displayMatrix", .array(matrix.values.map { .integer(Int($0)) })))
      }
      if let tag = stream.rotateTag { members.append(.init("rotateTag", .integer(tag))) }
    }
    if stream.kind == .audio {
      members += [
        .init("sampleRate", .integer(stream.parameters.sampleRate)),
        .init("channels", .integer(stream.parameters.channels)),
      ]
    }
    members.append(.init("duration", stream.duration.map { .number($0) } ?? .null))
    return .object(members)
  }

  private static func line(_ stream: StreamInfo) -> String {
    var text = "  stream \(stream.index)  \(stream.kind.rawValue) "
    text += stream.codecName == "none" ? stream.codecTag : stream.codecName
    if stream.kind == .video {
      text += " \(stream.parameters.size)"
      if stream.sampleAspectRatio != .one { text += " SAR \(stream.sampleAspectRatio)" }
    }
    if stream.kind == .audio {
      text += " \(stream.parameters.sampleRate) Hz, \(stream.parameters.channels) channels"
    }
    return text
  }
}
