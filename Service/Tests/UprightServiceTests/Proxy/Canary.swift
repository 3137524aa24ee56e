import Foundation
import UprightServiceTestSupport

/// A playable file and a loopback port that no session may touch. inotify(7) reports each access to the file,
/// and the port counts connections.
final class Canary: @unchecked Sendable {
  // Unchecked because all properties are set once.
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

  /// The number of times that the file was opened or read since the last call.
  var reads: Int {
    var buffer = [UInt8](repeating: 0, count: 4096)
    return max(0, read(watch, &buffer, buffer.count)) / MemoryLayout<inotify_event>.size
  }

  /// The number of connections to the port.
  var connections: Int { origin.heads.withLock { $0.count } }
}
