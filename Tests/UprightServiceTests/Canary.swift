import Foundation
import UprightTestSupport

/// What must not be touched: a file that would play, watched by the kernel (inotify(7)), and a port of
/// loopback that counts who comes.
final class Canary: @unchecked Sendable {
  // Unchecked: written once.
  let path: String
  let port: Int
  private let folder: Scratch
  private let watch: CInt
  private let origin: EgressProxyTests.Origin

  init() throws {
    folder = try Scratch()
    path = folder.path("canary.ts")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=size=160x90:rate=15 -t 4 -c:v libx264 -preset ultrafast", [path])
    origin = try EgressProxyTests.Origin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx" }
    port = origin.port
    watch = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
    guard inotify_add_watch(watch, path, UInt32(IN_OPEN | IN_ACCESS)) >= 0 else {
      throw LocalConnection.Failure(description: "inotify: \(errno)")
    }
  }

  deinit { close(watch) }

  /// How often the file was opened or read since the last time.
  var reads: Int {
    var buffer = [UInt8](repeating: 0, count: 4096)
    return max(0, read(watch, &buffer, buffer.count)) / MemoryLayout<inotify_event>.size
  }

  /// How many connected to the port.
  var connections: Int { origin.heads.withLock { $0.count } }
}
