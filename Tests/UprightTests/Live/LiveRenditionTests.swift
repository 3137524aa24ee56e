import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFrames
import UprightMediaIO
import UprightMedia
import UprightTestSupport

@testable import UprightLive

/// Both canvases and ladders, live. Each test costs about the duration of its clip, most of it idle.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized, .tags(.waits))
struct LiveRenditionTests {
  /// Ten turns, from 0.5 s on, with 0.3 s between them.
  private static let turns: [StreamEvent] = (0..<10).map { index in
    let device: DeviceOrientation = index % 2 == 0 ? .landscapeLeft : .portrait
    return .at(0.5 + 0.3 * Double(index), .device(device))
  }

  /// Checks that the media playlists of a folder have equal segments. Returns them.
  private static func checkedAlike(_ names: [String], in folder: String) throws -> [Playlist] {
    let playlists = try names.map { try Playlist(path: "\(folder)/\($0).m3u8") }
    let first = playlists[0]
    for (playlist, name) in zip(playlists, names) {
      #expect(playlist.segments.map(\.duration) == first.segments.map(\.duration), "\(name)")
      #expect(
        playlist.segments.map(\.isDiscontinuous) == first.segments.map(\.isDiscontinuous),
        "\(name)")
      #expect(playlist.mediaSequence == first.mediaSequence, "\(name)")
      #expect(playlist.discontinuitySequence == first.discontinuitySequence, "\(name)")
      #expect(playlist.targetDuration == first.targetDuration && playlist.isEnded, "\(name)")
    }
    return playlists
  }

  private static func times(_ path: String) throws -> [Int] {
    try FFmpegTool.packets(path, "v:0").compactMap(\.pts)
  }

  @Test("Two canvases: ten turns, no change of format, the same frames on both, two recordings")
  func dual() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 4.2)
    let files = ["portrait", "landscape"].map { scratch.path("take-\($0).mp4") }
    let stage = try LiveTestSession(
      [.hls(folder: folder)] + files.map { .recording(path: $0, limits: .init()) }
    ) {
      $0.options.sensor()
      $0.options.canvas = .dual
      $0.options.fit = .fill
      $0.outputCanvases = [nil, .portrait, .landscape]
    }
    _ = try await stage.session.post(Self.turns)
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 4 })
    stage.end()
    #expect(stage.decisions.count(where: { $0.outcome == .rotate }) == 10)
    let counters = stage.session.snapshot.counters
    // A busy machine drops some.
    let unsent = ["late", "queue"].compactMap { counters.dropped[$0] }.reduce(0, +)
    #expect(counters.framesIn == counters.framesOut + unsent)

    let names = ["portrait-video", "landscape-video", "audio"]
    let playlists = try Self.checkedAlike(names, in: folder)
    #expect(playlists.allSatisfy { $0.discontinuities == 0 && $0.maps.count == 1 })
    let paths = names.prefix(2).map { "\(folder)/\($0).m3u8" }
    #expect(try Self.times(paths[0]) == Self.times(paths[1]))

    let shown = try files.map { try DecodedFrames($0, scratch) }
    for (shown, size) in zip(shown, [PixelSize(90, 160), PixelSize(160, 90)]) {
      #expect(shown.sizes.allSatisfy { $0 == size } && shown.sizes.count == counters.framesOut)
      // Each turn is at its frame, on both canvases.
      for (time, corner) in zip(shown.times, shown.corners) {
        let turn = Int(((time + 0.001 - 0.5) / 0.3).rounded(.down))
        let isLandscape = time + 0.001 >= 0.5 && (turn % 2 == 0 || turn > 9) && turn < 9
        #expect(corner == (isLandscape ? "tl" : "tr"), "\(size) at \(time)")
      }
    }
    // A player is never given both canvases to choose from.
    let index = try String(contentsOfFile: "\(folder)/index.m3u8", encoding: .utf8)
    #expect(index.contains("FRAME-RATE=30.000") && index.contains("RESOLUTION=90x160"))
    for (canvas, other) in [("portrait", "landscape"), ("landscape", "portrait")] {
      let text = try String(contentsOfFile: "\(folder)/\(canvas).m3u8", encoding: .utf8)
      #expect(text.contains("\n\(canvas)-video.m3u8\n") && text.contains("URI=\"audio.m3u8\""))
      #expect(!text.contains(other) && (text == index) == (canvas == "portrait"))
    }
  }

  @Test("A ladder that follows: the rungs change shape at the same frames, with equal playlists")
  func ladder() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 4.2)
    let stage = try LiveTestSession([.hls(folder: folder), .file(path: scratch.path("take.ts"))]) {
      $0.options.sensor()
      $0.options.size = nil
      $0.options.ladder = [Rung(size: PixelSize(90, 160)), Rung(size: PixelSize(72, 128))]
    }
    _ = try await stage.session.post(Self.turns)
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 4 })
    stage.end()
    let playlists = try Self.checkedAlike(["90x160", "72x128", "audio"], in: folder)
    #expect(playlists[0].discontinuitySequence + playlists[0].discontinuities == 10)
    // The file has the first rung, which is encoded once.
    let file = try DecodedFrames(scratch.path("take.ts"), scratch)
    #expect(file.sizes.count == stage.session.snapshot.counters.framesOut)
    let rungs = try ["90x160", "72x128"].map { try FFmpegTool.frames("\(folder)/\($0).m3u8") }
    #expect(rungs[0].map(\.pts) == rungs[1].map(\.pts) && rungs[0].count > 30)
    #expect(rungs[0].map { $0.width > $0.height } == rungs[1].map { $0.width > $0.height })
    #expect(rungs[1].allSatisfy { [$0.width, $0.height].sorted() == [72, 128] })
    let corners = try ["90x160", "72x128"].map {
      try DecodedFrames("\(folder)/\($0).m3u8", scratch).corners
    }
    #expect(corners[0] == corners[1] && !corners[0].contains("?"))
    let index = try String(contentsOfFile: "\(folder)/index.m3u8", encoding: .utf8)
    #expect(index.split(separator: "\n").count(where: { $0.hasPrefix("#EXT-X-STREAM-INF") }) == 2)
    #expect(index.contains("CODECS=\"avc1.42c0"))
  }

  @Test("The HLS output stops and starts again beside a file: the cuts are equal again")
  func again() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 5.5)
    let stage = try LiveTestSession(
      [.hls(folder: folder), .file(path: scratch.path("take.ts"))]
    ) {
      $0.options.canvas = .dual
      $0.options.hasCommonPlaylist = true
      $0.outputIDs = ["hls", "take"]
      $0.outputCanvases = [nil, .landscape]
    }
    let sender = try stage.publishing(clip)
    #expect(until { stage.session.snapshot.seconds > 1.4 })
    #expect(try await stage.session.stopOutput("hls").state == .stopped)
    #expect(until { stage.session.snapshot.seconds > 2.5 })
    _ = try await stage.session.startOutput("hls")
    sender.wait()
    #expect(until { stage.session.snapshot.seconds > 5.3 })
    stage.end()
    let playlists = try Self.checkedAlike(
      ["portrait-video", "landscape-video", "audio"], in: folder)
    #expect(playlists[0].discontinuities == 1 && playlists[0].segments.count > 3)
    let index = try String(contentsOfFile: "\(folder)/index.m3u8", encoding: .utf8)
    #expect(index.contains("NAME=\"portrait\"") && index.contains("NAME=\"landscape\""))
    let file = try DecodedFrames(scratch.path("take.ts"), scratch)
    #expect(file.sizes.count == stage.session.snapshot.counters.framesOut)
  }

  @Test("What can't be live is refused before anything is opened")
  func refused() {
    func message(
      _ outputs: [LiveOutput], _ configure: (inout LiveConfiguration) -> Void
    ) -> String {
      let error = #expect(throws: UprightError.self) {
        var configuration = LiveConfiguration(
          input: .pull(url: "rtmp://127.0.0.1/a"), outputs: outputs)
        configure(&configuration)
        _ = try LiveSession(configuration)
      }
      #expect(error?.code == .usage)
      return error?.description ?? ""
    }
    let push = LiveOutput.push(url: "rtmp://127.0.0.1:1/b/c")
    let hls = LiveOutput.hls(folder: "/nowhere")
    #expect(message([push]) { $0.options.canvas = .dual }.contains("one canvas"))
    #expect(message([hls, push]) { $0.options.canvas = .dual }.contains("portrait or landscape"))
    #expect(
      message([push]) { $0.options.ladder = [Rung(size: PixelSize(90, 160))] }.contains("HLS"))
    #expect(
      message([hls]) {
        $0.options.ladder = [Rung(size: PixelSize(90, 160)), Rung(size: PixelSize(160, 90))]
      }.contains("two rungs"))
    #expect(
      message([hls]) {
        $0.options.canvas = .dual
        $0.options.size = .pair(PixelSize(90, 90))
      }.contains("square"))
    #expect(
      message([hls]) {
        $0.options.canvas = .dual
        $0.options.landscapeOutput = "b.ts"
      }.contains("--landscape-output"))
    #expect(message([hls]) { $0.outputCanvases = [nil, nil] }.contains("canvases"))
  }

  @Test("A focus moves the crop of a running session; where nothing is cropped, it is refused")
  func focus() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 3.5)
    let stage = try LiveTestSession([.hls(folder: folder)]) {
      $0.options.canvas = .portrait
      $0.options.fit = .fill
      $0.segmentSeconds = 2
    }
    _ = try await stage.session.post([
      .at(1, .focus(x: 1, y: 0.5)), .at(2, .focus(x: 0.5, y: 0.5)),
    ])
    let sender = try stage.publishing(clip)
    #expect(until { stage.session.snapshot.seconds > 2.2 })
    let error = await #expect(throws: UprightError.self) {
      _ = try await stage.session.post([.now(.focus(x: .nan, y: 0))])
    }
    #expect(error?.code == .badData)
    sender.wait()
    var change = LiveChange()
    change.fit = .some(.blur)
    // Frames are needed for an answer.
    let tail = try FLVClip(DecodedFrames.source, seconds: 1.5)
    let more = Thread.running { stage.send(tail.tags) }
    _ = try await stage.session.change(change)
    let refused = await #expect(throws: UprightError.self) {
      _ = try await stage.session.post([.now(.focus(x: 0, y: 0))])
    }
    #expect(refused?.message.contains("crops") == true)
    more.wait()
    stage.end()
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(shown.corners(0..<1).allSatisfy { $0 == "tl" })
    // Only the black half is shown once the crop has moved.
    #expect(shown.corners(1.55..<1.95).allSatisfy { $0 == "?" })
    #expect(shown.corners(2.55..<3.3).allSatisfy { $0 == "tl" })
  }
}
