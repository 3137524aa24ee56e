import Foundation
import UprightServiceTestSupport

@testable import UprightService

/// `upright serve` in a separate process, for tests that need one, such as those of its end.
final class ServiceProcess: @unchecked Sendable {
  // Unchecked because the program is used by one test only.
  /// The path of `upright-serve`, which was built beside `upright`.
  static let program = CommandLineProgram.path + "-serve"

  let port: Int
  let scratch: Scratch
  private let program: CommandLineProgram
  /// Whether the process was waited for. Its process id may be reused afterwards.
  private var hasEnded = false

  struct Late: Error, CustomStringConvertible { let description: String }

  /// Starts the service with `sessions` in its configuration, and waits until they are started.
  init(
    _ scratch: Scratch, sessions: [String], more: String = "", through: [String] = [],
    environment: [String: String] = [:]
  ) async throws {
    self.scratch = scratch
    let port = try Loopback.freeTCPPort()
    self.port = port
    let configuration = """
      {"listen": "127.0.0.1:\(port)", "data": "\(scratch.path("data"))",
       "sessions": [\(sessions.joined(separator: ", "))]\(more)}
      """
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: scratch.path("serve.json")))
    program = try CommandLineProgram(
      ["serve", "--config", scratch.path("serve.json")], through: through,
      environment: [
        "UPRIGHT_TOKEN": RunningService.token,
        "UPRIGHT_WORKERS": RunningService.workers.rawValue,
      ].merging(environment) { $1 })
    let isReady = try await waitUntil { [self] in
      guard program.isRunning else { return true }
      return (try? await ask("GET", "/readyz").status) == 200
    }
    guard isReady, program.isRunning else {
      program.send(SIGKILL)
      hasEnded = true
      throw Late(description: (try? program.wait().errors) ?? "the service did not start")
    }
  }

  deinit {
    if hasEnded { return }
    program.send(SIGKILL)
    _ = try? program.wait()
  }

  func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += "Authorization: Bearer \(RunningService.token)\r\n"
    if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
    let (text, port) = (head + "\r\n" + (body ?? ""), port)
    return try await RunningService.onThread {
      let connection = try LocalConnection(port: port)
      connection.send(text)
      return try Answer(connection.receive(seconds: 30).bytes)
    }
  }

  func session(_ name: String) async throws -> JSON {
    try await ask("GET", "/v1/sessions/\(name)").json
  }

  /// Sends a signal to the service and to the processes of its sessions.
  func sendToAll(_ signal: CInt) { program.sendToAll(signal) }

  /// Sends a signal, waits for the end of the process and returns its outcome.
  func end(_ signal: CInt) async throws -> CommandLineProgram.Outcome {
    program.send(signal)
    hasEnded = true
    return try await RunningService.onThread { [self] in try program.wait(timeout: 60) }
  }
}

/// Publishes test video and a tone in real time until it is disconnected.
enum LivePublisher {
  static func arguments(
    _ url: String, size: String = "160x90", rate: Int = 15, seconds: Int, codec: String = "libx264",
    audio: Bool = true
  ) -> [String] {
    var line = "-nostdin -v error -re -f lavfi -i testsrc2=size=\(size):rate=\(rate)"
    if audio { line += " -re -f lavfi -i sine=frequency=440:sample_rate=44100 -c:a aac" }
    line += " -t \(seconds) -c:v \(codec) -preset ultrafast -tune zerolatency -g \(rate) -f flv"
    return line.words + [url]
  }

  /// Starts publishing. The task returns ffmpeg's exit code.
  static func begin(_ url: String, size: String = "160x90", seconds: Int = 90) -> Task<
    Int, any Error
  > {
    Task {
      try await RunningService.onThread {
        try ExternalTool("ffmpeg").outcome(
          arguments(url, size: size, seconds: seconds), timeout: Double(seconds) + 60
        ).status
      }
    }
  }
}
