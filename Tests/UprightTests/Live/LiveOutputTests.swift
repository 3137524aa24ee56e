import Foundation
import UprightOrientation
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightLive

/// Outputs that are added, stopped and removed while a session runs. Each test costs about the duration of its
/// clip, up to six seconds, most of it idle.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized, .tags(.waits))
struct LiveOutputTests {
  @Test("A file is added, stopped and started again: two files that play, each from its own start")
  func file() async throws {
    let scratch = try Scratch()
    let (folder, path) = (scratch.path("hls"), scratch.path("take.mp4"))
    let clip = try FLVClip(DecodedFrames.source, seconds: 5)
    let stage = try LiveTestSession([.hls(folder: folder)]) { $0.outputIDs = ["main"] }
    let session = stage.session
    let sender = try stage.publishing(clip)
    #expect(until { session.snapshot.seconds > 1.3 })
    let added = try await session.add(.file(path: path), id: "take")
    #expect(added.id == "take" && [.starting, .live].contains(added.state))
    #expect(until { session.snapshot.outputs.last?.frames ?? 0 > 20 })
    let stopped = try await session.stopOutput("take")
    #expect(stopped.state == .stopped && stopped.frames > 20)
    #expect(try await session.stopOutput("take").state == .stopped)
    let again = try await session.startOutput("take")
    #expect(again.output == .file(path: scratch.path("take-2.mp4")))
    #expect(try await session.startOutput("take").output == again.output)
    #expect(until { session.snapshot.outputs.last?.frames ?? 0 > 20 })
    let removed = try await session.removeOutput("take")
    #expect(session.snapshot.outputs.map(\.id) == ["main"])
    sender.wait()
    #expect(until { session.snapshot.counters.queueDepth == 0 })
    stage.end()
    let first = try DecodedFrames(path, scratch)
    let second = try DecodedFrames(scratch.path("take-2.mp4"), scratch)
    #expect(first.times.count == stopped.frames && second.times.count == removed.frames)
    for (file, shown) in [(path, first), (scratch.path("take-2.mp4"), second)] {
      // Its first frame is at 0, with the audio.
      let start = try #require(try FFmpegTool.packets(file, "v:0").compactMap(\.time).min())
      let audio = try FFmpegTool.packets(file, "a:0").compactMap(\.time)
      #expect(
        abs(start) < 0.001 && audio.first.map { abs($0) < 0.06 } == true, "\(start), \(audio)")
      #expect(shown.corners.allSatisfy { $0 == "tl" })
      #expect(shown.shortestStep > 0 && shown.longestStep < 0.067)
    }
    let counters = session.snapshot.counters
    let main = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(counters.framesIn == counters.framesOut && main.times.count == counters.framesOut)
    #expect(main.longestStep < 0.067 && main.shortestStep > 0)
    let playlist = try Playlist(path: "\(folder)/index.m3u8")
    #expect(playlist.discontinuities == 0 && playlist.targetDuration == 1)
    #expect(playlist.segments.allSatisfy { $0.duration.rounded() <= 1 })
    #expect(stage.states(of: "take") == [.starting, .live, .stopped, .starting, .live])
  }

  @Test("The session goes on without outputs, and an added one starts with a keyframe")
  func none() async throws {
    let scratch = try Scratch()
    let clip = try FLVClip(DecodedFrames.source, seconds: 3)
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))]) { $0.options.sensor() }
    let session = stage.session
    let sender = try stage.publishing(clip)
    #expect(until { session.snapshot.seconds > 0.5 })
    _ = try await session.removeOutput("output-1")
    #expect(session.snapshot.outputs.isEmpty)
    let before = session.snapshot
    _ = try await session.post([.now(.device(.landscapeLeft))])
    #expect(until { session.snapshot.seconds > before.seconds + 0.3 })
    // Frames that go nowhere are not encoded.
    #expect(session.snapshot.counters.framesOut == before.counters.framesOut)
    #expect(session.snapshot.appOrientation == "landscapeRight")
    // The canvas of the file is that of its own first frame.
    let path = scratch.path("late.mkv")
    #expect(try await session.add(.file(path: path)).id == "output-1")
    #expect(until { session.snapshot.outputs.first?.frames ?? 0 > 20 })
    sender.wait()
    stage.end()
    #expect(session.snapshot.state == .ended)
    #expect(session.snapshot.outputs.map(\.state) == [.stopped])
    let shown = try DecodedFrames(path, scratch)
    #expect(shown.sizes.allSatisfy { $0 == PixelSize(160, 90) } && shown.times.count > 20)
    #expect(shown.corners.allSatisfy { $0 == "tl" })
    let counters = session.snapshot.counters
    #expect(
      counters.framesOut > before.counters.framesOut && counters.framesOut < counters.framesIn)
  }

  @Test("A push whose server goes away reconnects; the session and its other outputs go on")
  func push() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 6)
    let server = try Loopback.Listener()
    let stage = try LiveTestSession([.hls(folder: folder)]) { $0.segmentSeconds = 0.5 }
    let session = stage.session
    let sender = try stage.publishing(clip)
    #expect(until { session.snapshot.seconds > 0.3 })
    _ = try await session.add(.push(url: "tcp://127.0.0.1:\(server.port)"), id: "push")
    let first = try #require(server.accept())
    #expect(until { session.snapshot.outputs.last?.state == .live })
    close(first)
    #expect(until { stage.states(of: "push").contains(.reconnecting) })
    let second = try #require(server.accept())
    #expect(until { session.snapshot.outputs.last?.reconnects == 1 })
    let status = try #require(session.snapshot.outputs.last)
    #expect(status.failures >= 1 && status.reason == nil && session.snapshot.state == .live)
    sender.wait()
    #expect(until { session.snapshot.counters.queueDepth == 0 })
    close(second)
    stage.end()
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(shown.longestStep < 0.067 && shown.shortestStep > 0)
  }

  /// Costs half a second.
  @Test("Outputs that can't be added or started are refused, and the others go on")
  func refusals() async throws {
    let scratch = try Scratch()
    let path = scratch.path("a.ts")
    let memory = MemoryOutput<[UInt8]>()
    let stage = try LiveTestSession([.file(path: path), .bytes(.mpegts, memory)]) {
      $0.outputIDs = ["a", "b"]
      $0.limits.outputs = 3
    }
    let session = stage.session
    func code(_ body: () async throws -> LiveOutputStatus) async -> UprightError.Code? {
      do { _ = try await body() } catch { return (error as? UprightError)?.code }
      return nil
    }
    #expect(await code { try await session.add(.file(path: path)) } == .cannotCreate)
    let other = LiveOutput.file(path: scratch.path("b.ts"))
    #expect(await code { try await session.add(other, id: "a") } == .cannotCreate)
    #expect(await code { try await session.add(.push(url: "http://127.0.0.1/")) } == .usage)
    #expect(await code { try await session.add(.file(path: scratch.path("a.webm"))) } == .usage)
    #expect(await code { try await session.stopOutput("none") } == .usage)
    #expect(await code { try await session.stopOutput("b") } == nil)
    #expect(await code { try await session.startOutput("b") } == .usage)
    #expect(await code { try await session.add(other) } == nil)
    let fourth = LiveOutput.file(path: scratch.path("c.ts"))
    #expect(await code { try await session.add(fourth) } == .cannotCreate)
    let clip = try FLVClip(DecodedFrames.source, seconds: 0.4)
    try stage.publish(clip.tags, ends: false)
    #expect(until { session.snapshot.outputs.first?.frames ?? 0 > 5 })
    stage.end()
    #expect(await code { try await session.add(fourth) } == .usage)
    for name in ["a.ts", "b.ts"] {
      #expect(try DecodedFrames(scratch.path(name), scratch).times.count > 5)
    }
  }
}
