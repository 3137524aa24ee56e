internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// A file that is written in addition to the output: `--report` and `--trace`.
enum SideFile {
  /// Checks that `path` isn't a file that another argument names, by the same or by another path.
  ///
  /// - Throws: `usage` if it is.
  static func check(
    _ path: String, _ option: String, against others: [(what: String, path: String?)]
  ) throws(UprightError) {
    for (what, other) in others {
      guard let other, areSame(path, other) else { continue }
      throw UprightError(
        .usage, "would overwrite \(what)", at: "\(option) \(path)",
        remedy: "give it another name")
    }
  }

  private static func areSame(_ path: String, _ other: String) -> Bool {
    // `-` means standard output, which is the same only as itself.
    if path == "-" || other == "-" { return path == other }
    var (one, two) = (stat(), stat())
    if unsafe stat(path, &one) == 0, unsafe stat(other, &two) == 0 {
      // Only regular files count: a device may be named several times.
      return one.st_mode & S_IFMT == S_IFREG && one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }
    return resolved(path) == resolved(other)
  }

  private static func resolved(_ path: String) -> String {
    FilePath(path).resolved.path
  }

  /// Checks that `path` can be written. A regular file is left as it was.
  ///
  /// - Throws: `cannotCreate` if it can't be written.
  static func prepare(_ path: String) throws(UprightError) {
    if path == "-" { return }
    if StagedFile.isReplaceable(path) { return try StagedFile.check(path: path) }
    close(try open(path))
  }

  /// Opens `path` itself for writing, without a temporary file: a device, a pipe, or a file, which is
  /// truncated.
  static func open(_ path: String) throws(UprightError) -> Int32 {
    if NamedPipe.isOne(path) { return try NamedPipe.openForWriting(path) }
    let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else {
      throw UprightError(
        .cannotCreate, "the file can't be written: \(unsafe String(cString: strerror(errno)))",
        at: path,
        remedy: "check that the folder exists and is writable")
    }
    return file
  }
}

/// The file of `--report`. It is written at the end, and checked to be writable before any work is done.
struct ReportFile {
  private let path: String

  init(_ path: String) throws(UprightError) {
    self.path = path
    // A pipe must be opened only once: when it is closed, its reader reaches the end of the file.
    if StagedFile.isReplaceable(path) || InputList.isFolder(path) { try SideFile.prepare(path) }
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

/// The file of `--trace`: one JSON object per line, each written as soon as it is known. The file is created
/// with the first line, so that a run that doesn't start leaves no file.
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

  /// Creates the file if it has no lines.
  ///
  /// - Throws: The first error of any write.
  func finish() throws(UprightError) {
    if let failure { throw failure }
    _ = try opened()
  }

  deinit { if let file, file > 2 { close(file) } }
}
