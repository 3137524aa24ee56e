internal import Glibc
internal import UprightMedia
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightSignals

/// Changes the bytes that say the orientation, in a copy of the input of one `TagSession` or in the input itself.
final class PatchRun {
  private let session: TagSession
  private let file: FilePatcher
  private let format: PatchedFormat
  private let started = ContinuousClock.now
  private var options: TagSession.Options { session.options }

  /// Returns a run that copies the input, or `nil` if the output must be written anew by a muxer.
  static func copying(_ session: TagSession) throws(UprightError) -> PatchRun? {
    guard session.inputFormat == nil, !session.options.writesMessages,
      InputTrust.scheme(of: session.input) == nil, ContainerSink.isStaged(session.output),
      FileState(path: session.input)?.isRegular == true
    else { return nil }
    let file = try FilePatcher(path: session.input, location: session.input, isReadOnly: true)
    guard let format = try PatchedFormat(file),
      format.fileExtensions.contains(session.outputExtension)
    else { return nil }
    return PatchRun(session, file, format)
  }

  private init(_ session: TagSession, _ file: FilePatcher, _ format: PatchedFormat) {
    (self.session, self.file, self.format) = (session, file, format)
  }

  /// Creates a run that changes the input itself.
  convenience init(_ session: TagSession) throws(UprightError) {
    guard let state = FileState(path: session.input) else {
      throw UprightError(
        .noInput, "there is no such file", at: session.input, remedy: "check the name")
    }
    guard state.isRegular, InputTrust.scheme(of: session.input) == nil else {
      throw UprightError(
        .noInput, "is no plain file", at: session.input, remedy: "write a new file with -o")
    }
    let file = try FilePatcher(path: session.input, location: session.input)
    guard let format = try PatchedFormat(file) else {
      throw UprightError(
        .badData, "a file of this kind has no orientation that can be changed in place",
        at: session.input, remedy: "write a new file with -o")
    }
    self.init(session, file, format)
  }

  // MARK: - A copy

  /// Copies the input with its new orientation.
  func run() throws(UprightError) -> TranscodeReport {
    let patch = try patch()
    let staged = try StagedFile(path: session.output)
    session.unfinished.add(staged.temporaryPath)
    defer { session.unfinished.remove(staged.temporaryPath) }
    try staged.fill(from: file, patch.edits, interrupt: session.interrupt)
    if options.keepsTime { try staged.set(modified: file.state().modified) }
    try staged.commit()
    return report(patch)
  }

  private func patch() throws(UprightError) -> OrientationPatch {
    do throws(UprightError) {
      let patch = try format.patch(file, options.orientation, isForced: options.isForced)
      if options.isStrict, let damage = patch.damage.first {
        throw UprightError(
          .badData, damage, at: session.input, remedy: "leave out --strict to keep the rest")
      }
      return patch
    } catch {
      throw error.location.isEmpty
        ? UprightError(error.code, error.message, at: session.input, remedy: error.remedy) : error
    }
  }

  // MARK: - In place

  /// Changes the input itself: all of it or, if the process is killed, what the record can restore.
  func runInPlace() throws(UprightError) -> TranscodeReport {
    if session.interrupt.isRaised {
      throw UprightError(.cancelled, "stopped", at: session.input)
    }
    let patch = try patch()
    if let damage = patch.damage.first {
      throw UprightError(
        .badData, damage, at: session.input, remedy: "write a copy of it with -o")
    }
    guard !patch.edits.isEmpty else { return report(patch) }
    if patch.isInPlace { try write(patch.edits) } else { try replace(patch.edits) }
    return report(patch)
  }

  /// Overwrites bytes, after the record has the old ones.
  private func write(_ edits: [ByteEdit]) throws(UprightError) {
    let state = try file.state()
    let record = try options.record.map { path throws(UprightError) in try UndoRecord(path) }
    try record?.begin(.init(path: session.input, state: state, edits: edits))
    for edit in edits { try file.write(edit.new[...], at: edit.offset) }
    if options.keepsTime { try file.set(modified: state.modified) }
    try file.synchronize()
    try record?.end(path: session.input, file.state())
  }

  /// Replaces the file by one with more or fewer bytes.
  private func replace(_ edits: [ByteEdit]) throws(UprightError) {
    let state = try file.state()
    let staged = try StagedFile(path: session.input)
    session.unfinished.add(staged.temporaryPath)
    defer { session.unfinished.remove(staged.temporaryPath) }
    try staged.fill(from: file, edits, interrupt: session.interrupt)
    try staged.copyAttributes(of: file)
    if options.keepsTime { try staged.set(modified: state.modified) }
    try staged.synchronize()
    let record = try options.record.map { path throws(UprightError) in try UndoRecord(path) }
    let replacement = staged.state
    try record?.begin(
      .init(path: session.input, state: state, edits: edits, replacement: replacement?.inode))
    try staged.commit()
    if let replacement { try record?.end(path: session.input, replacement) }
  }

  // MARK: - The report

  private func report(_ patch: OrientationPatch) -> TranscodeReport {
    var warnings: [String] = []
    if !patch.damage.isEmpty {
      warnings.append("the input is damaged: " + patch.damage.joined(separator: "; "))
    }
    if patch.hasLocation { warnings.append(TagSession.locationNote) }
    return TranscodeReport(
      input: .init(
        path: session.input, codec: patch.codec, size: patch.size, frames: patch.frames,
        duration: patch.duration),
      output: .init(
        named: session.output, files: [session.output], sizes: [patch.size], frames: patch.frames,
        copiedFrames: patch.frames, duration: patch.duration ?? 0, dropped: []),
      formats: [session.format(of: patch.size)], decisions: [], warnings: warnings,
      timing: .init(wall: started.secondsUntilNow), stopped: nil)
  }
}
