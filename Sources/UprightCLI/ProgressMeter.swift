internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFiles

/// How progress is shown (`--progress`).
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable {
  case bar, plain, json, none

  /// A bar on a terminal, otherwise nothing.
  static var standard: ProgressStyle { StandardError.isTerminal ? .bar : .none }
}

/// Shows the progress of a run on standard error. Not thread-safe.
struct ProgressMeter {
  private let style: ProgressStyle
  private let usesColour = unsafe (getenv("NO_COLOR").map { unsafe $0.pointee == 0 } ?? true)
  private var isShown = false

  init(_ style: ProgressStyle) { self.style = style }

  /// - Parameter input: The input's name, if there are several inputs.
  mutating func show(_ progress: SessionProgress, of input: String? = nil) {
    let rate = progress.elapsed > 0 ? Double(progress.frames) / progress.elapsed : 0
    let speed = progress.elapsed > 0 ? progress.seconds / progress.elapsed : 0
    let left = progress.duration.flatMap { duration in
      speed > 0 ? max(0, duration - progress.seconds) / speed : nil
    }
    switch style {
    case .none: return
    case .json:
      var line: [JSONValue.Member] = input.map { [.init("input", .string($0))] } ?? []
      line += [
        .init("frames", .integer(progress.frames)), .init("seconds", .number(progress.seconds)),
        .init("fps", .number(round(rate))), .init("speed", .number(round(speed))),
        .init("eta", left.map { .number(round($0)) } ?? .null),
        .init("appOrientation", .string(progress.appOrientation)),
      ]
      StandardError.write(JSONValue.object(line).compact + "\n")
    case .plain:
      let name = input.map { "\($0.printable): " } ?? ""
      StandardError.write(name + text(progress, rate, speed, left) + "\n")
    case .bar:
      let part = progress.duration.flatMap { $0 > 0 ? progress.seconds / $0 : nil }
      draw(part: part, text(progress, rate, speed, left))
    }
  }

  /// Redraws the bar.
  ///
  /// - Parameter part: The completed fraction, 0 to 1. `nil` if the duration is unknown.
  mutating func draw(part: Double?, _ text: String) {
    isShown = true
    StandardError.write("\r\u{1B}[K" + (part.map(bar) ?? "") + text)
  }

  /// Removes the bar before other text is written.
  mutating func clear() {
    if isShown { StandardError.write("\r\u{1B}[K") }
    isShown = false
  }

  private func text(
    _ progress: SessionProgress, _ rate: Double, _ speed: Double, _ left: Double?
  ) -> String {
    var text = "\(progress.frames.of("frame")), \(Int(rate)) fps, \(round(speed))x"
    if let left { text += ", \(Int(clamping: left)) s left" }
    return text + ", \(progress.appOrientation)"
  }

  private func bar(_ part: Double) -> String {
    let width = 24
    let filled = Int(clamping: (max(0, min(1, part)) * Double(width)).rounded(.down))
    let (on, off) =
      (String(repeating: "━", count: filled), String(repeating: "─", count: width - filled))
    return usesColour ? "\u{1B}[32m\(on)\u{1B}[90m\(off)\u{1B}[0m " : "\(on)\(off) "
  }

  private func round(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
