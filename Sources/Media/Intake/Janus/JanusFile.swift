internal import Glibc
internal import UprightOrientation
internal import UprightMediaIO
internal import UprightSignals

/// A recording's file, read sequentially in chunks.
package final class JanusFile {
  let path: String
  /// Whether the file can be reopened.
  let isSeekable: Bool
  private let descriptor: Int32
  private let interrupt: Interrupt

  /// The size of the tail that is searched for the last packet: two packets of the largest size.
  private static let tailSize = 132 << 10

  /// Opens a file, or standard input for `-`.
  ///
  /// - Throws: `noInput`.
  init(_ url: String, interrupt: Interrupt) throws(UprightError) {
    path = url
    self.interrupt = interrupt
    let name = Self.name(url)
    descriptor = url == "-" ? dup(0) : unsafe open(name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.error(errno, at: url) }
    var status = stat()
    let isFile =
      unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    isSeekable = isFile && url != "-"
  }

  deinit { close(descriptor) }

  /// Returns whether `url` is a file that starts with the signature of a recording. Examines standard input
  /// only if it is a regular file, so that no bytes are consumed.
  package static func recognises(_ url: String) -> Bool {
    guard url == "-" || InputTrust.scheme(of: url) ?? "file" == "file" else { return false }
    let name = name(url)
    var status = stat()
    // Opening a pipe would wait for its writer, and reading would consume bytes.
    guard unsafe url == "-" ? fstat(0, &status) == 0 : stat(name, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return false }
    let descriptor = url == "-" ? dup(0) : unsafe open(name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return JanusRecording.recognises(bytes(descriptor, at: 0, count: 8))
  }

  /// Returns the next bytes; empty at the end.
  ///
  /// - Throws: `inputOutput`, `cancelled`.
  func read() throws(UprightError) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      // A pipe may be idle for a long time, and a blocked read would not notice an interrupt.
      var requests = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
      guard interrupt.poll(&requests) else {
        throw UprightError(.cancelled, "stopped", at: path)
      }
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      if count >= 0 { return Array(chunk.prefix(count)) }
      guard errno == EINTR || errno == EAGAIN else {
        throw UprightError(
          .inputOutput, "reading failed: \(unsafe String(cString: strerror(errno)))", at: path,
          remedy: "check the file")
      }
    }
  }

  /// The last bytes of a file; empty for a pipe.
  var tail: [UInt8] {
    var status = stat()
    guard isSeekable, unsafe fstat(descriptor, &status) == 0 else { return [] }
    let start = max(0, Int(status.st_size) - Self.tailSize)
    return Self.bytes(descriptor, at: start, count: Self.tailSize)
  }

  private static func bytes(_ descriptor: Int32, at place: Int, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(place))
    }
    return Array(bytes.prefix(max(0, read)))
  }

  private static func name(_ url: String) -> String {
    url.hasPrefix("file://") ? String(url.dropFirst(7)) : url
  }

  private static func error(_ code: Int32, at path: String) -> UprightError {
    switch code {
    case ENOENT: UprightError(.noInput, "no such file", at: path, remedy: "check the path")
    case EISDIR: UprightError(.noInput, "is a folder", at: path, remedy: "give a recording")
    case EACCES, EPERM:
      UprightError(.noInput, "permission denied", at: path, remedy: "make it readable")
    default:
      UprightError(
        .noInput, "can't be read: \(unsafe String(cString: strerror(code)))", at: path,
        remedy: "check the path")
    }
  }
}
