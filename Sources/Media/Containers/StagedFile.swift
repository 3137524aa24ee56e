internal import Glibc
package import UprightOrientation
internal import UprightMediaIO

/// A file that appears under its name only when it is complete. It is written under a temporary name in the
/// same folder and then renamed. A file that is not committed is removed.
package final class StagedFile {
  let path: String
  package let temporaryPath: String
  private var isDone = false
  /// Locked during the lifetime of this object; see `removeAbandoned`.
  let descriptor: CInt
  /// Whether a file of that name existed when this one was created.
  private let replaces: Bool

  /// - Throws: `cannotCreate` if the folder doesn't exist or isn't writable.
  package init(path: String) throws(UprightError) {
    self.path = path
    let folder = FilePath(path).absolute.folder
    guard folder.isFolder else {
      throw UprightError(
        .cannotCreate, "the folder \(folder.path) does not exist", at: path,
        remedy: "make it first")
    }
    // A rename would replace a device, a pipe or a folder with a plain file.
    guard Self.isReplaceable(path) else {
      throw UprightError(
        .cannotCreate, "is a folder, a device or a pipe", at: path, remedy: "name a plain file")
    }
    replaces = unsafe access(path, F_OK) == 0
    (temporaryPath, descriptor) = try Self.create(in: folder, for: path)
  }

  /// The longest name of a file, in bytes (`NAME_MAX`).
  private static let longestName = 255

  /// Returns the beginning of an output's name that its temporary file has.
  private static func kept(_ name: String) -> String {
    var name = name
    while name.utf8.count > longestName - ".\(Int.max).part.".utf8.count { name.removeLast() }
    return name
  }

  /// Creates an empty temporary file and locks it. Returns its path and its descriptor.
  private static func create(
    in folder: FilePath, for path: String
  ) throws(UprightError) -> (path: String, descriptor: CInt) {
    guard FilePath(path).name.utf8.count <= longestName else {
      throw UprightError(
        .cannotCreate, "the name has more than \(longestName) bytes", at: path,
        remedy: "give a shorter name")
    }
    while true {
      // Process IDs are not unique: the folder may belong to several machines.
      let number = Int.random(in: 1 << 32...Int.max)
      let temporary = folder.appending(".\(kept(FilePath(path).name)).\(number).part").path
      let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      guard file >= 0 else {
        let reason = errno
        throw UprightError(
          .cannotCreate, "cannot be written: \(unsafe String(cString: strerror(reason)))",
          at: path, remedy: "check that the folder is writable"
        ).failing(with: reason)
      }
      while flock(file, LOCK_EX) != 0, errno == EINTR {}
      // Another process may have taken it for abandoned and removed it before it was locked.
      var status = stat()
      guard unsafe fstat(file, &status) == 0, status.st_nlink == 0 else { return (temporary, file) }
      close(file)
    }
  }

  deinit {
    discard()
    close(descriptor)
  }

  /// Returns whether a file may be renamed to `path`: nothing exists there, or a plain file.
  package static func isReplaceable(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }

  /// Checks that a file can be created at `path`, and leaves nothing behind.
  ///
  /// - Throws: `cannotCreate` if it can't be created.
  package static func check(path: String) throws(UprightError) {
    try StagedFile(path: path).discard()
  }

  /// Appends bytes to the temporary file.
  package func append(_ bytes: [UInt8]) throws(UprightError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { buffer in
        unsafe write(descriptor, buffer.baseAddress, buffer.count)
      }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { throw failure("writing failed") }
      rest = rest.dropFirst(written)
    }
  }

  /// Gives the file its final name, with all of its bytes on the disk, unless a file of that name exists, whoever
  /// made it and when. Returns `false` in that case, and removes the temporary file.
  package func publish() throws(UprightError) -> Bool {
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure("writing failed") }
    let isPublished = try Self.publish(temporaryPath, as: path)
    isDone = true
    return isPublished
  }

  /// Renames a file, unless a file of the new name exists. Returns `false` in that case, and removes the first
  /// one.
  package static func publish(
    _ temporary: String, as path: String
  ) throws(UprightError) -> Bool {
    if unsafe link(temporary, path) != 0 {
      if errno == EEXIST {
        _ = unsafe unlink(temporary)
        return false
      }
      // Some file systems don't support links. There, two files of that name have the same bytes.
      guard unsafe rename(temporary, path) == 0 else {
        throw UprightError(
          .inputOutput, "cannot be renamed: \(unsafe String(cString: strerror(errno)))", at: path,
          remedy: "check the disk")
      }
    }
    _ = unsafe unlink(temporary)
    return true
  }

  /// Writes all of `bytes` and renames the file to its final name.
  package func commit(_ bytes: some Collection<UInt8>) throws(UprightError) {
    let data = Array(bytes)
    let file = unsafe open(temporaryPath, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard file >= 0 else { throw failure("cannot be written") }
    var written = 0
    while written < data.count {
      let result = unsafe data.withUnsafeBytes { buffer in
        unsafe write(file, buffer.baseAddress.map { unsafe $0 + written }, buffer.count - written)
      }
      if result < 0 {
        if errno == EINTR { continue }
        let error = failure("writing failed")
        close(file)
        throw error
      }
      written += result
    }
    guard close(file) == 0 else { throw failure("writing failed") }
    try commit()
  }

  /// Renames the file to its final name, replacing the file that existed when this one was created.
  ///
  /// - Parameter name: Another name in the same folder; `nil` for the final name.
  /// - Throws: `cannotCreate` if another process has created a file of that name in the meantime.
  package func commit(as name: String? = nil) throws(UprightError) {
    let name = name ?? path
    // Unlike `rename`, `link` replaces nothing. Some file systems don't support links.
    if name == path, !replaces, unsafe link(temporaryPath, name) != 0, errno == EEXIST {
      throw UprightError(
        .cannotCreate, "another process has created it in the meantime", at: name,
        remedy: "add --overwrite to replace it, or give another name")
    }
    guard unsafe rename(temporaryPath, name) == 0 else { throw failure("cannot be renamed") }
    // A rename to another link of the same file does nothing (POSIX).
    _ = unsafe unlink(temporaryPath)
    isDone = true
  }

  /// Removes the temporary files of an output that were left by processes that no longer run.
  ///
  /// - Throws: `cannotCreate` if a running process is writing the output.
  package static func removeAbandoned(of path: String) throws(UprightError) {
    let target = FilePath(path).absolute
    let folder = target.folder.path
    let stem = "." + kept(target.stem)
    for file in target.folder.names ?? [] where file.hasPrefix(stem) && file.hasSuffix(".part") {
      let words = file.dropLast(5)
      guard let dot = words.lastIndex(of: "."), Int(words[words.index(after: dot)...]) != nil else {
        continue
      }
      let name = words[..<dot].dropFirst()
      // A process ID would not do: it may belong to another container, or have been reused.
      let lock = unsafe open("\(folder)/\(file)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      if lock < 0, errno == ENOENT { continue }
      defer { close(lock) }
      guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
        if name == kept(target.name) {
          throw UprightError(
            .cannotCreate, "another process is writing this file", at: path,
            remedy: "wait for that process, or give another name")
        }
        continue
      }
      // The file is the output, one of its formats or one of its segments.
      let rest = name.dropFirst(stem.utf8.count - 1)
      guard name == kept(target.name) || rest.hasPrefix("-") else { continue }
      // While it is locked: the process that has just created it waits for the lock.
      _ = unsafe unlink("\(folder)/\(file)")
    }
  }

  /// Removes the temporary file.
  package func discard() {
    guard !isDone else { return }
    isDone = true
    _ = unsafe unlink(temporaryPath)
  }

  func failure(_ what: String) -> UprightError {
    let reason = errno
    return UprightError(
      .inputOutput, "\(what): \(unsafe String(cString: strerror(reason)))", at: path,
      remedy: "check the disk"
    ).failing(with: reason)
  }
}
