import Foundation
import Synchronization
import UprightServiceTestSupport

@testable import UprightService

/// A web server on loopback that answers publish hooks, each on a thread of its own.
final class HookServer: Sendable {
  struct Request: Sendable {
    let head: String
    let body: String

    var json: JSON { (try? JSONDecoder().decode(JSON.self, from: Data(body.utf8))) ?? .null }

    func field(_ name: String) -> String? {
      head.components(separatedBy: "\r\n").first { $0.hasPrefix("\(name): ") }
        .map { String($0.dropFirst(name.count + 2)) }
    }
  }

  /// What the server does with a request.
  enum Answer: Sendable {
    /// Bytes, and the end of the connection.
    case bytes([UInt8])
    /// Nothing until the client closes the connection.
    case silence
    /// These bytes again and again, with a pause between them, until the client closes the connection.
    case drip([UInt8], head: [UInt8], every: Double)

    static func status(_ status: String, _ body: String = "", fields: String = "") -> Answer {
      .bytes(
        Array(
          ("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)"
            + "Connection: close\r\n\r\n\(body)").utf8))
    }
  }

  private let listener: Loopback.Listener
  var port: Int { listener.port }
  private let seen = Mutex<[Request]>([])
  private let ended = Mutex(0)

  var requests: [Request] { seen.withLock { $0 } }
  /// The number of connections that have ended.
  var endedConnections: Int { ended.withLock { $0 } }

  init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
    let listener = try Loopback.Listener()
    self.listener = listener
    Thread.detachNewThread { [weak self] in
      while let client = listener.accept() {
        Thread.detachNewThread { [weak self] in
          self?.serve(client, answer)
          close(client)
          self?.ended.withLock { $0 += 1 }
        }
      }
    }
  }

  deinit { listener.stop() }

  private func serve(_ client: CInt, _ answer: (Request) -> Answer) {
    let parts = EgressProxyTests.Origin.request(client).components(separatedBy: "\r\n\r\n")
    guard parts.count > 1 else { return }
    let request = Request(head: parts[0], body: parts[1])
    seen.withLock { $0.append(request) }
    var byte: UInt8 = 0
    switch answer(request) {
    case .bytes(let bytes): _ = Self.send(client, bytes)
    case .silence: _ = recv(client, &byte, 1, 0)
    case .drip(let bytes, let head, let pause):
      guard Self.send(client, head) else { return }
      while Self.send(client, bytes) { usleep(UInt32(pause * 1_000_000)) }
    }
  }

  private static func send(_ client: CInt, _ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
