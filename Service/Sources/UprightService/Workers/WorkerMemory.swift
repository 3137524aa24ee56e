internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// What a session's next worker has to know, because the one before is dead.
struct WorkerMemory: Sendable {
  private struct Output: Sendable {
    let id: String
    let output: LiveOutput
    let canvas: CanvasRule?
  }

  /// The configuration with the changes so far, but not its outputs.
  private var configuration: LiveConfiguration
  private var outputs: [Output]
  /// The events, each with the media time at which it takes effect, in the order of these.
  private var events: [(time: Double, event: StreamEvent)] = []

  /// The number of events that are kept.
  private static let maxEvents = 1024

  /// - Parameter ids: The ids of the outputs.
  init(_ configuration: LiveConfiguration, ids: [String]) {
    self.configuration = configuration
    let canvases = configuration.outputCanvases
    outputs = zip(ids, configuration.outputs).enumerated().map { index, pair in
      Output(
        id: pair.0, output: pair.1, canvas: canvases.indices.contains(index) ? canvases[index] : nil
      )
    }
  }

  /// Returns what a worker begins with.
  ///
  /// - Parameters:
  ///   - last: The session as it was.
  ///   - time: The media time at which the worker begins; `nil` for the first worker.
  /// - Throws: `usage` for what can't be passed to another process.
  func plan(after last: LiveSnapshot, at time: Double? = nil) throws(UprightError) -> WorkerPlan {
    var next = configuration
    next.outputs = outputs.map(\.output)
    next.outputIDs = outputs.map(\.id)
    next.outputCanvases = outputs.map(\.canvas)
    var plan = try WorkerPlan(next)
    plan.startTime = time
    plan.events = events.map { time, event in
      time > plan.startTime ?? 0 ? .at(time, event.action) : .now(event.action)
    }
    // Before the first frame nothing is decided.
    plan.decided = last.counters.framesOut > 0 ? events.count { $0.time <= last.seconds } : 0
    plan.stoppedOutputs = last.outputs.filter { [.stopped, .failed].contains($0.state) }.map(\.id)
    // A publisher that has left meanwhile has the usual time to come back.
    if last.counters.framesIn > 0 { plan.waitsForPublisher = false }
    return plan
  }

  /// Remembers events that were accepted at the media time `now`.
  mutating func add(_ posted: [StreamEvent], at now: Double) {
    for event in posted {
      let time = max(event.time ?? now, now)
      var index = (events.lastIndex { $0.time <= time } ?? -1) + 1
      // Of the readings in a row the last one counts.
      if index > 0, case .now(.gravity) = event, case .now(.gravity) = events[index - 1].event {
        index -= 1
        events.remove(at: index)
      }
      events.insert((time, event), at: index)
    }
    if events.count > Self.maxEvents { events.removeFirst(events.count - Self.maxEvents) }
  }

  mutating func add(_ output: LiveOutput, id: String, canvas: CanvasRule?) {
    outputs.append(Output(id: id, output: output, canvas: canvas))
  }

  mutating func removeOutput(_ id: String) { outputs.removeAll { $0.id == id } }

  mutating func change(_ change: LiveChange) {
    if let policy = change.policy { configuration.policy = policy }
    configuration.options = change.applied(to: configuration.options)
  }
}
