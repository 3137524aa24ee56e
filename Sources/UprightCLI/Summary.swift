internal import Foundation
internal import Upright
internal import Orientation

/// What is said of a transcode on standard error when it is over.
enum Summary {
  /// - Parameter clip: the input's name, where it must be told from others.
  static func tell(_ result: TranscodeReport, output: String, of clip: String? = nil) {
    let prefix = clip.map { "\($0): " } ?? ""
    for warning in result.warnings {
      StandardError.tell("warning: \(prefix)\(warning)")
    }
    guard output != "-" else { return }
    StandardError.tell(
      "\(written(result, output)): " + stop(result) + "\(result.frames) frames, "
        + result.formats.joined(separator: ", then ") + ", "
        + speed(frames: result.frames, seconds: result.wall))
  }

  /// `stopped at 14.2 of 41 s: `
  private static func stop(_ result: TranscodeReport) -> String {
    guard let stopped = result.stopped else { return "" }
    func tenths(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10)" }
    return "stopped at \(tenths(stopped.at))\(stopped.of.map { " of \(tenths($0))" } ?? "") s: "
  }

  static func speed(frames: Int, seconds: Double) -> String {
    let rate = seconds > 0 ? Int(clamping: Double(frames) / seconds) : 0
    return "in \((seconds * 100).rounded() / 100) s (\(rate) fps)"
  }

  /// What was made, by name.
  private static func written(_ result: TranscodeReport, _ output: String) -> String {
    guard let first = result.files.first, let last = result.files.last else { return output }
    return first == last ? first : "\(first) to \(last)"
  }
}
