internal import Glibc
internal import UprightOrientation
internal import UprightMedia
internal import UprightFiles
internal import UprightMediaIO

/// The inputs of a transcode, each with its output.
///
/// A folder means the media files in it, selected by their extensions and sorted by name. Its subfolders,
/// hidden files and Upright's outputs (`NAME.upright.mp4`) are skipped. An input that is named twice counts
/// once.
struct InputList {
  struct Item: Hashable {
    let input: String
    let output: String
  }

  private(set) var items: [Item]
  /// Whether the arguments can mean several inputs: more than one name, or a folder.
  let isSeveral: Bool
  /// The folder of the outputs. `nil` if they are written beside their inputs, or if `-o` names a single
  /// file.
  let folder: String?

  /// How the outputs are named whose names aren't given.
  enum Naming: Hashable {
    /// With the extension of a container (`--format`); `nil` means MP4.
    case container(String?)
    /// As their inputs. The inputs may be still images too.
    case unchanged
  }

  /// - Parameters:
  ///   - output: `-o`: a file for one input, or a folder for any number. `nil` means beside each input.
  /// - Throws: `usage` if two outputs would have the same name, or if `output` can't take several inputs;
  ///   `noInput` if a folder has no media files; `cannotCreate` if an output is also an input.
  init(_ inputs: [String], output: String?, naming: Naming) throws(UprightError) {
    let found = try Self.files(inputs, includesStills: naming == .unchanged)
    isSeveral = inputs.count > 1 || inputs.contains { Self.isFolder($0) }
    if isSeveral { try Self.checkSeveral(found, output) }
    var folder: String?
    if let output, Self.namesFolder(output, isSeveral: isSeveral) { folder = output }
    let file = folder == nil ? output : nil
    var items: [Item] = []
    for input in found {
      let ending = Self.ending(naming, of: input)
      items.append(
        Item(input: input, output: file ?? Self.output(of: input, in: folder, ending: ending)))
    }
    self.folder = folder
    self.items = items
    if isSeveral { try checkOutputs() }
  }

  /// Creates a list of files that are changed themselves.
  init(inPlace inputs: [String]) throws(UprightError) {
    items = try Self.files(inputs, includesStills: true).map { Item(input: $0, output: $0) }
    isSeveral = inputs.count > 1 || inputs.contains { Self.isFolder($0) }
    folder = nil
  }

  /// Creates a list of files that are only read.
  init(probed inputs: [String]) throws(UprightError) {
    try self.init(inPlace: inputs)
    if isSeveral { try Self.checkSeveral(inputs, nil) }
  }

  /// Removes the inputs whose output exists. Returns their number.
  ///
  /// - Parameter suffixes: What is added to the names of outputs that have several files.
  mutating func removeExisting(suffixes: [String] = []) -> Int {
    let count = items.count
    items.removeAll { item in
      let names = suffixes.map { OutputName.suffixed(item.output, $0) }
      return (names.isEmpty ? [item.output] : names)
        .allSatisfy { FilePath($0).exists }
    }
    return count - items.count
  }

  // MARK: - Names

  /// Returns an input's file name without folder and extension.
  static func stem(of input: String) -> String {
    input == "-" ? "upright" : FilePath(input).stem
  }

  private static func output(of input: String, in folder: String?, ending: String) -> String {
    if let folder {
      return FilePath(folder).appending("\(stem(of: input)).\(ending)").path
    }
    if input == "-" { return "upright.\(ending)" }
    let name = "\(stem(of: input)).upright.\(ending)"
    return input.contains("://") ? name : FilePath(input).folder.appending(name).path
  }

  /// Returns the extension of an output's name.
  private static func ending(_ naming: Naming, of input: String) -> String {
    guard case .container(let format) = naming else { return FilePath(input).fileExtension }
    let endings = ["hls": "m3u8", "mpegts": "ts", "matroska": "mkv", "yuv4mpegpipe": "y4m"]
    guard let word = format?.lowercased() else { return "mp4" }
    return endings[word] ?? word
  }

  private static func normalized(_ path: String) -> String {
    path.contains("://") || path == "-" ? path : FilePath(path).standardized.path
  }

  // MARK: - Folders

  /// Returns the inputs, with the media files of a folder in its place, each of them once.
  static func files(_ inputs: [String], includesStills: Bool) throws(UprightError) -> [String] {
    var found: [String] = []
    for input in inputs {
      found += isFolder(input) ? try mediaFiles(in: input, includesStills) : [input]
    }
    var seen: Set<String> = []
    return found.filter { seen.insert(normalized($0)).inserted }
  }

