internal import Glibc
internal import Synchronization
internal import UprightOrientation
internal import UprightPolicy

/// JSON values over a socket, a line each: between a batch and the processes that work on its inputs.
final class MessageChannel: @unchecked Sendable {
  // Unchecked: only the one thread that receives uses `received`.
  private let descriptor: CInt
  private let sending = Mutex(())
  private var received: [UInt8] = []

  /// Takes over an end of a socket.
  init(_ descriptor: CInt) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Returns the two ends of a new connection. Processes that are started don't inherit them.
  static func pair() throws(UprightError) -> (own: MessageChannel, other: CInt) {
    var ends: [CInt] = [-1, -1]
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
    guard unsafe socketpair(AF_UNIX, CInt(type), 0, &ends) == 0 else {
      throw UprightError(
        .fault, "no socket can be made: \(unsafe String(cString: strerror(errno)))",
        remedy: "raise the limit of open files, or give fewer --jobs")
    }
    return (MessageChannel(ends[0]), ends[1])
  }

  /// Sends a value. Can be called on any thread. A peer that has ended doesn't receive it.
  func send(_ message: JSONValue) {
    let line = Array((message.compact + "\n").utf8)
    _ = sending.withLock { _ in StandardOutput.write(line, to: descriptor) }
  }

  /// Waits for the next value. Returns `nil` when the peer has ended.
  func receive() -> JSONValue? {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    var searched = 0
    while true {
      if let end = received[searched...].firstIndex(of: 0x0A) {
        let line = received[..<end]
        received.removeSubrange(...end)
        return try? JSONValue(printed: line)
      }
      searched = received.count
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return nil }
      received += chunk[..<count]
    }
  }

  /// Lets the peer receive the end.
  func finish() { shutdown(descriptor, CInt(SHUT_WR)) }
}
