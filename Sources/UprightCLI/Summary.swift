internal import Foundation
internal import Orientation
internal import UprightFiles

/// The messages about a finished transcode on standard error.
enum Summary {
  /// - Parameter clip: The input's name, if there are several inputs.
  static func tell(_ result: TranscodeReport, output: String, of clip: String? = nil) {
    let prefix = clip.map { "\($0): " } ?? ""
    for warning in result.warnings {
      StandardError.tell("warning: \(prefix)\(warning)")
    }
    guard output != "-" else { return }
    StandardError.tell(
      "\(written(result, output)): " + stop(result) + "\(result.frames) frames" + copies(result)
        + ", "
        + result.formats.joined(separator: ", then ") + ", "
        + speed(frames: result.frames - result.copied, seconds: result.wall))
  }

  private static func copies(_ result: TranscodeReport) -> String {
    switch result.copied {
    case 0: ""
    case result.frames: " copied"
    default: " (\(result.copied) copied)"
    }
  }

  /// `stopped at 14.2 of 41 s: `
  private static func stop(_ result: TranscodeReport) -> String {
    guard let stopped = result.stopped else { return "" }
    func tenths(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }
    return "stopped at \(tenths(stopped.at))\(stopped.of.map { " of \(tenths($0))" } ?? "") s: "
  }

  /// - Parameter frames: The number of frames that were encoded.
  static func speed(frames: Int, seconds: Double) -> String {
    let time = "in \((seconds * 100).rounded() / 100) s"
    return frames > 0 && seconds > 0
      ? time + " (\(Int(clamping: Double(frames) / seconds)) fps)" : time
  }

  /// Returns the names of the files that were written.
  private static func written(_ result: TranscodeReport, _ output: String) -> String {
    guard let first = result.files.first, let last = result.files.last else { return output }
    return first == last ? first : "\(first) to \(last)"
  }
}