  static func isFolder(_ path: String) -> Bool { FilePath(path).isFolder }

  /// Whether `-o` means a folder: it exists as a folder or ends with a slash. With several inputs, also a
  /// name that doesn't exist and has no container's extension.
  private static func namesFolder(_ output: String, isSeveral: Bool) -> Bool {
    guard output != "-", !output.contains("://") else { return false }
    if isFolder(output) || output.hasSuffix("/") { return true }
    return isSeveral && !FilePath(output).exists
      && (try? OutputContainer(target: output)) == nil
  }

  /// Whether files with this extension, in lower case, are videos or still images whose orientation can be set.
  static func isMedia(fileExtension: String) -> Bool {
    Probe.fileExtensions.contains(fileExtension) || TagSession.isStill(fileExtension: fileExtension)
  }

  private static func mediaFiles(
    in folder: String, _ includesStills: Bool
  ) throws(UprightError) -> [String] {
    guard let names = FilePath(folder).names else {
      throw UprightError(
        .noInput, "the folder cannot be read", at: folder, remedy: "check its permissions")
    }
    let files = names.filter { isMediaFile($0, includesStills) }.sorted().map {
      FilePath(folder).appending($0).path
    }
    .filter(isPlainFile)
    guard !files.isEmpty else {
      throw UprightError(
        .noInput, "the folder has no media files", at: folder,
        remedy: "name a folder with .mp4, .mov or other media files, or name the files")
    }
    return files
  }

  private static func isMediaFile(_ name: String, _ includesStills: Bool) -> Bool {
    // The names of an output's parts and segments are like NAME.upright-0.ts.
    guard !name.hasPrefix("."), !name.contains(".upright."), !name.contains(".upright-") else {
      return false
    }
    let ending = FilePath(name).fileExtension.lowercased()
    return Probe.fileExtensions.contains(ending)
      || includesStills && TagSession.isStill(fileExtension: ending)
  }

  private static func isPlainFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Creates the folder of the outputs if it doesn't exist, and checks that it is writable.
  ///
  /// - Returns: Whether the folder was created.
  /// - Throws: `cannotCreate` if it can't be created or written.
  func prepareFolder() throws(UprightError) -> Bool {
    guard let folder else { return false }
    let isNew = unsafe mkdir(folder, 0o755) == 0
    guard isNew || Self.isFolder(folder) else {
      throw UprightError(
        .cannotCreate, "the folder can't be created: \(unsafe String(cString: strerror(errno)))",
        at: folder, remedy: "make it first, or give another one with -o")
    }
    try StagedFile.check(path: FilePath(folder).appending(".upright").path)
    return isNew
  }

  /// Removes the folder of the outputs if it is empty.
  func removeEmptyFolder() {
    if let folder { _ = unsafe rmdir(folder) }
  }

  // MARK: - Checks

  private static func checkSeveral(_ inputs: [String], _ output: String?) throws(UprightError) {
    if inputs.contains("-") {
      throw UprightError(
        .usage, "standard input can't be one of several inputs", at: "-",
        remedy: "give it in a separate command")
    }
    guard let output, !namesFolder(output, isSeveral: true) else { return }
    throw UprightError(
      .usage, "several inputs can't have one output", at: "-o \(output)",
      remedy: "name a folder, for instance -o out/, or leave -o out")
  }

  /// Checks that no output is also the output of another input, or an input.
  private func checkOutputs() throws(UprightError) {
    var inputByOutput: [String: String] = [:]
    var inputs: [FileIdentity: String] = [:]
    for item in items {
      if let other = inputByOutput.updateValue(item.input, forKey: Self.normalized(item.output)) {
        throw UprightError(
          .usage, "\(other) and \(item.input) would have the same output", at: item.output,
          remedy: folder == nil
            ? "rename one of them, or transcode it in a separate command with -o"
            : "rename one of them, or use a separate output folder for each")
      }
      if let identity = FileIdentity(item.input) { inputs[identity] = item.input }
    }
    for item in items {
      guard let identity = FileIdentity(item.output), let input = inputs[identity] else { continue }
      throw UprightError(
        .cannotCreate, "the output is an input: \(input)", at: item.output,
        remedy: "name another folder with -o")
    }
  }
}

/// The identity of a regular file (device and inode), whichever path names it.
private struct FileIdentity: Hashable {
  private let device: dev_t
  private let inode: ino_t

  /// Returns `nil` if `path` isn't a regular file.
  init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }
}
