internal import ArgumentParser
internal import Foundation
internal import RotationPolicy
internal import Upright

/// How progress is shown (`--progress`).
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable {
  case bar, plain, json, none

  /// A bar on a terminal, else nothing.
  static var standard: ProgressStyle { StandardError.isTerminal ? .bar : .none }
}

/// Shows on standard error how far a run is.
final class ProgressMeter {
  private let style: ProgressStyle
  private let usesColour = (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
  private var isShown = false

  init(_ style: ProgressStyle) { self.style = style }

  func show(_ progress: SessionProgress) {
    let rate = progress.elapsed > 0 ? Double(progress.frames) / progress.elapsed : 0
    let speed = progress.elapsed > 0 ? progress.seconds / progress.elapsed : 0
    let left = progress.duration.flatMap { duration in
      speed > 0 ? max(0, duration - progress.seconds) / speed : nil
    }
    switch style {
    case .none: return
    case .json:
      let line: JSONValue = [
        "frames": .integer(progress.frames), "seconds": .number(progress.seconds),
        "fps": .number(round(rate)), "speed": .number(round(speed)),
        "eta": left.map { .number(round($0)) } ?? .null,
        "appOrientation": .string(progress.appOrientation),
      ]
      StandardError.write(line.compact + "\n")
    case .plain: StandardError.write(text(progress, rate, speed, left) + "\n")
    case .bar:
      isShown = true
      StandardError.write("\r\u{1B}[K" + bar(progress) + text(progress, rate, speed, left))
    }
  }

  /// Takes the bar away before other text is written.
  func clear() {
    if isShown { StandardError.write("\r\u{1B}[K") }
    isShown = false
  }

  private func text(
    _ progress: SessionProgress, _ rate: Double, _ speed: Double, _ left: Double?
  ) -> String {
    var text = "\(progress.frames) frames, \(Int(rate)) fps, \(round(speed))x"
    if let left { text += ", \(Int(left.rounded())) s left" }
    return text + ", \(progress.appOrientation)"
  }

  private func bar(_ progress: SessionProgress) -> String {
    guard let duration = progress.duration, duration > 0 else { return "" }
    let width = 24
    let filled = Int(min(1, progress.seconds / duration) * Double(width))
    let (on, off) =
      (String(repeating: "━", count: filled), String(repeating: "─", count: width - filled))
    return usesColour ? "\u{1B}[32m\(on)\u{1B}[90m\(off)\u{1B}[0m " : "\(on)\(off) "
  }

  private func round(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
