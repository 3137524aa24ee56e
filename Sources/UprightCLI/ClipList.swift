internal import Foundation
internal import Orientation
internal import UprightContainers
internal import UprightMediaIO

/// The clips that a transcode was given, each with the output that it becomes.
///
/// A folder stands for the clips in it by their names' endings, sorted; folders within it, hidden files
/// and what Upright itself wrote there (`NAME.upright.mp4`) are left out. A clip named twice is one.
struct ClipList {
  struct Clip: Hashable {
    let input: String
    let output: String
  }

  private(set) var clips: [Clip]
  /// Whether several may have been meant: two names, or a folder.
  let isSeveral: Bool
  /// Where the outputs go; nil: beside their inputs, or as `-o` names the one that there is.
  let folder: String?

  /// - Parameters:
  ///   - output: `-o`: a file for one input, a folder for any number; nil: beside each input.
  ///   - format: `--format`, which says the container of outputs that have no name yet.
  /// - Throws: `usage` where two outputs would have one name, or where several inputs cannot go where
  ///   they are sent; `noInput` for a folder without clips; `cannotCreate` where an output is another's
  ///   input.
  init(_ inputs: [String], output: String?, format: String?) throws(UprightError) {
    var found: [String] = []
    for input in inputs { found += Self.isFolder(input) ? try Self.clips(in: input) : [input] }
    isSeveral = inputs.count > 1 || inputs.contains { Self.isFolder($0) }
    var seen: Set<String> = []
    found = found.filter { seen.insert(Self.place($0)).inserted }
    if isSeveral { try Self.checkSeveral(found, output) }
    var folder: String?
    if let output, Self.namesFolder(output, isSeveral: isSeveral) { folder = output }
    let file = folder == nil ? output : nil
    let ending = Self.ending(format)
    var clips: [Clip] = []
    for input in found {
      clips.append(
        Clip(input: input, output: file ?? Self.output(of: input, in: folder, ending: ending)))
    }
    self.folder = folder
    self.clips = clips
    if isSeveral { try checkOutputs() }
  }

  /// Takes out the clips whose output is there; returns how many.
  mutating func removeExisting() -> Int {
    let count = clips.count
    clips.removeAll { FileManager.default.fileExists(atPath: $0.output) }
    return count - clips.count
  }

  // MARK: - Names

  /// A clip's name without folder and ending.
  static func stem(of input: String) -> String {
    input == "-"
      ? "upright" : URL(fileURLWithPath: input).deletingPathExtension().lastPathComponent
  }

  private static func output(of input: String, in folder: String?, ending: String) -> String {
    if let folder {
      return URL(fileURLWithPath: folder).appendingPathComponent("\(stem(of: input)).\(ending)")
        .relativePath
    }
    if input == "-" { return "upright.\(ending)" }
    let name = "\(stem(of: input)).upright.\(ending)"
    return input.contains("://")
      ? name
      : URL(fileURLWithPath: input).deletingLastPathComponent().appendingPathComponent(name)
        .relativePath
  }

  /// What names of a container end in.
  private static func ending(_ format: String?) -> String {
    let endings = ["hls": "m3u8", "mpegts": "ts", "matroska": "mkv", "yuv4mpegpipe": "y4m"]
    guard let word = format?.lowercased() else { return "mp4" }
    return endings[word] ?? word
  }

  private static func place(_ path: String) -> String {
    path.contains("://") || path == "-" ? path : URL(fileURLWithPath: path).standardizedFileURL.path
  }

  // MARK: - Folders

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether `-o` means a folder: one that is there or is written as one. Several inputs need one, so
  /// there a name that no container has will do.
  private static func namesFolder(_ output: String, isSeveral: Bool) -> Bool {
    guard output != "-", !output.contains("://") else { return false }
    if isFolder(output) || output.hasSuffix("/") { return true }
    return isSeveral && !FileManager.default.fileExists(atPath: output)
      && (try? OutputContainer(target: output)) == nil
  }

