internal import Glibc
package import UprightOrientation

/// A file that is read from its start.
package final class FileReader {
  private let descriptor: CInt
  private let path: String

  /// Returns `nil` if the file can't be opened.
  package init?(_ path: String) {
    self.path = path
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns the next bytes, at most `count`; none at the end.
  ///
  /// - Throws: `inputOutput` if they can't be read.
  package func read(_ count: Int) throws(UprightError) -> [UInt8] {
    var reason: CInt = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      var result = 0
      repeat {
        result = unsafe Glibc.read(descriptor, buffer.baseAddress, count)
      } while result < 0 && errno == EINTR
      if result < 0 { reason = errno }
      filled = max(0, result)
    }
    guard reason == 0 else {
      throw UprightError(
        .inputOutput, "can't be read: \(unsafe String(cString: strerror(reason)))", at: path)
    }
    return bytes
  }
}
