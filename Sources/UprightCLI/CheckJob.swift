internal import Synchronization
internal import UprightMedia
internal import UprightFiles
internal import UprightOrientation
internal import UprightPolicy

/// Checks one file, and mends it.
final class CheckJob: BatchedSession {
  /// How files are mended.
  struct Repair: Sendable {
    let fix: CheckedFile.Fix
    let isInPlace: Bool
    let record: String?
    let overwrites: Bool
    /// The threads of each codec; 0 for its own choice.
    let threads: Int

    /// Returns the path below the folder of mended files: the same, or an MP4 where the container can't be written.
    func output(_ relative: String) -> String {
      guard fix == .pixels else { return relative }
      if let container = try? OutputContainer(target: relative), container != .y4m {
        return relative
      }
      let path = FilePath(relative)
      return path.folder.appending(path.stem + ".mp4").path
    }
  }

  private enum Running: Sendable {
    case tag(TagSession)
    case transcode(TranscodeSession)
  }

  private struct State {
    var running: Running?
    var isStopped = false
  }

  private let item: InputList.Item
  private let repair: Repair?
  private let state = Mutex(State())

  init(item: InputList.Item, repair: Repair?) { (self.item, self.repair) = (item, repair) }

  func process(
    observing progress: @escaping (SessionProgress) -> Void
  ) throws(UprightError) -> BatchResult {
    let file =
      PlaylistCheck.isPlaylist(item.input)
      ? try PlaylistCheck.check(item.input) : try FileCheck.check(item.input)
    var result = BatchResult(text: file.line.printable)
    result.report = file.json
    guard let repair, file.needs(repair.fix) else { return result }
    var members: [JSONValue.Member] = [.init("by", .string(repair.fix.rawValue))]
    var (output, obstacle) = (String?.none, file.obstacle(to: repair.fix))
    if obstacle == nil {
      do throws(UprightError) {
        output = try mend(file, repair)
      } catch {
        // Some kinds of files aren't changed in place.
        guard repair.isInPlace, error.code == .badData else { throw error }
        obstacle = error.message
      }
    }
    members += [
      .init("output", output.map(JSONValue.string) ?? .null),
      .init("obstacle", obstacle.map(JSONValue.string) ?? .null),
    ]
    if let obstacle {
      result.text += "; not mended: \(obstacle.printable)"
    } else if let output {
      result.text += output == item.input ? "; mended" : "; mended: \(output.printable)"
    }
    if case .object(let entry) = result.report {
      result.report = .object(entry + [.init("fix", .object(members))])
    }
    return result
  }

  /// Mends the file. Returns the path of the output.
  private func mend(_ file: CheckedFile, _ repair: Repair) throws(UprightError) -> String {
    if repair.isInPlace {
      let session = try TagSession(inPlace: item.input, options: options(file, repair))
      begin(.tag(session))
      return try session.run().output.path
    }
    let output = item.output
    guard !output.isEmpty else {
      throw UprightError(
        .usage, "another file has the same output", at: item.input,
        remedy: "mend it in a separate command with another folder")
    }
    guard FilePath(output).folder.makeFolder() else {
      throw UprightError(
        .cannotCreate, "the folder can't be made", at: FilePath(output).folder.path,
        remedy: "check the permissions")
    }
    switch repair.fix {
    case .metadata:
      let session = try TagSession(
        input: item.input, output: output, options: options(file, repair))
      begin(.tag(session))
      return try session.run().output.path
    case .pixels:
      var options = TranscodeOptions()
      // Some containers have the guidance's size by default.
      options.size = .source
      // A library sorts by the place too, and the copy replaces the file there.
      options.keepsLocation = true
      (options.overwrites, options.threads) = (repair.overwrites, repair.threads)
      let session = try TranscodeSession(input: item.input, output: output, options: options)
      begin(.transcode(session))
      return try session.run().output.path
    }
  }

  private func options(_ file: CheckedFile, _ repair: Repair) -> TagSession.Options {
    var options = TagSession.Options(orientation: file.orientation ?? .up)
    options.overwrites = repair.overwrites
    options.record = repair.record
    // A library sorts by it.
    options.keepsTime = true
    return options
  }

  private func begin(_ running: Running) {
    let isStopped = state.withLock { state in
      state.running = running
      return state.isStopped
    }
    if isStopped { stop() }
  }

  func stop() {
    let running = state.withLock { state in
      state.isStopped = true
      return state.running
    }
    switch running {
    case .tag(let session): session.stop()
    case .transcode(let session): session.stop()
    case nil: break
    }
  }

  func abandon() {
    switch state.withLock({ $0.running }) {
    case .tag(let session): session.abandon()
    case .transcode(let session): session.abandon()
    case nil: break
    }
  }
}
