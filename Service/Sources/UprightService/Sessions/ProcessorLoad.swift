internal import Foundation
internal import Synchronization

/// How much of the processors is in use over the last seconds.
///
/// It is the larger one of two shares: what the service and the processes of its sessions use of the processors that they
/// may use, and what all programs of the machine use of all. The first is true in a container with a quota, the second
/// where other programs need the processors. What programs with a lower priority use is free for others, but for the
/// service's own.
final class ProcessorLoad: Sendable {
  /// The counts at one moment, in seconds of processors since the start of the process or of the machine.
  struct Sample: Sendable {
    var at: ContinuousClock.Instant
    /// What the service and its sessions have used.
    var own: Double
    /// What all programs have used, and what they could have used.
    var machine: (used: Double, total: Double)
  }

  private struct State {
    /// The samples of the last seconds, the oldest first.
    var samples: [Sample] = []
    /// The sessions that have begun since, which may not show in the samples yet.
    var begun: [ContinuousClock.Instant] = []
  }

  /// The share above which no session may begin, 0 to 1; 1 for no limit.
  private let limit: Double
  /// The number of processors that the service may use.
  private let processors: Double
  private let sample: @Sendable () -> Sample?
  private let state = Mutex(State())

  /// The time over which the load is measured, and that from one sample to the next.
  private static let (window, interval) = (Duration.seconds(4), Duration.seconds(1))

  /// - Parameter sample: Returns the present counts; `nil` if they aren't known.
  init(
    limit: Double, processors: Double = ProcessorLoad.processors,
    sample: @escaping @Sendable () -> Sample?
  ) {
    (self.limit, self.processors, self.sample) = (limit, processors, sample)
  }

  /// Takes samples until the task is cancelled. Without a limit there is nothing to measure.
  func run() async {
    guard limit < 1 else { return }
    while !Task.isCancelled {
      if let sample = sample() { add(sample) }
      try? await Task.sleep(for: Self.interval)
    }
  }

  func add(_ sample: Sample) {
    state.withLock { state in
      let start = sample.at - Self.window
      // One sample is as old as the window, or older.
      while state.samples.count > 1, state.samples[1].at <= start { state.samples.removeFirst() }
      state.samples.append(sample)
      state.begun.removeAll { $0 < start }
    }
  }

  /// Counts a session that begins.
  ///
  /// - Parameter running: The number of sessions that run already. Those that have begun a moment ago count as the mean
  ///   of all, because they don't show in the load yet.
  /// - Throws: `Problem` 503 if the load is above the limit.
  func admit(running: Int, at now: ContinuousClock.Instant = .now) throws(Problem) {
    guard limit < 1 else { return }
    let load: Double = state.withLock { state in
      let (own, machine) = Self.shares(state.samples, of: processors)
      let settled = max(1, running - state.begun.count)
      let load = max(own, machine) + own * Double(state.begun.count) / Double(settled)
      if load <= limit { state.begun.append(now) }
      return load
    }
    guard load > limit else { return }
    throw .overloaded(
      "the processors are in use to \(Int(min(load, 9.99) * 100)) %, and the limit is \(Int(limit * 100)) %"
    )
  }

  /// Returns the shares between the first and the last sample; 0 before there are two.
  static func shares(
    _ samples: [Sample], of processors: Double
  ) -> (own: Double, machine: Double) {
    guard let first = samples.first, let last = samples.last, first.at < last.at else {
      return (0, 0)
    }
    let seconds = first.at.duration(to: last.at) / .seconds(1)
    let total = last.machine.total - first.machine.total
    return (
      max(0, last.own - first.own) / (seconds * processors),
      total > 0 ? max(0, last.machine.used - first.machine.used) / total : 0
    )
  }

  /// The number of processors of this process, by its mask and by the quota of its cgroup.
  static var processors: Double {
    let all = Double(max(1, ProcessInfo.processInfo.activeProcessorCount))
    let text = (try? String(contentsOfFile: "/sys/fs/cgroup/cpu.max", encoding: .utf8)) ?? ""
    let numbers = text.split(whereSeparator: \.isWhitespace).map { Double($0) ?? 0 }
    guard numbers.count == 2, numbers[0] > 0, numbers[1] > 0 else { return all }
    return min(all, numbers[0] / numbers[1])
  }
}

extension ProcessorLoad.Sample {
  /// Reads the first line of `/proc/stat` (proc(5)): the times of user, nice, system, idle, iowait, irq, softirq, steal.
  static func machine(_ text: String, ticks: Double) -> (used: Double, total: Double)? {
    let fields = text.prefix { $0 != "\n" }.split(separator: " ")
    let times = fields.dropFirst().prefix(8).map { (Double($0) ?? 0) / ticks }
    guard fields.first == "cpu", times.count == 8 else { return nil }
    let total = times.reduce(0, +)
    return (total - times[1] - times[3] - times[4], total)
  }
}
