internal import UprightOrientation
internal import Synchronization
internal import UprightMedia
internal import UprightFiles

/// Shows the progress of several inputs on standard error: one bar for all of them, or lines that start with
/// the input's name. Thread-safe.
final class BatchMeter: Sendable {
  private struct State {
    var meter: ProgressMeter
    var running: [Int: SessionProgress] = [:]
    var ended = 0
    var endedFrames = 0
    /// The time at which the bar was last drawn.
    var drawn: ContinuousClock.Instant?
  }

  private let style: ProgressStyle
  private let inputs: [String]
  private let started = ContinuousClock.now
  private let state: Mutex<State>

  init(_ style: ProgressStyle, inputs: [String]) {
    self.style = style
    self.inputs = inputs
    state = Mutex(State(meter: ProgressMeter(style)))
  }

  func show(_ progress: SessionProgress, of index: Int) {
    state.withLock { state in
      state.running[index] = progress
      guard style == .bar else { return state.meter.show(progress, of: inputs[index]) }
      if let drawn = state.drawn, drawn.duration(to: .now) < .milliseconds(100) { return }
      state.drawn = .now
      draw(&state)
    }
  }

  /// Marks an input as ended. Removes the bar while `result` prints its result.
  func end(_ index: Int, printing result: () -> Void) {
    state.withLock { state in
      state.endedFrames += state.running.removeValue(forKey: index)?.frames ?? 0
      state.ended += 1
      state.meter.clear()
      result()
      if style == .bar && state.ended < inputs.count { draw(&state) }
    }
  }

  private func draw(_ state: inout State) {
    let elapsed = started.duration(to: .now) / .seconds(1)
    let parts = state.running.values.map { progress in
      progress.duration.map { $0 > 0 ? min(1, progress.seconds / $0) : 0 } ?? 0
    }
    let part = (Double(state.ended) + parts.reduce(0, +)) / Double(max(1, inputs.count))
    let frames = state.endedFrames + state.running.values.map(\.frames).reduce(0, +)
    let rate = elapsed > 0 ? Int(clamping: Double(frames) / elapsed) : 0
    var text = "\(state.ended) of \(inputs.count) inputs, \(frames.of("frame")), \(rate) fps"
    if part > 0 { text += ", \(Int(clamping: elapsed * (1 - part) / part)) s left" }
    state.meter.draw(part: part, text)
  }
}
