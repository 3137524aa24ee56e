internal import UprightOrientation
internal import Synchronization

/// The media playlists of one live session as an HTTP server answers requests for them: their latest text, their
/// latest parts, which are only in memory, and the requests that wait for the next ones.
///
/// The sinks of one session share one origin. Each publishes its media playlist under its file name, and the
/// others appear in its rendition reports. A request that waits holds no thread.
public final class HLSOrigin: Sendable {
  /// A part of a media playlist: the sequence number of its segment, and its index in the segment.
  package struct Part: Sendable, Comparable, Codable {
    package let segment: Int
    package let index: Int

    package init(segment: Int, index: Int) {
      self.segment = segment
      self.index = index
    }

    package static func < (one: Part, other: Part) -> Bool {
      (one.segment, one.index) < (other.segment, other.index)
    }
  }

  /// The state of a media playlist after a part.
  package struct Edition: Sendable, Codable {
    /// The whole playlist, without rendition reports.
    package var text: String
    /// The same as a delta update; `nil` if it could not skip a segment.
    package var delta: String?
    /// The sequence number of the last complete segment; one less than the first if there is none.
    package var lastSegment: Int
    /// The last part; `nil` if the last segment has none and no other follows yet.
    package var lastPart: Part?
    /// The file name of the part that comes next, if that is certain.
    package var hint: String?
    /// EXT-X-TARGETDURATION and PART-TARGET, in seconds.
    package var targetDuration: Int
    package var partTarget: Double
    /// Whether no part follows.
    package var isEnded = false

    /// Takes the parts off the list: nobody has them any more.
    fileprivate mutating func dropParts() {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      text = lines.filter { !$0.hasPrefix("#EXT-X-PART:") }.joined(separator: "\n")
      delta = nil
    }
  }

