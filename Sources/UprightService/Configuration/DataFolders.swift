internal import Foundation
internal import UprightMediaIO

/// Where the service keeps what it writes, under one folder.
struct DataFolders: Sendable {
  let root: String

  /// A session's playlist and segments; made where it is missing.
  func live(_ id: String) throws(MediaError) -> String { try made("\(root)/live/\(id)") }

  func removeLive(_ id: String) {
    try? FileManager.default.removeItem(atPath: "\(root)/live/\(id)")
  }

  /// Removes the playlists and segments of sessions that do not come back.
  func removeLive(but declared: Set<String>) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/live")) ?? []
    for name in names where AddressRules.isName(name) && !declared.contains(name) {
      removeLive(name)
    }
  }

  /// The path of a file that a session writes: `take.mp4`, or `take-2.mp4` where there is one from
  /// before, for a session that comes back must not overwrite what it wrote.
  func recording(_ name: String, of id: String) throws(MediaError) -> String {
    let folder = try made("\(root)/recordings/\(id)")
    let plain = URL(fileURLWithPath: folder).appendingPathComponent(name)
    var path = plain.path
    var number = 1
    while FileManager.default.fileExists(atPath: path), number < 10_000 {
      number += 1
      path = plain.deletingPathExtension().path + "-\(number)." + plain.pathExtension
    }
    return path
  }

  /// The folder of our own state.
  func state() throws(MediaError) -> String { try made("\(root)/.upright") }

  /// Bytes that must be free for the service to take work: a few segments of HLS.
  static let leastSpace = 16 << 20

  /// What is wrong with the disk; `nil` while there is room.
  var shortage: String? {
    var disk = statvfs()
    guard unsafe statvfs(root, &disk) == 0 else { return "the data folder cannot be read" }
    let (free, overflows) = UInt64(disk.f_bavail).multipliedReportingOverflow(
      by: UInt64(disk.f_frsize))
    guard !overflows, free < UInt64(Self.leastSpace) else { return nil }
    return "the disk of the data folder is full: \(free >> 20) MiB are free"
  }

  /// Keeps other processes out of the folder until the descriptor is closed.
  ///
  /// - Throws: `cannotCreate` where one is in it.
  func lock() throws(MediaError) -> CInt {
    let path = try state() + "/lock"
    let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0, lockf(descriptor, F_TLOCK, 0) == 0 else {
      if descriptor >= 0 { close(descriptor) }
      throw MediaError(
        .cannotCreate, "another service writes into the folder", at: root,
        remedy: "give each its own --data")
    }
    return descriptor
  }

  /// Makes the folder itself, for its owner alone.
  func make() throws(MediaError) { _ = try made(root) }

  private func made(_ path: String) throws(MediaError) -> String {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      return path
    } catch {
      throw MediaError(
        .cannotCreate, "the folder cannot be made", at: path, remedy: "check --data")
    }
  }
}
