internal import Foundation
package import UprightMediaIO

/// A file that appears under its name only when it is whole: written under a temporary name in the
/// same folder, then renamed. What is not committed is removed.
package final class StagedFile {
  let path: String
  let temporaryPath: String
  private var isDone = false
  /// Locked for as long as this lives: see `isAbandoned`.
  private let lock: CInt
  /// Whether a file of that name was there when this one was begun.
  private let replaces: Bool

  /// - Throws: `cannotCreate` where the folder is missing or cannot be written.
  package init(path: String) throws(MediaError) {
    self.path = path
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
      isFolder.boolValue
    else {
      throw MediaError(
        .cannotCreate, "the folder \(folder) is not there", at: path, remedy: "make it first")
    }
    // A rename would put a plain file in the place of a device, a pipe or a folder.
    guard Self.isReplaceable(path) else {
      throw MediaError(
        .cannotCreate, "is a folder, a device or a pipe", at: path, remedy: "name a plain file")
    }
    replaces = unsafe access(path, F_OK) == 0
    temporaryPath =
      folder + "/." + url.lastPathComponent + ".\(ProcessInfo.processInfo.processIdentifier).part"
    let file = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw MediaError(
        .cannotCreate, "cannot be written: \(unsafe String(cString: strerror(errno)))", at: path,
        remedy: "check that the folder is writable")
    }
    lock = file
    flock(file, LOCK_EX | LOCK_NB)
  }

  deinit {
    discard()
    close(lock)
  }

  /// Whether a file may be given the name `path`: what stands there now, if anything, is a plain file.
  package static func isReplaceable(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }

  /// Finds out whether a file can be made at `path`, and leaves nothing behind.
  ///
  /// - Throws: `cannotCreate` where it cannot.
  package static func check(path: String) throws(MediaError) {
    try StagedFile(path: path).discard()
  }

  /// Writes all of `bytes` and gives the file its name.
  package func commit(_ bytes: some Collection<UInt8>) throws(MediaError) {
    let data = Data(bytes)
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

  /// Whether no process holds the lock of a temporary file. A number of a process says nothing: it may be
  /// of another container, or have been given again.
  private static func isAbandoned(_ file: String) -> Bool {
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  /// Gives the file its name, replacing what was there when it was begun.
  ///
  /// - Parameter name: another name in the same folder; `nil`: its own.
  /// - Throws: `cannotCreate` if another process has made a file of that name meanwhile.
  func commit(as name: String? = nil) throws(MediaError) {
    let name = name ?? path
    // Unlike rename, link replaces nothing. Some file systems have no links.
    if name == path, !replaces, unsafe link(temporaryPath, name) != 0, errno == EEXIST {
      throw MediaError(
        .cannotCreate, "another process has made it meanwhile", at: name,
        remedy: "add -y to replace it, or give another name with -o")
    }
    guard unsafe rename(temporaryPath, name) == 0 else { throw failure("cannot be renamed") }
    // A rename to another link of the same file does nothing (POSIX).
    _ = unsafe unlink(temporaryPath)
    isDone = true
  }

  /// Removes the temporary files of an output that processes left which are gone.
  ///
  /// - Throws: `cannotCreate` if a process that runs is writing the output.
  package static func removeAbandoned(of path: String) throws(MediaError) {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    let stem = "." + url.deletingPathExtension().lastPathComponent
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for file in names where file.hasPrefix(stem) && file.hasSuffix(".part") {
      let words = file.dropLast(5)
      guard let dot = words.lastIndex(of: "."), Int(words[words.index(after: dot)...]) != nil else {
        continue
      }
      let name = words[..<dot].dropFirst()
      guard isAbandoned("\(folder)/\(file)") else {
        if name == url.lastPathComponent {
          throw MediaError(
            .cannotCreate, "another process is writing it", at: path,
            remedy: "wait for it, or give another name with -o")
        }
        continue
      }
      // The output itself, its formats or its segments.
      let rest = name.dropFirst(stem.utf8.count - 1)
      guard name == url.lastPathComponent || rest.hasPrefix("-") else { continue }
      _ = unsafe unlink("\(folder)/\(file)")
    }
  }

  /// Removes what was written so far.
  func discard() {
    guard !isDone else { return }
    isDone = true
    _ = unsafe unlink(temporaryPath)
  }

  private func failure(_ what: String) -> MediaError {
    MediaError(
      .inputOutput, "\(what): \(unsafe String(cString: strerror(errno)))", at: path,
      remedy: "check the disk")
  }
}