  /// The bytes of a part or a segment. Answers share them.
  public final class FileData: Sendable {
    /// The content.
    public let bytes: [UInt8]
    /// A number that no other content has.
    public let id = UInt64.random(in: .min ... .max)
    init(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  /// A file in memory, and the playlist whose sink has published it.
  private struct File: Sendable {
    let data: FileData
    let playlist: String
  }

  /// What a request waits for.
  private enum Goal: Sendable, Hashable {
    /// A segment of a playlist or, with an index, a part of it.
    case playlist(String, segment: Int, part: Int?)
    case file(String)
  }

  private struct Waiter: Sendable {
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<Void, Never>
  }

  /// A playlist, whole or as a delta update.
  private struct Form: Sendable, Hashable {
    let name: String
    let isDelta: Bool
  }

  private struct State: Sendable {
    var editions: [String: Edition] = [:]
    /// The playlists with their rendition reports that were requested since the last change. All players that wait for
    /// a part get the same text.
    var texts: [Form: String] = [:]
    /// The playlists whose sink doesn't publish any more.
    var closed: Set<String> = []
    var files: [String: File] = [:]
    /// The requests that wait, by what they wait for and by their number.
    var waiters: [Goal: [Int: Waiter]] = [:]
    /// The number of waits so far.
    var waits = 0
    /// When the deadlines are checked next; `nil` while nothing waits.
    var nextSweep: ContinuousClock.Instant?

    /// Returns whether a request need not wait, or no longer.
    func isDone(_ goal: Goal) -> Bool {
      switch goal {
      case .playlist(let name, let segment, let part):
        guard let edition = editions[name], !closed.contains(name) else { return true }
        return edition.isEnded || edition.contains(segment, part)
      case .file(let file): return files[file] != nil || !isHinted(file)
      }
    }

    /// Returns whether a file is a part that certainly comes next.
    func isHinted(_ file: String) -> Bool {
      editions.contains { $0.value.hint == file && !closed.contains($0.key) }
    }

    /// Removes the waiters whose goal is reached.
    mutating func takeDone() -> [Waiter] {
      let reached = waiters.keys.filter { isDone($0) }
      return reached.flatMap { waiters.removeValue(forKey: $0).map { Array($0.values) } ?? [] }
    }

    /// Removes the waiters whose time is over.
    mutating func takeLate(_ now: ContinuousClock.Instant) -> [Waiter] {
      var late: [Waiter] = []
      for (goal, group) in waiters {
        for (id, waiter) in group where waiter.deadline <= now {
          late.append(waiter)
          remove(id, goal)
        }
      }
      return late
    }

    @discardableResult
    mutating func remove(_ id: Int, _ goal: Goal) -> Waiter? {
      let waiter = waiters[goal]?.removeValue(forKey: id)
      if waiters[goal]?.isEmpty == true { waiters[goal] = nil }
      return waiter
    }

    /// Returns the text of a playlist; `nil` if there is none of that name.
    mutating func text(_ form: Form) -> String? {
      if let text = texts[form] { return text }
      guard let edition = editions[form.name] else { return nil }
      var text = form.isDelta ? edition.delta ?? edition.text : edition.text
      if !edition.isEnded {
        let siblings = editions.filter { $0.key != form.name }
        for (name, edition) in siblings.sorted(by: { $0.key < $1.key }) {
          text += edition.report(of: name)
        }
      }
      texts[form] = text
      return text
    }
  }

  private let state = Mutex(State())
  private let passOn: (@Sendable (Change) -> Void)?

  /// Creates an origin without playlists.
  public init() { passOn = nil }

  /// Creates the origin of a session whose players another process answers.
  ///
  /// - Parameter passOn: Receives each change, on the session's threads. The other process must `apply` them in order.
  public init(passingOn passOn: @escaping @Sendable (Change) -> Void) { self.passOn = passOn }

  // MARK: - The sinks

  /// Replaces the playlist `name`, and answers the requests that wait for it.
  ///
  /// - Parameters:
  ///   - files: The files that the edition lists and the folder doesn't have, by name.
  ///   - expired: The names of those that no player may request any more.
  package func publish(
    _ edition: Edition, as name: String, files: [(name: String, bytes: [UInt8])] = [],
    expired: [String] = []
  ) {
    if let passOn { return passOn(Change(edition, as: name, files: files, expired: expired)) }
    let done = state.withLock { state in
      state.editions[name] = edition
      state.texts = [:]
      state.closed.remove(name)
      for file in files {
        state.files[file.name] = File(data: FileData(file.bytes), playlist: name)
      }
      for file in expired { state.files[file] = nil }
      return state.takeDone()
    }
    for waiter in done { waiter.continuation.resume() }
  }

  /// Removes a file that is in the folder now.
  package func remove(_ file: String) {
    if let passOn { return passOn(Change(.remove, of: file)) }
    state.withLock { $0.files[file] = nil }
  }

  /// Ends the waits for a playlist whose sink publishes nothing more, and for its parts. Its parts stay for as long
  /// as players may request them, also if another sink continues the playlist: that one doesn't know them.
  package func close(_ name: String) {
    if let passOn { return passOn(Change(.close, of: name)) }
    let (done, seconds, left) = state.withLock { state in
      state.closed.insert(name)
      let left = state.files.filter { $0.value.playlist == name }.mapValues(\.data.id)
      return (state.takeDone(), state.editions[name]?.targetDuration ?? 0, left)
    }
    for waiter in done { waiter.continuation.resume() }
    Task.detached { [weak self] in
      try? await Task.sleep(for: .seconds(3 * seconds))
      self?.state.withLock { state in
        // The next sink has other parts, but for those of a segment that wasn't complete: they have the same names.
        for (file, id) in left where state.files[file]?.data.id == id { state.files[file] = nil }
        if state.closed.contains(name) {
          state.editions[name]?.dropParts()
          state.texts = [:]
        }
      }
    }
  }

  // MARK: - Requests

  /// The answer to a request for a playlist.
  public enum Answer: Sendable, Hashable {
    /// The playlist, and how long it may be cached, in seconds (RFC 8216bis, B.1).
    case playlist(String, maxAge: Int)
    /// The request is wrong, for the given reason: status 400.
    case malformed(String)
    /// There is no such playlist, or not yet: status 404.
    case missing
    /// The requested segment or part didn't come in time: status 503.
    case late
  }

  /// Returns a playlist.
  ///
  /// - Parameters:
  ///   - name: The file name of the playlist.
  ///   - query: The query of the URL, with the delivery directives `_HLS_msn`, `_HLS_part` and `_HLS_skip` (RFC
  ///     8216bis, 6.2.5). Other parameters are ignored.
  /// - Returns: What to answer. With `_HLS_msn`, once the playlist has that segment or part, or after three target
  ///   durations.
  public func playlist(_ name: String, query: String? = nil) async -> Answer {
    let directives: DeliveryDirectives
    do throws(DeliveryDirectives.Malformed) { directives = try DeliveryDirectives(query) } catch {
      return .malformed(error.reason)
    }
    return await playlist(name, directives)
  }

  /// Returns a playlist as `playlist(_:query:)` does.
  public func playlist(_ name: String, _ directives: DeliveryDirectives) async -> Answer {
    guard let edition = state.withLock({ $0.editions[name] }) else { return .missing }
    guard let segment = directives.segment, !edition.isEnded else {
      return text(name, directives, maxAge: max(1, edition.targetDuration / 2))
    }
    if let reason = edition.refusal(of: segment, directives.part) { return .malformed(reason) }
    let goal = Goal.playlist(name, segment: segment, part: directives.part)
    await wait(for: goal, seconds: 3 * edition.targetDuration)
    guard let edition = state.withLock({ $0.editions[name] }),
      edition.isEnded || edition.contains(segment, directives.part)
    else { return .late }
    return text(name, directives, maxAge: 6 * edition.targetDuration)
  }

  /// Returns a part, or a segment that isn't in the folder yet. Waits for a part that is the next one. Returns `nil`
  /// if there is none.
  public func file(_ name: String) async -> FileData? {
    let (found, seconds) = state.withLock { state in
      (
        state.files[name]?.data,
        state.editions.first { $0.value.hint == name }?.value.targetDuration
      )
    }
    if let found { return found }
    guard let seconds else { return nil }
    await wait(for: .file(name), seconds: 3 * seconds)
    return state.withLock { $0.files[name]?.data }
  }

  /// The number of requests that wait.
  package var waiting: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

  private func text(_ name: String, _ directives: DeliveryDirectives, maxAge: Int) -> Answer {
    state.withLock { $0.text(Form(name: name, isDelta: directives.skips)) }
      .map { .playlist($0, maxAge: maxAge) } ?? .missing
  }

  // MARK: - Waiting

  private func wait(for goal: Goal, seconds: Int) async {
    let deadline = ContinuousClock.now + .seconds(seconds)
    let id = state.withLock { state in
      state.waits += 1
      return state.waits
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isDone, mustSweep) = state.withLock { state in
          if state.isDone(goal) || Task.isCancelled { return (true, false) }
          state.waiters[goal, default: [:]][id] = Waiter(
            deadline: deadline, continuation: continuation)
          if let next = state.nextSweep, next <= deadline { return (false, false) }
          state.nextSweep = deadline
          return (false, true)
        }
        if isDone { continuation.resume() }
        if mustSweep { sweep(at: deadline) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.remove(id, goal) }
      waiter?.continuation.resume()
    }
  }

