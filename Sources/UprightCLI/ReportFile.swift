internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightMediaIO

/// A file that is written beside the output: `--report` and `--trace`.
enum SideFile {
  /// Refuses a path that would destroy what another argument names, under whatever name.
  ///
  /// - Throws: `usage`.
  static func check(
    _ path: String, _ option: String, against others: [(what: String, path: String?)]
  ) throws(UprightError) {
    for (what, other) in others {
      guard let other, areSame(path, other) else { continue }
      throw UprightError(
        .usage, "would be written over \(what)", at: "\(option) \(path)",
        remedy: "give it another name")
    }
  }

  private static func areSame(_ path: String, _ other: String) -> Bool {
    // Standard output stands for itself only, standard input is nowhere written.
    if path == "-" || other == "-" { return path == other }
    var (one, two) = (stat(), stat())
    if unsafe stat(path, &one) == 0, unsafe stat(other, &two) == 0 {
      // One device may be named several times.
      return one.st_mode & S_IFMT == S_IFREG && one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }
    return resolved(path) == resolved(other)
  }

  private static func resolved(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
  }

  /// Finds out whether `path` can be written, and leaves nothing behind.
  ///
  /// - Throws: `cannotCreate`.
  static func prepare(_ path: String) throws(UprightError) {
    if path == "-" { return }
    if StagedFile.isReplaceable(path) { return try StagedFile.check(path: path) }
    close(try open(path))
  }

  /// Opens `path` as it stands: a device, a pipe, or a file to be written anew.
  static func open(_ path: String) throws(UprightError) -> Int32 {
    if NamedPipe.isOne(path) { return try NamedPipe.openForWriting(path) }
    let file = unsafe Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw UprightError(
        .cannotCreate, "cannot be written: \(unsafe String(cString: strerror(errno)))", at: path,
        remedy: "check that the folder is there and writable")
    }
    return file
  }
}

/// `--report`: written at the end, and known to be writable before any work is done.
struct ReportFile {
  private let path: String

  init(_ path: String) throws(UprightError) {
    self.path = path
    // A pipe is opened once: its reader would take a second opening for the end.
    if StagedFile.isReplaceable(path) || ClipList.isFolder(path) { try SideFile.prepare(path) }
  }

  func write(_ report: JSONValue) throws(UprightError) {
    let text = report.pretty + "\n"
    if path == "-" { return try StandardOutput.write(text) }
    if StagedFile.isReplaceable(path) { return try StagedFile(path: path).commit(text.utf8) }
    let file = try SideFile.open(path)
    defer { close(file) }
    guard StandardOutput.write(Array(text.utf8), to: file) else {
      throw StandardOutput.failure(path)
    }
  }
}

/// `--trace`: one JSON object a line, each line written as a whole when it is known. The file is made
/// with its first line, so that a run that never starts leaves none.
final class TraceFile {
  private let path: String
  private var file: Int32?
  private var failure: UprightError?

  init(_ path: String) throws(UprightError) {
    self.path = path
    if path == "-" {
      file = 1
    } else if StagedFile.isReplaceable(path) {
      try SideFile.prepare(path)
    }
  }

  func write(_ entry: JSONValue) {
    guard failure == nil else { return }
    do throws(UprightError) {
      let file = try opened()
      if !StandardOutput.write(Array((entry.compact + "\n").utf8), to: file) {
        throw StandardOutput.failure(path == "-" ? "standard output" : path)
      }
    } catch {
      failure = error
    }
  }

  private func opened() throws(UprightError) -> Int32 {
    if let file { return file }
    let opened = try SideFile.open(path)
    file = opened
    return opened
  }

  /// - Throws: what went wrong with any of the lines.
  func finish() throws(UprightError) {
    if let failure { throw failure }
    _ = try opened()
  }

  deinit { if let file, file > 2 { close(file) } }
}
