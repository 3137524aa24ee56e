internal import Glibc
internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Refuses outputs that would destroy data, before anything is opened for writing.
enum OutputCheck {
  /// - Throws: `cannotCreate` if the output is the input under any name, or exists and may not be replaced.
  static func check(_ request: TranscodeRequest, isDryRun: Bool = false) throws(UprightError) {
    if request.output == "-", request.container.isSegmented {
      throw UprightError(
        .usage, "HLS has several files: standard output cannot take them", at: request.output,
        remedy: "name a playlist, such as out.m3u8")
    }
    let options = request.options
    let inputs = [request.input, options.audio].compactMap(\.self)
    let stills = [options.slate].compactMap(\.self) + options.overlays.map(\.path)
    let read = inputs.map { ($0, "the input") } + stills.map { ($0, "a slate or an overlay") }
    let outputs = request.playlists(hasAudio: true)?.paths ?? request.outputs
    if !isDryRun { for output in outputs { try removeAbandoned(output) } }
    let mayReplace = options.overwrites || isDryRun
    guard options.splits else {
      for output in outputs { try check(output: output, read: read, mayReplace: mayReplace) }
      return
    }
    // The number of files is not known yet, so check every existing file with the name of a part.
    for part in SplitSink.present(request.output) {
      try check(output: part, read: read, mayReplace: mayReplace)
    }
  }

  /// Checks the output of a run with a single input.
  ///
  /// - Throws: `cannotCreate`, as for a session.
  static func check(output: String, input: String, mayReplace: Bool) throws(UprightError) {
    try removeAbandoned(output)
    try check(output: output, read: [(input, "the input")], mayReplace: mayReplace)
  }

  private static func removeAbandoned(_ output: String) throws(UprightError) {
    guard ContainerSink.isStaged(output) else { return }
    try StagedFile.removeAbandoned(of: output)
  }

  private static func check(
    output: String, read: [(path: String, what: String)], mayReplace: Bool
  ) throws(UprightError) {
    guard output != "-", InputTrust.scheme(of: output) == nil else { return }
    var target = stat()
    guard unsafe stat(output, &target) == 0 else { return }
    if target.st_mode & S_IFMT == S_IFDIR {
      throw UprightError(
        .cannotCreate, "is a folder", at: output, remedy: "name a file in the folder")
    }
    for (path, what) in read {
      var source = stat()
      guard unsafe stat(path, &source) == 0, source.st_dev == target.st_dev,
        source.st_ino == target.st_ino
      else { continue }
      throw UprightError(
        .cannotCreate, "the output is \(what)", at: output, remedy: "give another name")
    }
    // Writing to a device or a pipe replaces nothing.
    guard target.st_mode & S_IFMT == S_IFREG else { return }
    if !mayReplace {
      throw UprightError(
        .cannotCreate, "the output already exists", at: output,
        remedy: "add --overwrite to replace it, or give another name")
    }
  }
}
