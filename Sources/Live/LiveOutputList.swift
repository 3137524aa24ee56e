internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// The outputs of a running session, by id. Used only on the session's thread.
struct LiveOutputList {
  /// One output, whether it runs or not.
  struct Entry: Sendable {
    let id: String
    /// The target that was asked for.
    let asked: LiveTarget
    /// The target of the current or the last run.
    var target: LiveTarget
    /// One writer for each stream of the target.
    var writers: [OutputWriter]
    /// Whether it was stopped on request.
    var isStopped = false
  }

  private(set) var entries: [Entry] = []
  /// The writers of removed outputs that may still be closing.
  private var removed: [OutputWriter] = []
  /// What the outputs that ended have counted.
  private var past = (bytes: 0, dropped: 0)
  private let make: (LiveTarget) -> [OutputWriter]
  private let limit: Int
  private var made = 0

  /// - Parameters:
  ///   - limit: The number of outputs that `add` allows.
  ///   - make: Returns new writers of a target.
  init(limit: Int, make: @escaping (LiveTarget) -> [OutputWriter]) {
    self.limit = limit
    self.make = make
  }

  /// Returns the ids of `count` outputs at the start: those given, then generated ones.
  static func ids(_ given: [String], count: Int) -> [String] {
    var ids = Array(given.prefix(count))
    var number = 0
    while ids.count < count {
      number += 1
      if !given.contains("output-\(number)") { ids.append("output-\(number)") }
    }
    return ids
  }

  /// Adds an output of the configuration. Doesn't start its writer.
  mutating func add(_ target: LiveTarget, configuredAs id: String) {
    entries.append(Entry(id: id, asked: target, target: target, writers: make(target)))
  }

  /// Adds an output. Returns its index.
  ///
  /// - Throws: `cannotCreate` if the id or the target is in use, or there are too many outputs.
  mutating func add(_ target: LiveTarget, id: String?) throws(UprightError) -> Int {
    guard entries.count < limit else {
      throw UprightError(
        .cannotCreate, "the session has \(entries.count) outputs", remedy: "remove one first")
    }
    if let id, entries.contains(where: { $0.id == id }) {
      throw UprightError(
        .cannotCreate, "the session has an output \(id)", remedy: "give another id")
    }
    guard !entries.contains(where: { $0.asked.output == target.output }) else {
      throw UprightError(
        .cannotCreate, "the session has this output already", remedy: "give another target")
    }
    var name = id
    while name == nil || id == nil && entries.contains(where: { $0.id == name }) {
      made += 1
      name = "output-\(made)"
    }
    entries.append(
      Entry(id: name ?? "", asked: target, target: target, writers: make(target)))
    return entries.count - 1
  }

  /// - Throws: `usage` if there is no such output.
  func index(of id: String) throws(UprightError) -> Int {
    if let index = entries.firstIndex(where: { $0.id == id }) { return index }
    throw UprightError(.usage, "the session has no output \(id)", remedy: "list its outputs")
  }

  /// Gives a stopped or failed output a new writer. Returns `false` if it runs.
  ///
  /// - Throws: `usage` for an output in memory, which has ended for its reader.
  mutating func restart(_ index: Int) throws(UprightError) -> Bool {
    let entry = entries[index]
    guard entry.isStopped || entry.hasEnded else { return false }
    guard !entry.asked.isInMemory else {
      throw UprightError(
        .usage, "an output in memory can't be started again", remedy: "add another one")
    }
    count(entry)
    entries[index].target = entry.asked.again
    entries[index].isStopped = false
    entries[index].writers = make(entries[index].target)
    return true
  }

  /// Marks an output as stopped. Returns `false` if it is already.
  mutating func stop(_ index: Int) -> Bool {
    guard !entries[index].isStopped else { return false }
    entries[index].isStopped = true
    return true
  }

  mutating func remove(_ index: Int) {
    let entry = entries.remove(at: index)
    count(entry)
  }

  private mutating func count(_ entry: Entry) {
    // The last packets of a writer that is closing are not counted.
    past.bytes += entry.bytes
    past.dropped += entry.dropped
    removed += entry.writers
    removed.removeAll { $0.currentState.hasEnded }
  }

  /// All writers, including those that are closing.
  var writers: [OutputWriter] { entries.flatMap(\.writers) + removed }

  /// The number of bytes written, and of frames not taken, by all outputs so far.
  var total: (bytes: Int, dropped: Int) {
    entries.reduce(into: past) {
      $0.bytes += $1.bytes
      $0.dropped += $1.dropped
    }
  }

  /// Why the session can't go on: every output has failed, and none was stopped on request.
  var failure: UprightError? {
    guard !entries.isEmpty,
      entries.allSatisfy({ !$0.isStopped && $0.hasEnded })
    else { return nil }
    let reasons = entries.compactMap { $0.error?.description }
    return UprightError(
      .inputOutput,
      reasons.isEmpty ? "every output has ended" : reasons.joined(separator: "; "))
  }

  /// The status of each output.
  var statuses: [LiveOutputStatus] { entries.map(\.status) }
}

extension LiveOutputList.Entry {
  /// Whether all its writers have ended.
  var hasEnded: Bool { writers.allSatisfy(\.currentState.hasEnded) }

  /// Whether some of its writers have failed and the others go on.
  var isIncomplete: Bool {
    let ended = writers.count(where: \.currentState.hasEnded)
    return ended > 0 && ended < writers.count
  }

  /// Why a writer has ended or is not open.
  fileprivate var error: UprightError? { writers.lazy.compactMap(\.currentState.error).first }

  /// The number of bytes written.
  fileprivate var bytes: Int { writers.reduce(0) { $0 + $1.currentState.bytes } }

  /// The number of frames not taken by the writer that took the fewest.
  fileprivate var dropped: Int { writers.map(\.droppedFrames).max() ?? 0 }

  var status: LiveOutputStatus {
    let states = writers.map(\.currentState)
    var status = LiveOutputStatus(id: id, output: target.output)
    status.state =
      if hasEnded { error == nil ? .stopped : .failed } else if states.allSatisfy(\.isOpen) {
        .live
      } else if error != nil { .reconnecting } else { .starting }
    // An output that was stopped on request while it reconnected has not failed.
    if isStopped, hasEnded { status.state = .stopped }
    status.reason = status.state == .stopped ? nil : error?.description
    status.frames = states.first?.frames ?? 0
    status.bytes = bytes
    status.dropped = dropped
    status.failures = states.reduce(0) { $0 + $1.failures }
    status.reconnects = states.reduce(0) { $0 + $1.reconnects }
    status.recording = states.first?.recording
    return status
  }
}

extension LiveTarget {
  /// Whether the program reads the output from memory.
  var isInMemory: Bool {
    switch output {
    case .packets, .segments, .bytes: true
    case .hls, .push, .file, .recording: false
    }
  }

  /// The target of another run: for a file the next name that is free, as `take-2.mp4` for `take.mp4`.
  var again: LiveTarget {
    guard case .file(let path) = output else { return self }
    var (free, number) = (path, 1)
    while FilePath(free).exists, number < 10_000 {
      number += 1
      free = OutputName.numbered(path, number)
    }
    var target = self
    target.output = .file(path: free)
    return target
  }
}
