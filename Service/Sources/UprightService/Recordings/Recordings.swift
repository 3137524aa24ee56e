internal import Foundation
internal import Logging
internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import Upright

/// The recordings of the service: the files in the data folder, and which of them are being written or read now.
final class Recordings: Sendable {
  /// A file that a session is writing.
  private struct Live: Sendable {
    var recording: LiveRecording
    var note: RecordingNote
    /// How often the session had lost its input before.
    let losses: Int
  }

  /// What has happened in a running session.
  private struct History: Sendable {
    var losses = 0
    var rotations: [RecordingReport.Rotation] = []
  }

  private struct State: Sendable {
    var live: [RecordingID: Live] = [:]
    /// The number of responses that read each recording.
    var readers: [RecordingID: Int] = [:]
    var histories: [String: History] = [:]
    /// The notes that could not be stored, because the disk is full for example.
    var unstored: [RecordingID: RecordingNote] = [:]
  }

  let folder: RecordingFolder
  private let sessions: Sessions
  private let retention: RecordingRetention
  private let interval: Duration
  private let logger: Logger
  private let state = Mutex(State())
  private let (wakes, waker) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// - Parameter interval: The interval at which old recordings are looked for.
  init(
    _ folder: RecordingFolder, of sessions: Sessions, retention: RecordingRetention,
    interval: Duration, logger: Logger
  ) {
    self.folder = folder
    self.sessions = sessions
    self.retention = retention
    self.interval = interval
    self.logger = logger
    sessions.updates.subscribe { [weak self] session, update in
      if case .live(let update) = update { self?.follow(session, update) }
    }
  }

  private var secrets: Secrets { sessions.secrets }

  // MARK: - Sessions

  /// Follows a session: which files it writes, and what happens meanwhile.
  private func follow(_ session: String, _ update: LiveUpdate) {
    switch update {
    case .recording(let recording): follow(session, recording)
    case .decision(let decision) where decision.outcome == .rotate:
      let rotation = RecordingReport.Rotation(
        at: decision.decidedAt, from: decision.from.name, to: decision.to.name)
      state.withLock { state in
        state.histories[session, default: History()].rotations.append(rotation)
        // Only those of the files that are still written are needed.
        let extra = (state.histories[session]?.rotations.count ?? 0) - Self.maxHistory
        if extra > Self.maxHistory { state.histories[session]?.rotations.removeFirst(extra) }
      }
    case .state(.inputLost, _):
      state.withLock { $0.histories[session, default: History()].losses += 1 }
    // Another process has a timeline of its own.
    case .state(.ended, _), .state(.failed, _), .state(.recovering, _):
      state.withLock { $0.histories[session] = nil }
    default: break
    }
  }

  /// The number of rotations that are remembered of a session, at least.
  private static let maxHistory = 4 * RecordingReport.maxRotations

  private func follow(_ session: String, _ recording: LiveRecording) {
    let name = URL(fileURLWithPath: recording.path).lastPathComponent
    guard let id = RecordingID(session: session, name: name) else { return }
    guard recording.state != .recording else {
      let note = RecordingNote(started: Date())
      state.withLock { state in
        state.unstored[id] = nil
        state.live[id] = Live(
          recording: recording, note: note, losses: state.histories[session]?.losses ?? 0)
      }
      return store(note, of: id)
    }
    guard var live = state.withLock({ $0.live[id] }) else { return }
    live.recording = recording
    let note = ended(live, of: id)
    store(note, of: id)
    state.withLock { $0.live[id] = nil }
    if let problem = note.problem {
      logger.error("recording \(id): \(secrets.redact(problem))")
    } else {
      logger.info("recording \(id): finished")
    }
    if let entry = folder.entry(id) {
      sessions.updates.publish(.recording(json(entry, note, note.state.rawValue)), of: session)
    }
    waker.yield()
  }

  /// Returns the note of a file that is closed now.
  private func ended(_ live: Live, of id: RecordingID) -> RecordingNote {
    var note = live.note
    note.state = live.recording.state
    note.ended = Date().rfc3339
    note.duration = live.recording.duration
    note.frames = live.recording.frames
    note.problem = live.recording.reason
    note.report = report(live, of: id).json
    return note
  }

  private func report(_ live: Live, of id: RecordingID) -> RecordingReport {
    let history = state.withLock { $0.histories[id.session] } ?? History()
    return RecordingReport(
      live.recording, inputLosses: max(0, history.losses - live.losses),
      rotations: history.rotations)
  }

  private func store(_ note: RecordingNote, of id: RecordingID) {
    if folder.store(note, of: id) { return }
    state.withLock { $0.unstored[id] = note }
    logger.warning("recording \(id): can't store its description; check the disk")
  }

  // MARK: - Requests

  /// Returns a recording.
  ///
  /// - Throws: `Problem` 404.
  func find(_ id: RecordingID) throws(Problem) -> JSONValue {
    guard let entry = folder.entry(id) else { throw Self.missing }
    return json(entry)
  }

  /// Returns the recordings that were changed last, the newest first, and the cursor of the rest; `nil` if there is
  /// none. O(files).
  func list(
    of session: String?, after cursor: RecordingCursor?, limit: Int
  ) -> (page: [JSONValue], next: RecordingCursor?) {
    var entries = folder.entries(of: session)
    if let cursor { entries.removeAll { !(cursor < RecordingCursor($0)) } }
    entries.sort { RecordingCursor($0) < RecordingCursor($1) }
    let page = entries.prefix(limit)
    return (
      page.map { json($0) }, entries.count > limit ? page.last.map(RecordingCursor.init) : nil
    )
  }

