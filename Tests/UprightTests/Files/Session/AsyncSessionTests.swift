import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

@testable import Upright

@Suite("Asynchronous sessions, and their samples")
struct AsyncSessionTests {
  private static func sample(_ name: String, _ arguments: String...) throws -> [Substring] {
    let program = Fixtures.buildFolder.appendingPathComponent(name).path
    return try ExternalTool(program).run(arguments).text.split(separator: "\n")
  }

  // 2 s: 300 frames.
  @Test("transcode-async prints decisions while it runs, and the report's formats", .long)
  func transcodeSample() throws {
    let scratch = try Scratch()
    let lines = try Self.sample(
      "transcode-async", Samples.turning, Samples.path("turning-sensor.jsonl"),
      scratch.path("out.m3u8"))
    #expect(
      lines == [
        "0.0 s: keep, the app is in portrait",
        "3.333333 s: rotate, the app is in landscapeRight",
        "6.666667 s: rotate, the app is in portrait",
        "frame 0: 720x1280, turned right",
        "frame 100: 1280x720, turned up",
        "frame 200: 720x1280, turned right",
        "300 frames, 0 of them copied, 10.0 s",
      ])
    #expect(try Playlist(path: scratch.path("out.m3u8")).discontinuities == 2)
  }

  @Test("frames-out prints each format of a file's frames")
  func framesSample() throws {
    #expect(
      try Self.sample("frames-out", Samples.displayMatrix)
        == ["0.0 s: 360x640 of yuv420p, turned right"])
  }

  @Test("make-hls writes a playlist, and says what is wrong with an input")
  func playlistSample() throws {
    let scratch = try Scratch()
    #expect(
      try Self.sample("make-hls", Samples.displayMatrix, scratch.folder.path) == [
        "frame 0: 720x1280"
      ])
    #expect(try Playlist(path: scratch.path("index.m3u8")).discontinuities == 0)
    let lines = try Self.sample("make-hls", scratch.path("none.mp4"), scratch.path("no"))
    #expect(lines.count == 1 && !lines[0].isEmpty)
  }

  // 1 s.
  @Test("sfu-recorder writes one upright MP4 for each format")
  func recorderSample() throws {
    let scratch = try Scratch()
    let clip = try SentClip(
      .h264, count: 90, interval: 15, source: ["-f", "lavfi", "-i", DecodedFrames.source])
    let lines = try Self.sample("sfu-recorder", clip.path, scratch.path("out.mp4"))
    #expect(
      lines == [
        "0.0 s: keep, the app is in portrait",
        "frame 0: 720x1280, turned right",
        "1.5 s: rotate, the app is in landscapeRight",
        "frame 45: 1280x720, turned up",
        "90 packets in 2 files",
      ])
    for (name, size, corner) in [
      ("out.mp4", PixelSize(720, 1280), "tr"), ("out-1.mp4", PixelSize(1280, 720), "tl"),
    ] {
      let decoded = try DecodedFrames(scratch.path(name), scratch)
      #expect(decoded.sizes == Array(repeating: size, count: 45))
      #expect(Set(decoded.corners) == [corner])
      #expect(decoded.longestStep < 0.034)
    }
  }

  // 2.5 s.
  @Test("live-hls rotates at the frame after the event", .realTime)
  func liveSample() throws {
    let scratch = try Scratch()
    let input = scratch.path("camera.mp4")
    try FFmpegTool.run("-t 2 -i", [Samples.turning, "-c", "copy", input])
    let folder = scratch.path("hls")
    let lines = try Self.sample("live-hls", input, folder)
    #expect(
      lines == [
        "live", "encode 720x1280", "encode 1280x720", "rotate: the app is in landscapeRight",
        "ended",
      ])
    #expect(try Playlist(path: folder + "/index.m3u8").discontinuities == 1)
  }

  @Test(
    "A cancelled run ends at the next frame and leaves nothing",
    arguments: ["out.mp4", "out.m3u8", "out.mkv"], [ChunkRule.count(1), .count(2)])
  func cancelled(_ name: String, _ chunks: ChunkRule) async throws {
    let scratch = try Scratch()
    var options = TranscodeOptions()
    options.frames = .sensor(Camera())
    options.chunks = chunks
    let session = try TranscodeSession(
      input: Samples.turning, output: scratch.path(name), options: options,
      policy: #require(.builtIn("phone")),
      events: .list(RotationEvent.parse(jsonLines: Samples.turningEvents().utf8)))
    let (updates, sink) = AsyncStream.makeStream(of: SessionUpdate.self)
    let running = Task { try await session.run { sink.yield($0) } }
    // The first update comes with the first frame.
    for await _ in updates { break }
    running.cancel()
    let error = await #expect(throws: UprightError.self) { try await running.value }
    #expect(error?.code == .cancelled, "\(String(describing: error))")
    #expect(scratch.names.isEmpty, "\(scratch.names)")
  }

  @Test("A task that is cancelled before it runs leaves nothing")
  func cancelledBefore() async throws {
    let scratch = try Scratch()
    let session = try TranscodeSession(
      input: Samples.displayMatrix, output: scratch.path("out.mp4"))
    let running = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await session.run { _ in }
    }
    let error = await #expect(throws: UprightError.self) { try await running.value }
    #expect(error?.code == .cancelled, "\(String(describing: error))")
    #expect(scratch.names.isEmpty, "\(scratch.names)")
  }

  @Test("The error of a live session is thrown, typed")
  func liveFailure() async throws {
    let scratch = try Scratch()
    let session = try LiveSession(
      LiveConfiguration(
        input: .file(path: scratch.path("missing.mp4")),
        outputs: [.file(path: scratch.path("out.mp4"))], policy: PolicyDocument()))
    let error = await #expect(throws: UprightError.self) { try await session.run { _ in } }
    #expect(error?.code == .noInput, "\(String(describing: error))")
    #expect(session.snapshot.state == .failed)
  }
}
