internal import Foundation

/// A file that only the service's user can read.
enum PrivateFile {
  /// Replaces a file, or creates it: all of it or nothing. Returns `false` if that isn't possible.
  ///
  /// - Parameter temporary: A path in the same folder for what isn't complete.
  static func replace(_ path: String, with data: Data, through temporary: String) -> Bool {
    _ = unsafe unlink(temporary)
    var status = stat()
    guard
      FileManager.default.createFile(
        atPath: temporary, contents: data, attributes: [.posixPermissions: 0o600]),
      unsafe lstat(temporary, &status) == 0, status.st_size == off_t(data.count),
      unsafe rename(temporary, path) == 0
    else {
      _ = unsafe unlink(temporary)
      return false
    }
    return true
  }
}