  /// Endings of files with moving pictures. Playlists are left out, since their segments lie beside
  /// them; so are Janus recordings, of which a call has several.
  private static let endings: Set<String> = [
    "mp4", "m4v", "mov", "qt", "3gp", "3g2", "mkv", "webm", "ts", "mts", "m2ts", "flv", "avi",
    "mpg",
    "mpeg", "mxf", "ogv", "asf", "wmv", "h264", "264", "hevc", "h265", "265", "ivf", "obu", "y4m",
    "mjpeg", "mjpg",
  ]

  private static func clips(in folder: String) throws(UprightError) -> [String] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      throw UprightError(
        .noInput, "the folder cannot be read", at: folder, remedy: "check its permissions")
    }
    let base = URL(fileURLWithPath: folder)
    let clips = names.filter(isClip).sorted().map { base.appendingPathComponent($0).relativePath }
      .filter(isPlainFile)
    guard !clips.isEmpty else {
      throw UprightError(
        .noInput, "there is no clip in the folder", at: folder,
        remedy: "name a folder with .mp4, .mov or other clips in it, or the clips themselves")
    }
    return clips
  }

  private static func isClip(_ name: String) -> Bool {
    // An output's parts and segments are NAME.upright-0.ts and the like.
    !name.hasPrefix(".") && !name.contains(".upright.") && !name.contains(".upright-")
      && endings.contains(URL(fileURLWithPath: name).pathExtension.lowercased())
  }

  private static func isPlainFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Makes the folder of the outputs where it is not there, and finds out whether it can be written.
  ///
  /// - Returns: whether it was made.
  /// - Throws: `cannotCreate`.
  func prepareFolder() throws(UprightError) -> Bool {
    guard let folder else { return false }
    let isNew = unsafe mkdir(folder, 0o755) == 0
    guard isNew || Self.isFolder(folder) else {
      throw UprightError(
        .cannotCreate, "the folder cannot be made: \(unsafe String(cString: strerror(errno)))",
        at: folder, remedy: "make it first, or give another one with -o")
    }
    try StagedFile.check(path: URL(fileURLWithPath: folder).appendingPathComponent(".upright").path)
    return isNew
  }

  /// Takes back a folder that was made for nothing.
  func removeEmptyFolder() {
    if let folder { _ = unsafe rmdir(folder) }
  }

  // MARK: - Checks

  private static func checkSeveral(_ inputs: [String], _ output: String?) throws(UprightError) {
    if inputs.contains("-") {
      throw UprightError(
        .usage, "standard input is one clip, and there are others", at: "-",
        remedy: "transcode it by itself")
    }
    guard let output, !namesFolder(output, isSeveral: true) else { return }
    throw UprightError(
      .usage, "several clips cannot become one output", at: "-o \(output)",
      remedy: "name a folder, -o out/ for instance, or leave it out")
  }

  /// No output is another clip's output or input.
  private func checkOutputs() throws(UprightError) {
    var origins: [String: String] = [:]
    var inputs: [FileIdentity: String] = [:]
    for clip in clips {
      if let other = origins.updateValue(clip.input, forKey: Self.place(clip.output)) {
        throw UprightError(
          .usage, "\(other) and \(clip.input) would both become one file", at: clip.output,
          remedy: folder == nil
            ? "rename one of them, or transcode it by itself with -o"
            : "rename one of them, or give them folders of their own")
      }
      if let identity = FileIdentity(clip.input) { inputs[identity] = clip.input }
    }
    for clip in clips {
      guard let identity = FileIdentity(clip.output), let input = inputs[identity] else { continue }
      throw UprightError(
        .cannotCreate, "the output is an input: \(input)", at: clip.output,
        remedy: "give another folder with -o")
    }
  }
}

/// A file under whatever name.
private struct FileIdentity: Hashable {
  private let device: dev_t
  private let inode: ino_t

  /// Nil where there is no plain file.
  init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }
}
