import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// Two canvases and ladders in requests.
@Suite("Renditions of a session")
struct RenditionServiceTests {
  private static func service() async throws -> RunningService {
    try await RunningService(make: RunningService.live())
  }

  private static func create(
    _ service: RunningService, _ options: String, _ outputs: String, name: String = "one"
  ) async throws -> Answer {
    let port = try Loopback.freeTCPPort()
    return try await service.ask(
      "POST", "/v1/sessions",
      #"{"name": "\#(name)", "input": {"url": "rtmp://127.0.0.1:\#(port)/a/0123456789abcdef"}, "#
        + #""options": \#(options), "outputs": \#(outputs)}"#)
  }

  @Test("What makes no sense gets an answer that says why")
  func refused() async throws {
    let service = try await Self.service()
    let push = #"{"type": "rtmp", "url": "rtmp://127.0.0.1:1/a/b"}"#
    for (options, outputs, status, word) in [
      (#"{"canvas": "dual"}"#, "[\(push)]", 422, "portrait or landscape"),
      (#"{"canvas": "dual"}"#, #"[{"type": "hls", "canvas": "wide"}]"#, 400, "canvas must be"),
      (#"{"canvas": "dual"}"#, #"[{"type": "hls", "canvas": 1}]"#, 400, "canvas must be"),
      (#"{"ladder": ["360p", "360p"]}"#, #"[{"type": "hls"}]"#, 422, "two rungs"),
      (#"{"ladder": ["huge"]}"#, #"[{"type": "hls"}]"#, 422, "huge"),
      (#"{"ladder": ["360p"]}"#, #"[{"type": "file", "name": "a.mp4"}]"#, 422, "HLS"),
      (#"{"ladder": {}}"#, #"[{"type": "hls"}]"#, 400, "ladder"),
      (
        #"{"canvas": "dual"}"#,
        "["
          + (0..<5).map { #"{"type": "file", "name": "\#($0).mp4"}"# }.joined(separator: ",") + "]",
        400, "two outputs"
      ),
    ] {
      let answer = try await Self.create(service, options, outputs)
      #expect(answer.status == status, "\(options) \(outputs): \(answer.text)")
      #expect(answer.text.contains(word), "\(answer.text)")
    }
    #expect(try await service.ask("GET", "/v1/sessions").json["sessions"].array.isEmpty)
  }

  @Test("A recording of two canvases is two outputs; others say which canvas they have")
  func outputs() async throws {
    let service = try await Self.service()
    let answer = try await Self.create(
      service, #"{"canvas": "dual"}"#,
      #"[{"type": "hls"}, {"type": "file", "name": "take.mp4", "id": "take"}, {"type": "file", "name": "b.ts"}, "#
        + #"{"type": "file", "name": "wide.mp4", "canvas": "landscape"}]"#)
    #expect(answer.status == 201, "\(answer.text)")
    let outputs = answer.json["outputs"].array
    #expect(
      outputs.map { $0["id"].string } == [
        "hls", "take-portrait", "take-landscape", "file", "file-2", "file-3",
      ])
    #expect(
      outputs.map { $0["name"].string } == [
        nil, "take-portrait.mp4", "take-landscape.mp4", "b-portrait.ts", "b-landscape.ts",
        "wide.mp4",
      ])
    // While it runs, an output says its canvas.
    let added = "/v1/sessions/one/outputs"
    let without = try await service.ask("POST", added, #"{"type": "file", "name": "c.mp4"}"#)
    #expect(without.status == 422 && without.text.contains("portrait or landscape"))
    let with = try await service.ask(
      "POST", added, #"{"type": "file", "name": "c.mp4", "canvas": "portrait"}"#)
    #expect(with.status == 201, "\(with.text)")
  }
}
