internal import UprightOrientation
internal import UprightFiles
internal import UprightMedia

/// The messages about a finished transcode.
enum Summary {
  /// - Parameter input: The input's name, if there are several inputs.
  static func lines(_ report: TranscodeReport, of input: String? = nil) -> [String] {
    let written = report.output
    let lines = warnings(report, of: input)
    guard written.path != "-" else { return lines }
    // Renditions have sizes that don't follow each other.
    let isSequence = written.sizes.count <= report.formats.count
    return lines + [
      "\(files(written)): " + stop(report) + written.frames.of("frame") + copies(written) + ", "
        + written.sizes.map(\.description).joined(separator: isSequence ? ", then " : ", ") + ", "
        + speed(frames: written.encodedFrames, seconds: report.timing.wall)
    ]
  }

  /// - Parameter input: The input's name, if there are several inputs.
  static func warnings(_ report: TranscodeReport, of input: String?) -> [String] {
    let prefix = input.map { "\($0): " } ?? ""
    return (report.warnings + report.output.dropped.map { "left out: \($0)" }).map {
      "warning: \(prefix)\($0)"
    }
  }

  private static func copies(_ output: TranscodeReport.Output) -> String {
    switch output.copiedFrames {
    case 0: ""
    case output.frames: " copied"
    default: " (\(output.copiedFrames) copied)"
    }
  }

  /// `stopped at 14.2 of 41 s: `
  private static func stop(_ report: TranscodeReport) -> String {
    guard let stop = report.stopped else { return "" }
    func tenths(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }
    return "stopped at \(tenths(stop.at))\(stop.duration.map { " of \(tenths($0))" } ?? "") s: "
  }

  /// - Parameter frames: The number of frames that were encoded.
  static func speed(frames: Int, seconds: Double) -> String {
    let time = "in \((seconds * 100).rounded() / 100) s"
    return frames > 0 && seconds > 0
      ? time + " (\(Int(clamping: Double(frames) / seconds)) fps)" : time
  }

  /// Returns the names of the files that were written.
  private static func files(_ output: TranscodeReport.Output) -> String {
    guard output.files.count > 1, let first = output.files.first, let last = output.files.last
    else { return output.path }
    return "\(first) to \(last)"
  }
}
