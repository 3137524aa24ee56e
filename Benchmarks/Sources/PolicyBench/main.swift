// Measures events per second through the rotation policy, and allocations per event.
//
//   swift run -c release PolicyBench [--json FILE] [--events N] [--rounds N]
import CAllocationCount
import Foundation
import UprightPolicy

/// One row: the median of the rounds.
struct Measurement: Codable {
  var stream: String
  /// `reducer`: decisions only. `session`: with timeline, formats and entries, as a live session.
  var path: String
  var events: Int
  var eventsPerSecond: Double
  var allocationsPerEvent: Double
}

/// Feeds a stream in. The events are created before the clock starts.
struct Feed {
  let stream: Stream
  let events: [RotationEvent]

  init(_ stream: Stream, count: Int) {
    self.stream = stream
    events = (0..<count).map { RotationEvent(at: Double($0) / 1000, stream.action($0)) }
  }

  /// Runs the decisions only, into one array that is emptied and reused.
  func reducer() throws {
    var reducer = try RotationReducer(stream.document)
    var outputs: [RotationOutput] = []
    for event in events {
      try reducer.reduce(event, into: &outputs)
      outputs.removeAll(keepingCapacity: true)
    }
  }

  /// Does what a live session does: pushes events, takes the entries and formats, and forgets past ones.
  func session() throws {
    var plan = try OrientationPlan(stream.document)
    for (index, event) in events.enumerated() {
      try plan.push(event)
      guard index % 30 == 0 else { continue }
      _ = plan.takeEntries()
      _ = plan.takeFormats(before: event.at)
      plan.forget(before: event.at)
    }
  }
}

func measure(
  _ stream: Stream, _ path: String, count: Int, rounds: Int, _ run: () throws -> Void
) throws -> Measurement {
  // Once before the clock starts: lazy tables, the allocator's arenas.
  try run()
  var seconds: [Double] = []
  var allocations: [UInt64] = []
  let clock = ContinuousClock()
  for _ in 0..<rounds {
    let before = allocation_count()
    let time = try clock.measure { try run() }
    allocations.append(allocation_count() - before)
    seconds.append(time / .seconds(1))
  }
  let median = seconds.sorted()[rounds / 2]
  return Measurement(
    stream: stream.name, path: path, events: count, eventsPerSecond: Double(count) / median,
    allocationsPerEvent: Double(allocations.sorted()[rounds / 2]) / Double(count))
}

func main() throws {
  var options: [String: String] = [:]
  var arguments = CommandLine.arguments.dropFirst()
  while let name = arguments.popFirst() {
    guard ["--json", "--events", "--rounds"].contains(name), let value = arguments.popFirst() else {
      print("usage: PolicyBench [--json FILE] [--events N] [--rounds N]")
      exit(2)
    }
    options[name] = value
  }
  let count = max(1, options["--events"].flatMap(Int.init) ?? 1_000_000)
  let rounds = max(1, options["--rounds"].flatMap(Int.init) ?? 5)

  func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
  print(column("stream", 20) + column("path", 9) + column("events/s", 12) + "allocations/event")
  var results: [Measurement] = []
  for stream in Stream.all {
    let feed = Feed(stream, count: count)
    for (path, run) in [("reducer", feed.reducer), ("session", feed.session)] {
      let result = try measure(stream, path, count: count, rounds: rounds, run)
      print(
        column(result.stream, 20) + column(path, 9)
          + column(String(Int(result.eventsPerSecond)), 12)
          + String(format: "%.4f", result.allocationsPerEvent))
      results.append(result)
    }
  }
  if let path = options["--json"] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(results).write(to: URL(fileURLWithPath: path))
  }
}

do { try main() } catch {
  FileHandle.standardError.write(Data("PolicyBench: \(error)\n".utf8))
  exit(1)
}
