internal import Foundation
internal import UprightOrientation
internal import Upright

/// The folders of one session.
struct SessionFolders: Sendable {
  let all: DataFolders
  /// The name of the session.
  let session: String
}

/// The folders that the service writes to, below the data folder `root`.
struct DataFolders: Sendable {
  let root: String

  /// Returns the folder of a session's playlist and segments. Creates it if it doesn't exist.
  func live(_ id: String) throws(UprightError) -> String { try made("\(root)/live/\(id)") }

  func removeLive(_ id: String) {
    try? FileManager.default.removeItem(atPath: "\(root)/live/\(id)")
  }

  /// Removes the playlists and segments of all sessions except those in `declared`.
  func removeLive(but declared: Set<String>) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/live")) ?? []
    for name in names where AddressRules.isName(name) && !declared.contains(name) {
      removeLive(name)
    }
  }

  /// The folder of the recordings, with a folder for each session.
  var recordings: String { "\(root)/recordings" }

  /// Returns the folder of a session's recordings. Creates it if it doesn't exist.
  func recordings(of id: String) throws(UprightError) -> String { try made("\(recordings)/\(id)") }

  /// Returns the path of the first file that a session records. Creates its folder if it doesn't exist.
  func recording(_ name: String, of id: String) throws(UprightError) -> String {
    try recordings(of: id) + "/" + name
  }

  /// Returns the folder of the library's segments. Creates it if it doesn't exist.
  func library() throws(UprightError) -> String { try made("\(root)/vod") }

  /// Returns the folder of the service's state. Creates it if it doesn't exist.
  func state() throws(UprightError) -> String { try made("\(root)/.upright") }

  /// Returns the text and path of a secret file of the service's state. Creates the file, readable by its owner
  /// only, if it doesn't exist.
  ///
  /// - Parameter make: Returns the text of a new file.
  /// - Throws: `cannotCreate` if the file can't be created.
  func secret(_ name: String, make: () -> String) throws(UprightError) -> (
    text: String, path: String, isNew: Bool
  ) {
    let path = try state() + "/" + name
    if let data = FileManager.default.contents(atPath: path) {
      let text = String(decoding: data, as: UTF8.self)
      return (text.trimmingCharacters(in: .whitespacesAndNewlines), path, false)
    }
    let text = make()
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data((text + "\n").utf8), attributes: [.posixPermissions: 0o600])
    else {
      throw UprightError(.cannotCreate, "can't store the secret", at: path, remedy: "check --data")
    }
    return (text, path, true)
  }

  /// The size of the file system of the data folder, and the space on it that the service may still use, in bytes;
  /// `nil` if they can't be read.
  var disk: (size: Int, free: Int)? {
    var disk = statvfs()
    guard unsafe statvfs(root, &disk) == 0 else { return nil }
    func bytes(_ blocks: fsblkcnt_t) -> Int {
      let (bytes, overflows) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
      return overflows ? .max : Int(clamping: bytes)
    }
    return (bytes(disk.f_blocks), bytes(disk.f_bavail))
  }

  /// Returns the problem with the disk; `nil` if `bytes` are free.
  func shortage(below bytes: Int) -> String? {
    guard let disk else { return "can't read the data folder" }
    guard disk.free < bytes else { return nil }
    return "the disk of the data folder is full: \(disk.free >> 20) MiB are free"
  }

  /// Locks the folder against other processes until the returned descriptor is closed.
  ///
  /// - Throws: `cannotCreate` if another process has locked it.
  func lock() throws(UprightError) -> CInt {
    let path = try state() + "/lock"
    let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0, lockf(descriptor, F_TLOCK, 0) == 0 else {
      if descriptor >= 0 { close(descriptor) }
      throw UprightError(
        .cannotCreate, "another service uses the data folder", at: root,
        remedy: "use a different --data for each service")
    }
    return descriptor
  }

  /// Creates the data folder, accessible to its owner only.
  func make() throws(UprightError) { _ = try made(root) }

  private func made(_ path: String) throws(UprightError) -> String {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return path
    } catch {
      throw UprightError(
        .cannotCreate, "can't create the folder", at: path, remedy: "check --data")
    }
  }
}
