internal import Glibc
internal import UprightOrientation
internal import UprightMedia

/// The files that `upright check` finds: those that are named, and the media files of folders and their subfolders, in
/// the order of their names. Hidden files are left out, and segments beside a playlist that lists them.
///
/// One folder of each level is in memory. A folder that links lead to twice is visited once.
struct CheckWalk {
  /// What was found.
  struct Found {
    /// The path, as it is opened.
    let path: String
    /// The path below the folder that was named, or the name of the file.
    let relative: String
    /// Why the file isn't opened; `nil` if it is.
    var error: UprightError?
  }

  private struct Level {
    let folder: FilePath
    let relative: String
    /// The names that are left, the last one first.
    var names: [String]
    let segments: Set<String>
  }

  private struct Identity: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  /// The names that were given and are left, the last one first.
  private var inputs: [String]
  private var levels: [Level] = []
  private var visited: Set<Identity> = []
  /// The deepest folder. Paths are shorter than this many components.
  private static let deepest = 2048

  init(_ inputs: [String]) { self.inputs = inputs.reversed() }

  /// Returns the next file; `nil` at the end.
  mutating func next() -> Found? {
    while true {
      guard let level = levels.last else {
        guard let input = inputs.popLast() else { return nil }
        if let found = start(input) { return found }
        continue
      }
      guard let name = level.names.last else {
        levels.removeLast()
        continue
      }
      levels[levels.count - 1].names.removeLast()
      if let found = visit(name, in: level) { return found }
    }
  }

  private mutating func start(_ input: String) -> Found? {
    var status = stat()
    guard unsafe stat(input, &status) == 0, Self.isFolder(status) else {
      return Found(path: input, relative: FilePath(input).name)
    }
    return enter(FilePath(input), "", status)
  }

  private mutating func visit(_ name: String, in level: Level) -> Found? {
    guard !name.hasPrefix(".") else { return nil }
    let path = level.folder.appending(name)
    let relative = level.relative.isEmpty ? name : "\(level.relative)/\(name)"
    var status = stat()
    guard unsafe stat(path.path, &status) == 0 else {
      guard Self.isMedia(name) else { return nil }
      // Bytes that are no UTF-8 were replaced.
      let isText = !name.unicodeScalars.contains("\u{FFFD}")
      let error = UprightError(
        .noInput, isText ? "there is no such file" : "the name is no valid UTF-8", at: path.path,
        remedy: isText ? "check the link" : "rename the file")
      return Found(path: path.path, relative: relative, error: error)
    }
    if Self.isFolder(status) {
      // It may lead anywhere, where nothing was asked to be mended.
      return path.link.isEmpty ? enter(path, relative, status) : nil
    }
    guard status.st_mode & S_IFMT == S_IFREG, Self.isMedia(name), !level.segments.contains(name)
    else { return nil }
    return Found(path: path.path, relative: relative)
  }

  private mutating func enter(_ folder: FilePath, _ relative: String, _ status: stat) -> Found? {
    let identity = Identity(device: status.st_dev, inode: status.st_ino)
    guard visited.insert(identity).inserted else { return nil }
    guard levels.count < Self.deepest, let names = folder.names else {
      return Found(
        path: folder.path, relative: relative,
        error: UprightError(
          .noInput, "the folder cannot be read", at: folder.path,
          remedy: "check its permissions"))
    }
    let playlists = names.filter { !$0.hasPrefix(".") && PlaylistCheck.isPlaylist($0) }
    let segments = playlists.flatMap { PlaylistCheck.segments(of: folder.appending($0).path) }
    levels.append(
      Level(
        folder: folder, relative: relative, names: names.sorted(by: >), segments: Set(segments)))
    return nil
  }

  private static func isFolder(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFDIR }

  private static func isMedia(_ name: String) -> Bool {
    InputList.isMedia(fileExtension: FilePath(name).fileExtension.lowercased())
      || PlaylistCheck.isPlaylist(name)
  }
}
