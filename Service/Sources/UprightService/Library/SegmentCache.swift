internal import Foundation
internal import Logging
internal import Synchronization

/// Files that can be made again, in a folder of the service: those that weren't used for the longest time go first.
final class SegmentCache: Sendable {
  private struct Entry {
    let size: Int
    var lastUse: Int
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var total = 0
    var uses = 0
  }

  private let folder: String
  private let limit: Int
  private let logger: Logger
  private let state = Mutex(State())

  /// The ending of files that aren't complete.
  private static let partial = ".partial"

  /// Takes over the files of an earlier run.
  ///
  /// - Parameter limit: The total size of the files, in bytes.
  init(_ folder: String, limit: Int, logger: Logger) {
    (self.folder, self.limit, self.logger) = (folder, limit, logger)
    let keys: [URLResourceKey] = [.isRegularFileKey, .fileSizeKey, .contentModificationDateKey]
    let found = FileManager.default.enumerator(
      at: URL(fileURLWithPath: folder), includingPropertiesForKeys: keys)
    var files: [(key: String, size: Int, date: Date)] = []
    while let url = found?.nextObject() as? URL {
      guard let values = try? url.resourceValues(forKeys: Set(keys)), values.isRegularFile == true
      else { continue }
      let parts = url.pathComponents.suffix(2)
      guard !url.path.hasSuffix(Self.partial), parts.count == 2 else {
        try? FileManager.default.removeItem(at: url)
        continue
      }
      files.append(
        (
          parts.joined(separator: "/"), values.fileSize ?? 0,
          values.contentModificationDate ?? .distantPast
        ))
    }
    state.withLock { state in
      for file in files.sorted(by: { $0.date < $1.date }) { add(file.key, file.size, to: &state) }
    }
    makeRoom()
  }

  /// The total size of the files, in bytes.
  var size: Int { state.withLock { $0.total } }

  private func add(_ key: String, _ size: Int, to state: inout State) {
    state.total += size - (state.entries[key]?.size ?? 0)
    state.uses += 1
    state.entries[key] = Entry(size: size, lastUse: state.uses)
  }

  /// Opens a file; `nil` if it isn't there.
  ///
  /// - Parameter key: `FOLDER/NAME`.
  func open(_ key: String) -> OpenFile? {
    let isKnown = state.withLock { state in
      guard state.entries[key] != nil else { return false }
      state.uses += 1
      state.entries[key]?.lastUse = state.uses
      return true
    }
    guard isKnown else { return nil }
    if let file = OpenFile("\(folder)/\(key)") { return file }
    // Somebody has removed it.
    state.withLock { state in state.total -= state.entries.removeValue(forKey: key)?.size ?? 0 }
    return nil
  }

  /// Stores a file. What can't be stored, on a full disk for example, is made again when it is needed.
  func store(_ bytes: [UInt8], _ key: String) {
    guard bytes.count <= limit else { return }
    let path = "\(folder)/\(key)"
    do {
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      let new = "\(path).\(UInt64.random(in: 0 ... .max))\(Self.partial)"
      do {
        try Data(bytes).write(to: URL(fileURLWithPath: new))
        guard unsafe rename(new, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
      } catch {
        try? FileManager.default.removeItem(atPath: new)
        throw error
      }
    } catch {
      return logger.warning("library: can't store a segment; check the disk of the data folder")
    }
    state.withLock { add(key, bytes.count, to: &$0) }
    makeRoom()
  }

  /// Removes files until a tenth is free, if they are above the limit. Responses with them continue.
  private func makeRoom() {
    let old = state.withLock { state -> [String] in
      guard state.total > limit else { return [] }
      var removed: [String] = []
      for (key, entry) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
        guard state.total > limit / 10 * 9 else { break }
        state.total -= entry.size
        state.entries[key] = nil
        removed.append(key)
      }
      return removed
    }
    for key in old {
      let path = "\(folder)/\(key)"
      unsafe unlink(path)
      // Only an empty one goes.
      unsafe rmdir((path as NSString).deletingLastPathComponent)
    }
  }
}
