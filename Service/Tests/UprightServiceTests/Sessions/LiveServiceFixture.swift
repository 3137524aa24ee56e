import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// Streams from other programs through the service, checked as decoded frames. The tests run one at a time,
/// because each decodes, encodes and starts programs.
@Suite(
  "Live through the service", .enabled(if: FFmpegTool.isHere), .server, .serialized,
  .tags(.timed, .light))
enum LiveServiceMedia {}

/// A service with real media and one session in it.
final class LiveServiceFixture: Sendable {
  let service: RunningService
  let id: String
  /// The response to the POST.
  let made: Answer

  /// Sessions with the orientation source `frames`, a small size and a fast encoder preset.
  static func make(_ frames: FrameKind) -> MakeSession {
    RunningService.live {
      $0.options.frames = frames
      $0.options.speed = "ultrafast"
      $0.options.size = .pair(.init(90, 160))
    }
  }

  /// Starts a service and creates a session with the JSON of `input`.
  init(
    _ input: String, frames: FrameKind = .metadata, allowHosts: [String] = [],
    prepare: (RunningService) throws -> Void = { _ in }
  ) async throws {
    service = try await RunningService(
      { configuration, _ in configuration.allowHosts = allowHosts },
      make: Self.make(frames))
    try prepare(service)
    id = "trial"
    made = try await service.session(id, input: input)
    try #require(made.status == 201, "\(made.text)")
  }

  var json: JSON { get async throws { try await service.ask("GET", "/v1/sessions/\(id)").json } }

  /// Waits until the session has processed `seconds` of media time.
  func shows(_ seconds: Double) async throws {
    let isThere = try await waitUntil {
      (try await self.json["seconds"].double ?? 0) >= seconds
    }
    let last = try await service.ask("GET", "/v1/sessions/\(id)").text
    try #require(isThere, "\(last) \(service.log.lines.suffix(2000))")
  }

  /// Ends the session and the service. Returns the frames that a player gets over HTTP.
  func playedFrames() async throws -> DecodedFrames {
    let ended = try await service.ask("DELETE", "/v1/sessions/\(id)")
    #expect(ended.json["state"].string == "ended", "\(ended.text)")
    let shown = try await service.playedFrames(id)
    try await service.shutDown()
    return shown
  }
}

extension RunningService {
  /// Creates a session with HLS segments of one second.
  func session(_ id: String, input: String, more: String = "") async throws -> Answer {
    try await ask(
      "POST", "/v1/sessions",
      "{\"name\": \"\(id)\", \"input\": \(input), \"options\": {\"segment\": 1}\(more)}")
  }

  /// Returns the frames that a player gets from an ended session.
  func playedFrames(_ id: String) async throws -> DecodedFrames {
    let (port, scratch) = (service.port ?? 0, scratch)
    return try await Self.onThread {
      try DecodedFrames("http://127.0.0.1:\(port)/live/\(id)/index.m3u8", scratch)
    }
  }
}

/// Starts FFmpeg, which sends frames with a white quarter in real time until the returned program is released.
func sending(
  seconds: Double, _ output: [String], audio: Bool = false
) throws -> RunningProgram {
  var arguments = ["-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i", DecodedFrames.source]
  if audio { arguments += ["-f", "lavfi", "-i", "sine=f=440:r=44100", "-c:a", "aac"] }
  return try RunningProgram(
    ExternalTool("ffmpeg"),
    arguments
      + "-t \(seconds) -c:v libx264 -preset ultrafast -tune zerolatency -g 15 -bf 0".words + output)
}
