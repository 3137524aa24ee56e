internal import CUprightWorker
internal import Foundation
internal import Glibc
internal import Upright
internal import UprightOrientation

/// The folder of the library. No path leads out of it; links within it are followed.
final class LibraryFolder: Sendable {
  let root: String
  /// The service's own folder, which isn't served if it is in this one.
  private let excluded: String
  private let descriptor: CInt

  /// Folders below this depth aren't listed.
  private static let deepest = 64

  /// - Throws: `configuration` if there is no such folder.
  init(_ path: String, excluding data: String) throws(UprightError) {
    descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, let root = Self.path(of: descriptor) else {
      throw UprightError(
        .configuration, "the folder can't be read", at: path, remedy: "check --library")
    }
    self.root = root
    excluded = URL(fileURLWithPath: data).resolvingSymlinksInPath().path + "/"
  }

  deinit { close(descriptor) }

  private static func path(of descriptor: CInt) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
  }

  /// Opens a video file. Returns `nil` if there is none at that path in the folder.
  func open(_ path: LibraryPath) -> OpenFile? {
    guard Probe.fileExtensions.contains(path.fileExtension) else { return nil }
    let found = unsafe upright_worker_open_beneath(descriptor, Self.text(path.bytes))
    guard found >= 0 else { return nil }
    guard Self.path(of: found)?.hasPrefix(excluded) != true else {
      close(found)
      return nil
    }
    return OpenFile(descriptor: found)
  }

  /// Returns the paths of the video files, in order. Links to folders aren't followed. O(files).
  func paths() -> [LibraryPath] {
    var found: [LibraryPath] = []
    let copy = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if copy >= 0 { collect(copy, [], &found) }
    return found.sorted()
  }

  /// Adds the files of a folder, whose descriptor it closes.
  private func collect(_ folder: CInt, _ names: [[UInt8]], _ found: inout [LibraryPath]) {
    guard names.count < Self.deepest, let stream = unsafe fdopendir(folder) else {
      close(folder)
      return
    }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      let name = unsafe Self.name(of: entry)
      guard LibraryPath.isName(name) else { continue }
      let all = names + [name]
      switch unsafe Self.kind(of: entry, name, in: folder) {
      case CInt(DT_DIR):
        let inner = unsafe openat(
          folder, Self.text(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if inner >= 0, Self.path(of: inner).map({ $0 + "/" }) != excluded {
          collect(inner, all, &found)
        } else if inner >= 0 {
          close(inner)
        }
      case CInt(DT_REG), CInt(DT_LNK):
        if let path = LibraryPath(names: all), Probe.fileExtensions.contains(path.fileExtension) {
          found.append(path)
        }
      default: break
      }
    }
  }

  /// Returns the kind of an entry. Some file systems don't say it in the list.
  private static func kind(
    of entry: UnsafeMutablePointer<dirent>, _ name: [UInt8], in folder: CInt
  ) -> CInt {
    let kind = unsafe CInt(entry.pointee.d_type)
    var status = stat()
    guard kind == CInt(DT_UNKNOWN),
      unsafe fstatat(folder, text(name), &status, AT_SYMLINK_NOFOLLOW) == 0
    else { return kind }
    return CInt(clamping: (status.st_mode & S_IFMT) >> 12)
  }

  private static func text(_ bytes: [UInt8]) -> [CChar] { bytes.map(CChar.init(bitPattern:)) + [0] }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      unsafe Array(bytes.prefix { $0 != 0 })
    }
  }
}
