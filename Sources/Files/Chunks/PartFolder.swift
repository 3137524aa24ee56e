internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// The folder of a plan's parts.
struct PartFolder {
  let path: String
  /// SHA-256 of the plan's text.
  let plan: String

  func part(_ chunk: Int) -> String { "\(path)/\(chunk).part" }

  func report(_ chunk: Int) -> String { "\(path)/\(chunk).json" }

  /// Creates the folder if it doesn't exist.
  ///
  /// - Throws: `cannotCreate` if it can't be created.
  func prepare() throws(UprightError) {
    var status = stat()
    if unsafe mkdir(path, 0o755) == 0 { return }
    let failure = errno
    guard failure == EEXIST, unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR
    else {
      throw UprightError(
        .cannotCreate, "the folder can't be created: \(unsafe String(cString: strerror(failure)))",
        at: path, remedy: "make it first, or give another one with -o")
    }
  }

  /// Returns the report of a chunk whose part is complete, after checking the part's digest; `nil` if there is no
  /// report.
  ///
  /// - Throws: `badData` if the part or the report is damaged or of another plan, `noInput` if the part is missing.
  func checked(_ chunk: Int) throws(UprightError) -> PartReport? {
    guard let text = FilePath(report(chunk)).contents else { return nil }
    let found = try PartReport(
      parsing: text, at: report(chunk), plan: plan, chunk: chunk)
    let (digest, size) = try ByteDigest.digest(ofFile: part(chunk))
    guard digest == found.digest, size == found.size else {
      throw UprightError(
        .badData, "the part isn't the one that its report describes", at: part(chunk),
        remedy: "remove both, and run the chunk again")
    }
    return found
  }

  /// Publishes the report of a chunk, unless there is one.
  func publish(_ report: PartReport) throws(UprightError) {
    let file = try StagedFile(path: self.report(report.chunk))
    try file.append(Array((report.json.pretty + "\n").utf8))
    _ = try file.publish()
  }
}