  /// Ends the waits that are past their deadline, at `time` and for as long as there are any. One timer for all of them.
  private func sweep(at time: ContinuousClock.Instant) {
    Task.detached { [weak self] in
      var time = time
      while true {
        try? await Task.sleep(until: time, clock: .continuous)
        guard let self else { return }
        let (late, next) = state.withLock { state in
          let late = state.takeLate(.now)
          // Another timer has an earlier deadline, and goes on.
          guard state.nextSweep == time else { return (late, nil as ContinuousClock.Instant?) }
          state.nextSweep = state.waiters.values.flatMap(\.values).map(\.deadline).min()
          return (late, state.nextSweep)
        }
        for waiter in late { waiter.continuation.resume() }
        guard let next else { return }
        time = next
      }
    }
  }
}

extension HLSOrigin.Edition {
  /// Returns whether the playlist has had a segment or a part, or a later one. A part past the last one of a segment
  /// is the first one of the next segment.
  fileprivate func contains(_ segment: Int, _ part: Int?) -> Bool {
    guard let part else { return lastSegment >= segment }
    guard let lastPart else { return lastSegment > segment }
    return HLSOrigin.Part(segment: segment, index: part) <= lastPart
  }

  /// Returns why a request for a segment or a part is too far ahead; `nil` if it isn't (RFC 8216bis, 6.2.5.2).
  fileprivate func refusal(of segment: Int, _ part: Int?) -> String? {
    if segment > lastSegment + 2 {
      return "_HLS_msn=\(segment) is more than two segments after the last one, \(lastSegment)"
    }
    guard let part, segment > lastSegment else { return nil }
    let limit = partTarget < 1 ? Int(clamping: (3 / partTarget).rounded(.up)) : 3
    let last = lastPart.map { $0.segment == segment ? $0.index : -1 } ?? -1
    guard part > last + limit else { return nil }
    return "_HLS_part=\(part) is more than \(limit) parts after the last one"
  }

  /// Returns the line for the playlist of another rendition.
  fileprivate func report(of name: String) -> String {
    let part = lastPart.map { ",LAST-PART=\($0.index)" } ?? ""
    return
      "#EXT-X-RENDITION-REPORT:URI=\"\(name)\",LAST-MSN=\(lastPart?.segment ?? lastSegment)\(part)\n"
  }
}
