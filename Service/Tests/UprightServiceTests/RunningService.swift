import Foundation
import Logging
import Synchronization
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// A service on a free loopback port, by default with scripted sessions.
final class RunningService: Sendable {
  static let token = "admin-token-of-the-tests"

  let service: UprightService
  let script: Script
  let scratch: Scratch
  let log: Log
  private let task: Task<Void, any Error>

  /// The log of the service.
  final class Log: Sendable {
    private let text = Mutex("")
    func add(_ line: String) { text.withLock { $0 += line } }
    var lines: String { text.withLock { $0 } }
  }

  init(
    _ change: (inout ServiceConfiguration, inout UprightService.Dependencies) -> Void = { _, _ in },
    script: Script = Script(), make: MakeSession? = nil, scratch: Scratch? = nil
  ) async throws {
    self.script = script
    let scratch = try scratch ?? Scratch()
    self.scratch = scratch
    var configuration = ServiceConfiguration()
    configuration.listen = .init(host: "127.0.0.1", port: 0)
    configuration.data = scratch.path("data")
    configuration.token = Self.token
    configuration.drainTimeout = 4
    var dependencies = UprightService.Dependencies()
    dependencies.makeSession = make ?? script.make
    change(&configuration, &dependencies)
    let secrets = Secrets()
    let log = Log()
    self.log = log
    var logger = Logger(label: "test") {
      RedactingLog(label: $0, secrets: secrets, write: { log.add($0) })
    }
    logger.logLevel = .trace
    let service = try UprightService(
      configuration, secrets: secrets, logger: logger, dependencies: dependencies)
    self.service = service
    task = Task { try await service.run(signals: false) }
    let deadline = Date(timeIntervalSinceNow: 60)
    while !service.isReady, Date() < deadline { try await Task.sleep(for: .milliseconds(5)) }
    guard service.isReady else { throw Late() }
  }

  struct Late: Error {}

  deinit { task.cancel() }

  /// Shuts down as on SIGTERM and waits for the end.
  func shutDown() async throws {
    await service.shutDown()
    try await task.value
  }

  // MARK: - Requests

  @discardableResult
  func ask(
    _ method: String, _ path: String, _ body: String? = nil, token: String? = token,
    headers: [String: String] = [:]
  ) async throws -> Answer {
    try await ask(raw: request(method, path, body, token: token, headers: headers))
  }

  /// Returns the text of a request, after whose response the connection is closed.
  func request(
    _ method: String, _ path: String, _ body: String? = nil, token: String? = token,
    headers: [String: String] = [:]
  ) -> String {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if let token { head += "Authorization: Bearer \(token)\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
    return head + "\r\n" + (body ?? "")
  }

  /// Sends `raw` as is.
  func ask(raw: String) async throws -> Answer {
    let connection = try connection()
    return try await Self.onThread {
      connection.send(raw)
      return try Answer(connection.receive(seconds: 30).bytes)
    }
  }

  /// Connects to the service's port.
  func connection(receiveBuffer: Int? = nil) throws -> LocalConnection {
    try LocalConnection(port: service.port ?? 0, receiveBuffer: receiveBuffer)
  }

  /// Runs a blocking call on a new thread, outside the cooperative thread pool.
  static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }

  /// Creates a session with a file in the data folder as its input.
  @discardableResult
  func session(_ name: String = "one", _ more: String = "") async throws -> Answer {
    try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.path("data/clip.mp4")))
    return try await ask(
      "POST", "/v1/sessions",
      "{\"name\": \"\(name)\", \"input\": {\"url\": \"file:clip.mp4\"}\(more)}")
  }
}
