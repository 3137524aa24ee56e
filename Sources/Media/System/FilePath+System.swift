internal import Glibc

extension FilePath {
  /// The path from the root. `.` and `..` at its beginning are resolved.
  package var absolute: FilePath {
    guard !path.hasPrefix("/"), let current = unsafe getcwd(nil, 0) else { return self }
    defer { unsafe free(current) }
    var base = FilePath(unsafe String(cString: current))
    var rest = path.split(separator: "/")[...]
    while let first = rest.first, first == "." || first == ".." {
      if first == ".." { base = base.folder }
      rest = rest.dropFirst()
    }
    return rest.isEmpty ? base : base.appending(rest.joined(separator: "/"))
  }

  /// The path from the root without `.`, `..` and empty components. Links are not followed.
  package var standardized: FilePath {
    var components: [Substring] = []
    for component in absolute.path.split(separator: "/") where component != "." {
      if component == ".." { _ = components.popLast() } else { components.append(component) }
    }
    return FilePath("/" + components.joined(separator: "/"))
  }

  /// The standardized path of the file that links lead to, which need not exist.
  package var resolved: FilePath {
    if let found = Self.real(path) { return found }
    return Self.real(folder.path)?.appending(name) ?? standardized
  }

  private static func real(_ path: String) -> FilePath? {
    guard let found = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(found) }
    return FilePath(unsafe String(cString: found))
  }

  /// Whether there is a file or a folder, which links may lead to.
  package var exists: Bool { unsafe access(path, F_OK) == 0 }

  /// Whether there is a folder, which links may lead to.
  package var isFolder: Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// What a symbolic link refers to; empty for a file that is none.
  package var link: String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The names of the files in a folder, in no order. `nil` if it can't be read.
  package var names: [String]? {
    guard let folder = unsafe opendir(path) else { return nil }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Makes the folder, and those that it is in. Returns `false` if that isn't possible.
  package func makeFolder() -> Bool {
    if unsafe mkdir(path, 0o777) == 0 || isFolder { return true }
    guard errno == ENOENT, folder != self, folder.makeFolder() else { return false }
    return unsafe mkdir(path, 0o777) == 0 || isFolder
  }

  /// The bytes of a file; `nil` if it can't be read.
  package var contents: [UInt8]? {
    guard let file = FileReader(path) else { return nil }
    var bytes: [UInt8] = []
    while let more = try? file.read(1 << 20) {
      if more.isEmpty { return bytes }
      bytes += more
    }
    return nil
  }
}
