import Foundation
import Synchronization

extension Loopback {
  /// An HTTP server for one file, with byte ranges. It answers one request for each connection.
  package final class FileServer: Sendable {
    private let listener: Listener
    private let file: [UInt8]
    private let answered = Mutex(0)

    package init(_ path: String) throws {
      listener = try Listener()
      file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      Thread.detachNewThread { [self] in
        while let peer = listener.accept() {
          Thread.detachNewThread { [self] in serve(peer) }
        }
      }
    }

    /// The address of the file.
    package var url: String { "http://127.0.0.1:\(listener.port)/file.mp4" }

    /// The number of requests so far.
    package var requests: Int { answered.withLock { $0 } }

    package func stop() { listener.stop() }

    private func serve(_ peer: CInt) {
      defer { close(peer) }
      var (request, buffer) = ("", [UInt8](repeating: 0, count: 4096))
      while !request.contains("\r\n\r\n") {
        let count = recv(peer, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        request += String(decoding: buffer.prefix(count), as: UTF8.self)
      }
      answered.withLock { $0 += 1 }
      let range = request.split(separator: "\r\n").first { $0.hasPrefix("Range: bytes=") }
      let start = range.flatMap { Int($0.dropFirst(13).prefix { $0.isNumber }) } ?? 0
      guard start < file.count else {
        let head = "HTTP/1.1 416 Range Not Satisfiable\r\nConnection: close\r\n\r\n"
        return send(head.utf8, to: peer)
      }
      let head =
        "HTTP/1.1 206 Partial Content\r\nAccept-Ranges: bytes\r\nConnection: close\r\n"
        + "Content-Length: \(file.count - start)\r\n"
        + "Content-Range: bytes \(start)-\(file.count - 1)/\(file.count)\r\n\r\n"
      send(Array(head.utf8) + file[start...], to: peer)
    }

    private func send(_ bytes: some Sequence<UInt8>, to peer: CInt) {
      var rest = Array(bytes)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
          Glibc.send(peer, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }
}
