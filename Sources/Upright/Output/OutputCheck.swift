internal import Foundation
internal import MediaIO

/// Refuses outputs that would destroy something, before anything is opened for writing.
enum OutputCheck {
  /// - Throws: `cannotCreate` where the output is the input under any name, or is there already and
  ///   may not be replaced.
  static func check(_ session: TranscodeSession, isDryRun: Bool = false) throws(MediaError) {
    guard session.options.splits else {
      return try check(session.output, session, isDryRun: isDryRun)
    }
    // How many there will be is not known: whatever bears the name of one.
    for part in SplitSink.present(session.output) {
      try check(part, session, isDryRun: isDryRun)
    }
  }

  private static func check(
    _ output: String, _ session: TranscodeSession, isDryRun: Bool
  ) throws(MediaError) {
    guard output != "-", InputTrust.scheme(of: output) == nil else { return }
    var target = stat()
    guard unsafe stat(output, &target) == 0 else { return }
    if target.st_mode & S_IFMT == S_IFDIR {
      throw MediaError(
        .cannotCreate, "is a folder", at: output, remedy: "name a file in it")
    }
    var source = stat()
    if unsafe stat(session.input, &source) == 0, source.st_dev == target.st_dev,
      source.st_ino == target.st_ino
    {
      throw MediaError(
        .cannotCreate, "the output is the input", at: output, remedy: "give another name with -o")
    }
    // Into a device or a pipe is written; nothing is replaced.
    guard target.st_mode & S_IFMT == S_IFREG else { return }
    if !session.options.overwrites && !isDryRun {
      throw MediaError(
        .cannotCreate, "the output is there already", at: output,
        remedy: "add -y to replace it, or give another name with -o")
    }
  }
}
