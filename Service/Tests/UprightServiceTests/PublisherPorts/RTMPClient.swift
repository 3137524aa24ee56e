import Foundation
import UprightServiceTestSupport

@testable import UprightRTMP

/// A publisher on loopback without media, which shows the status it receives.
final class RTMPClient: @unchecked Sendable {
  // Unchecked because it is used by one task of a test at a time.
  let connection: LocalConnection
  private var writer = ChunkWriter()
  private var reader = ChunkReader()
  /// The number of received bytes that were read.
  private var taken = 0

  /// The status that a server sends about a stream.
  struct Status: Sendable, Hashable {
    var code: String
    var reason: String

    var isStart: Bool { code == "NetStream.Publish.Start" }
    var isDenied: Bool { code == "NetStream.Publish.Denied" }
    var isBadName: Bool { code == "NetStream.Publish.BadName" }
  }

  /// Connects, with a simple handshake.
  ///
  /// - Parameter source: The last number of the client's own address, 127.0.0.N.
  init(port: Int, source: UInt32 = 1) throws {
    connection = try LocalConnection(port: port, source: source)
    connection.send([3] + [UInt8](repeating: 0, count: 1536))
    taken = 1 + 2 * 1536
    let answer = connection.receive(until: { $0.count >= 1 + 2 * 1536 }).bytes
    connection.send(Array(answer.dropFirst().prefix(1536)))
  }

  func send(_ message: RTMPMessage) { connection.send(writer.bytes(of: message, on: 3)) }

  private func command(_ values: AMFValue...) {
    send(RTMPMessage(.command, stream: 1, payload: AMFValue.bytes(of: values)))
  }

  /// Asks to publish, without waiting for the answer.
  func ask(_ name: String, app: String = "live") {
    command(.string("connect"), .number(1), .object([.init("app", .string(app))]))
    command(.string("createStream"), .number(2), .null)
    command(.string("publish"), .number(3), .null, .string(name), .string("live"))
  }

  /// Returns the status about the stream, or `nil` if the connection ends or `seconds` pass before it.
  func status(seconds: Double = 30) -> Status? {
    var found: Status?
    connection.receive(seconds: seconds) { [self] bytes in
      reader.append(bytes.dropFirst(taken))
      taken = max(taken, bytes.count)
      while let message = try? reader.next() {
        guard message.kind == .command, let values = AMFValue.values(in: message.payload),
          values.first?.text == "onStatus", let code = values.last?["code"]?.text
        else { continue }
        found = Status(code: code, reason: values.last?["description"]?.text ?? "")
      }
      return found != nil
    }
    return found
  }

  /// Disconnects without ending the stream.
  func leave() { connection.shutDown() }

  /// Connects to `port` and asks to publish. Returns the client and the status.
  static func publish(
    _ name: String, app: String = "live", at port: Int, source: UInt32 = 1
  ) async throws -> (client: RTMPClient, status: Status?) {
    try await RunningService.onThread {
      let client = try RTMPClient(port: port, source: source)
      client.ask(name, app: app)
      return (client, client.status())
    }
  }
}
