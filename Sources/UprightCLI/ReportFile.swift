internal import Foundation
internal import MediaIO
internal import RotationPolicy
internal import Upright

/// `--report`: written at the end, and known to be writable before any work is done.
final class ReportFile {
  private let path: String

  init(_ path: String) throws(MediaError) {
    self.path = path
    if path != "-" { try StagedFile.check(path: path) }
  }

  func write(_ report: JSONValue) throws(MediaError) {
    let text = report.pretty + "\n"
    if path == "-" {
      print(text, terminator: "")
    } else {
      try StagedFile(path: path).commit(text.utf8)
    }
  }
}

/// `--trace`: one JSON object a line, each line written as a whole when it is known.
final class TraceFile {
  private let path: String
  private let handle: FileHandle
  private var failure: MediaError?

  init(_ path: String) throws(MediaError) {
    self.path = path
    if path == "-" {
      handle = .standardOutput
      return
    }
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forWritingAtPath: path)
    else {
      throw MediaError(
        .cannotCreate, "cannot be written", at: path, remedy: "check that the folder is writable")
    }
    self.handle = handle
  }

  func write(_ entry: JSONValue) {
    do { try handle.write(contentsOf: Data((entry.compact + "\n").utf8)) } catch {
      failure = failure ?? MediaError(.inputOutput, "writing failed", at: path)
    }
  }

  func close() throws(MediaError) {
    if let failure { throw failure }
  }
}
