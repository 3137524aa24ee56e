internal import Foundation
package import MediaIO

/// A file that appears under its name only when it is whole: written under a temporary name in the
/// same folder, then renamed. What is not committed is removed.
package final class StagedFile {
  let path: String
  let temporaryPath: String
  private var isDone = false

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
    temporaryPath =
      folder + "/." + url.lastPathComponent + ".\(ProcessInfo.processInfo.processIdentifier).part"
    let file = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw MediaError(
        .cannotCreate, "cannot be written: \(unsafe String(cString: strerror(errno)))", at: path,
        remedy: "check that the folder is writable")
    }
    close(file)
  }

  deinit { discard() }

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

  /// Gives the file its name, replacing what stands there.
  func commit() throws(MediaError) {
    guard unsafe rename(temporaryPath, path) == 0 else { throw failure("cannot be renamed") }
    isDone = true
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
