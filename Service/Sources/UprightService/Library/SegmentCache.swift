internal import Foundation
internal import Glibc
internal import Logging
internal import Synchronization

/// A file that is written into the cache, by this process or another one. It is removed with the last reference to this,
/// unless it was stored.
final class CachedFile: Sendable {
  let descriptor: CInt
  let path: String
  /// Its name in the cache.
  let key: String

  /// Returns `nil` if the file can't be made.
  init?(_ path: String, _ key: String) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    descriptor = unsafe open(path, flags, 0o600)
    guard descriptor >= 0 else { return nil }
    (self.path, self.key) = (path, key)
  }

  deinit {
    close(descriptor)
    // A stored one has another name.
    unsafe unlink(path)
  }

  /// Writes bytes at the end of an open file.
  ///
  /// - Returns: `false` if not all of them could be written.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = unsafe Glibc.write(
          descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
        if count > 0 { written += count } else if count == 0 || errno != EINTR { return false }
      }
      return true
    }
  }
}

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

  /// Makes a file that is stored by `finish`. Returns `nil` if that isn't possible, on a full disk for example: what can't
  /// be stored is made again when it is needed.
  func begin(_ key: String) -> CachedFile? {
    let path = "\(folder)/\(key)"
    try? FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let partial = "\(path).\(UInt64.random(in: 0 ... .max))\(Self.partial)"
    let file = CachedFile(partial, key)
    if file == nil {
      logger.warning("library: can't store a segment; check the disk of the data folder")
    }
    return file
  }

  /// Stores a file that is written, unless it is larger than the cache, and opens it.
  func finish(_ new: CachedFile) -> OpenFile? {
    guard let file = OpenFile(descriptor: dup(new.descriptor)) else { return nil }
    if file.size <= limit, unsafe rename(new.path, "\(folder)/\(new.key)") == 0 {
      state.withLock { add(new.key, file.size, to: &$0) }
      makeRoom()
    }
    return file
  }

  /// Stores bytes.
  func store(_ bytes: [UInt8], _ key: String) {
    guard bytes.count <= limit, let new = begin(key),
      CachedFile.write(bytes, to: new.descriptor)
    else { return }
    _ = finish(new)
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