  /// Opens a recording's file. It isn't removed by the retention rule until the file is released.
  ///
  /// - Throws: `Problem` 404.
  func open(_ id: RecordingID) throws(Problem) -> OpenFile {
    state.withLock { $0.readers[id, default: 0] += 1 }
    let release: @Sendable () -> Void = { [self] in
      state.withLock { state in
        let rest = (state.readers[id] ?? 1) - 1
        state.readers[id] = rest > 0 ? rest : nil
      }
    }
    guard let file = folder.open(id, onClose: release) else {
      release()
      throw Self.missing
    }
    return file
  }

  /// Removes a recording. Responses with its file continue.
  ///
  /// - Throws: `Problem` 404; 409 while it is being written; 503 if it can't be removed.
  func remove(_ id: RecordingID) throws(Problem) {
    guard folder.entry(id) != nil else { throw Self.missing }
    guard state.withLock({ $0.live[id] }) == nil else {
      throw .conflict("the recording is being written; stop its output first")
    }
    guard folder.remove(id) else {
      throw .unready("can't remove the recording; check the permissions of the data folder")
    }
    state.withLock { $0.unstored[id] = nil }
    logger.info("recording \(id): removed by a request")
  }

  private static let missing = Problem.notFound("there is no recording with this id")

  // MARK: - Description

  private func json(_ entry: RecordingFolder.Entry) -> JSONValue {
    let id = entry.id
    let (live, unstored) = state.withLock { ($0.live[id], $0.unstored[id]) }
    if var live {
      let name = "/" + id.name
      let current = files(of: id.session)?.first { $0.path.hasSuffix(name) }
      live.recording = current ?? live.recording
      var note = live.note
      note.duration = live.recording.duration
      note.frames = live.recording.frames
      note.report = report(live, of: id).json
      return json(entry, note, "recording")
    }
    guard let note = unstored ?? folder.note(id) else {
      // The process was killed before it could store one, or somebody has added the file.
      return json(entry, nil, entry.size == 0 ? "interrupted" : "finished")
    }
    return json(entry, note, note.state == .recording ? "interrupted" : note.state.rawValue)
  }

  /// - Parameter state: `interrupted` if the process was killed that wrote the file.
  private func json(
    _ entry: RecordingFolder.Entry, _ note: RecordingNote?, _ state: String
  ) -> JSONValue {
    [
      "id": .string("\(entry.id)"), "session": .string(entry.id.session),
      "name": .string(entry.id.name), "container": .string(entry.id.container.rawValue),
      "state": .string(state), "problem": .text(note?.problem.map(secrets.redact)),
      "size": .integer(entry.size), "started": .text(note?.started),
      "ended": state == "recording" ? .null : .string(note?.ended ?? entry.date.rfc3339),
      "duration": note?.duration.map { .number($0) } ?? .null,
      "frames": note?.frames.map { .integer($0) } ?? .null, "report": note?.report ?? .null,
    ]
  }

  // MARK: - Retention

  /// Removes old recordings at the start, when one is finished, and at intervals, until the task is cancelled.
  func run() async {
    waker.yield()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in
        while (try? await Task.sleep(for: interval)) != nil { waker.yield() }
      }
      for await _ in wakes { await blocking { [self] in sweep() } }
      group.cancelAll()
    }
  }

  /// Stores missing notes, removes the oldest recordings that the retention rule doesn't keep, and tidies up.
  func sweep(now: Date = Date()) {
    for (id, note) in state.withLock({ $0.unstored })
    where folder.entry(id) == nil || folder.store(note, of: id) {
      state.withLock { if $0.unstored[id] == note { $0.unstored[id] = nil } }
    }
    if retention != RecordingRetention() { removeOld(now) }
    for session in folder.sessions where files(of: session) == nil { folder.tidy(session) }
  }

  /// Returns the files that a running session is writing; `nil` if no such session runs.
  private func files(of session: String) -> [LiveRecording]? {
    guard let hosted = try? sessions.find(session), !hosted.hasEnded else { return nil }
    return hosted.snapshot.outputs.compactMap(\.recording)
  }

  private func removeOld(_ now: Date) {
    let entries = folder.entries().sorted { RecordingCursor($1) < RecordingCursor($0) }
    var total = entries.reduce(0) { $0 + $1.size }
    for entry in entries {
      let isInUse = state.withLock { $0.live[entry.id] != nil || $0.readers[entry.id] != nil }
      let age = now.timeIntervalSince(entry.date)
      guard !isInUse, let reason = retention.reason(age: age, total: total),
        folder.remove(entry.id)
      else { continue }
      total -= entry.size
      logger.info("recording \(entry.id): removed, \(entry.size) bytes: \(reason)")
    }
  }
}

/// A place in the list of recordings, which begins with the one that was changed last.
struct RecordingCursor: Comparable, Sendable, CustomStringConvertible {
  private let modified: Int64
  private let id: String

  init(_ entry: RecordingFolder.Entry) {
    modified = entry.modified
    id = entry.id.description
  }

  /// Parses what `description` returns: up to 19 digits, `~` and an id, which is only compared. Returns `nil` for
  /// anything else.
  init?(_ text: String) {
    let digits = text.utf8.prefix { (48...57).contains($0) }
    let rest = text.utf8.dropFirst(digits.count)
    guard (1...19).contains(digits.count), let time = UInt64(String(digits) ?? ""),
      rest.first == UInt8(ascii: "~"),
      rest.allSatisfy({ $0 == UInt8(ascii: "~") || AddressRules.isNameByte($0) })
    else { return nil }
    modified = Int64(clamping: time)
    id = String(text.dropFirst(digits.count + 1))
  }

  var description: String { "\(modified)~\(id)" }

  static func < (a: Self, b: Self) -> Bool { (b.modified, a.id) < (a.modified, b.id) }
}
