import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightLive

/// Live sessions, tested by their outputs.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized, .tags(.waits, .divided))
struct LiveSessionTests {
  @Test(
    "An event at a media time takes effect at that frame, in HLS with a discontinuity",
    arguments: [VideoCodec.h264, .av1])
  func turn(_ codec: VideoCodec) async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 3)
    let stage = try LiveTestSession([.hls(folder: folder)]) {
      $0.options.sensor()
      $0.options.codec = codec
      if codec == .av1 { $0.options.speed = nil }
    }
    // Before the first frame, the answer is empty.
    #expect(
      try await stage.session.post([.at(1.5, .device(.landscapeLeft))]).isEmpty)
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 2.8 })
    #expect(until { stage.session.snapshot.counters.queueDepth == 0 })
    stage.end()
    #expect(stage.states == [.live, .ended])
    #expect(stage.decisions.map(\.outcome) == [.rotate] && stage.formats.count == 2)
    let counters = stage.session.snapshot.counters
    #expect(counters.formatChanges == 1 && counters.inputLosses == 0)
    #expect(counters.bytesOut > 0)
    #expect(counters.decodeTimes.count >= counters.framesIn)
    #expect(counters.orientTimes.count == counters.framesOut)

    let playlist = try Playlist(path: "\(folder)/index.m3u8")
    #expect(playlist.isEnded && playlist.discontinuities == 1 && playlist.type.isEmpty)
    let turned = try #require(playlist.segments.first { $0.isDiscontinuous })
    #expect(playlist.turns.map(\.start) == [turned.date])
    #expect(playlist.turns.map(\.size) == ["160x90"])
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(shown.sizes.count == shown.corners.count && shown.sizes.count > 60)
    for (index, time) in shown.times.enumerated() {
      // FLV has a resolution of 1 ms: frame 45 is at 1.5 s.
      let isTurned = time >= 1.5 - 0.001
      #expect(shown.sizes[index] == (isTurned ? PixelSize(160, 90) : PixelSize(90, 160)))
      #expect(shown.corners[index] == (isTurned ? "tl" : "tr"), "frame \(index)")
    }
    #expect(shown.shortestStep > 0)
  }

  @Test("An event for now takes effect at the next frame, whose time is in the answer")
  func now() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 3)
    let stage = try LiveTestSession([.hls(folder: folder)]) { $0.options.sensor() }
    let sender = try stage.publishing(clip)
    #expect(until { stage.session.snapshot.seconds > 0.5 })
    #expect(stage.session.snapshot.appOrientation == "portrait")
    let answers = try await stage.session.post([.now(.device(.landscapeRight))])
    #expect(answers.map(\.outcome) == [.rotate])
    let asked = try #require(answers.first).at
    #expect(until { stage.session.snapshot.appOrientation == "landscapeLeft" })
    let error = await #expect(throws: UprightError.self) {
      try await stage.session.post([.at(0, .present("nobody", style: nil))])
    }
    #expect(error?.code == .badData)
    sender.wait()
    stage.end()
    #expect(stage.decisions.count == 1)
    let measured = stage.session.snapshot.counters.eventToFrame
    #expect(measured.count == 1)
    figure("event to frame: \(measured) s")
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    let turned = try #require(shown.sizes.firstIndex(of: PixelSize(160, 90)))
    // The decision's time is that of the first turned frame, so that a replay turns at the same frame.
    #expect(abs(shown.times[turned] - asked) < 0.0005, "\(shown.times[turned]), \(asked)")
    #expect(shown.corners[turned - 1] == "tr" && shown.corners[turned...].allSatisfy { $0 == "br" })
  }

  @Test("Without input, frames and silence continue, until input returns in another size")
  func loss() throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let before = try FLVClip(DecodedFrames.source, seconds: 1.5)
    let after = try FLVClip("testsrc2=s=120x200:r=25", seconds: 1.5)
    let stage = try LiveTestSession([.hls(folder: folder), .file(path: scratch.path("take.ts"))])
    try stage.publish(before.tags)
    #expect(until { stage.session.snapshot.state == .inputLost })
    let lost = stage.session.snapshot.seconds
    #expect(until { stage.session.snapshot.seconds > lost + 1 })
    try stage.publish(after.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > lost + 2.2 })
    stage.end()
    #expect(stage.states.prefix(3) == [.live, .inputLost, .live] && stage.states.last == .ended)
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    // No frame is missing: 30 per second, then 25.
    #expect(shown.shortestStep > 0 && shown.longestStep < 0.15, "\(shown.longestStep)")
    // The landscape input, then its repeated last frame, then the portrait input.
    let turned = try #require(shown.sizes.firstIndex(of: PixelSize(90, 160)))
    #expect(shown.sizes[..<turned].allSatisfy { $0 == PixelSize(160, 90) })
    #expect(shown.sizes[turned...].allSatisfy { $0 == PixelSize(90, 160) })
    #expect(shown.corners[..<turned].allSatisfy { $0 == "tl" })
    #expect(shown.times[turned] > lost + 0.9)
    for path in ["\(folder)/index.m3u8", scratch.path("take.ts")] {
      let audio = try FFmpegTool.packets(path, "a:0").compactMap(\.time)
      let steps = zip(audio, audio.dropFirst()).map { $1 - $0 }
      #expect(audio.count > 100)
      let frames = try FFmpegTool.packets(path, "v:0").count
      #expect(abs(frames - shown.times.count) <= 1, "\(path)")
      #expect(steps.allSatisfy { abs($0 - 1024.0 / 48000) < 0.001 }, "\(steps.max() ?? 0)")
    }
  }

  @Test(
    "A recording ends with the last frame of the input, which others show on",
    arguments: ["ts", "mp4", "mkv"])
  func lastFrame(_ container: String) throws {
    let scratch = try Scratch()
    let (folder, take) = (scratch.path("hls"), scratch.path("take.\(container)"))
    let clip = try FLVClip(DecodedFrames.source, seconds: 1.5)
    let stage = try LiveTestSession([.hls(folder: folder), .file(path: take)])
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.state == .inputLost })
    let lost = stage.session.snapshot.seconds
    #expect(until { stage.session.snapshot.seconds > lost + 1 })
    stage.end()
    #expect(try FFmpegTool.packets(take, "v:0").count == 45)
    let ends = try ["v:0", "a:0"].map { stream in
      try FFmpegTool.packets(take, stream).compactMap(\.time).max() ?? 0
    }
    #expect(abs(ends[0] - ends[1]) < 0.06, "\(ends)")
    #expect(try FFmpegTool.packets("\(folder)/index.m3u8", "v:0").count > 70)
  }

  @Test("After two seconds of loss the slate is shown, placed on the canvas like a frame")
  func slate() throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let slate = scratch.path("slate.png")
    try FFmpegTool.run("-f lavfi -i color=white:s=64x64 -frames:v 1", [slate])
    let clip = try FLVClip(DecodedFrames.source, seconds: 0.8)
    let stage = try LiveTestSession([.hls(folder: folder)]) {
      $0.options.slate = slate
      $0.options.fit = .fill
      $0.options.size = .pair(PixelSize(160, 160))
    }
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.seconds > 3.6 })
    stage.end()
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    let first = try #require(shown.corners.firstIndex(of: "all"))
    #expect(shown.corners[first...].allSatisfy { $0 == "all" })
    #expect(shown.times[first] > 2.5 && shown.times[first] < 3.5, "\(shown.times[first])")
    #expect(shown.longestStep < 0.15 && shown.shortestStep > 0)
  }

  @Test("No message contains an address with a key")
  func secrets() throws {
    let url = "rtmps://user:pass@host.example:1936/live/SECRET?token=HIDDEN"
    #expect(LiveAddress.shown(url) == "rtmps://host.example:1936")
    let error = LiveAddress.masked(
      UprightError(.inputOutput, "cannot open \(url): SECRET refused", at: url), url)
    #expect(
      error.description
        == "cannot open rtmps://host.example:1936: ... refused: rtmps://host.example:1936")
    #expect(LiveAddress.shown("/a/path") == "/a/path")
  }

  @Test(
    "The stream continues after a jump of the publisher's clock", arguments: [3_600_000, -1])
  func leap(_ by: Int) throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    var clip = try FLVClip(DecodedFrames.source, seconds: 3)
    for index in clip.tags.indices {
      let time = clip.tags[index].time
      let base = by < 0 ? 500_000 : 0
      clip.tags[index].time = time >= 1500 ? time + max(by, 0) : time + base
    }
    let stage = try LiveTestSession([.hls(folder: folder)])
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 2.7 })
    stage.end()
    #expect(stage.session.snapshot.counters.inputLosses == 0)
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(shown.shortestStep > 0 && shown.longestStep < 0.15, "\(shown.longestStep)")
    #expect(shown.times.last.map { $0 < 3.5 } == true)
    let audio = try FFmpegTool.packets("\(folder)/index.m3u8", "a:0").compactMap(\.time)
    let steps = zip(audio, audio.dropFirst()).map { $1 - $0 }
    #expect(steps.allSatisfy { abs($0 - 1024.0 / 48000) < 0.001 })
  }

  @Test(
    "Pushing to a server that starts later, with a change of format",
    arguments: ["rtmp", "srt"])
  func push(_ scheme: String) async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let taken = scratch.path("taken.\(scheme == "rtmp" ? "flv" : "ts")")
    let port = try Loopback.freePort()
    let url = "\(scheme)://127.0.0.1:\(port)" + (scheme == "rtmp" ? "/live/key" : "")
    let clip = try FLVClip(DecodedFrames.source, seconds: 6)
    let stage = try LiveTestSession([.hls(folder: folder), .push(url: url)]) { $0.options.sensor() }
    let sender = try stage.publishing(clip)
    #expect(until { stage.session.snapshot.seconds > 0.5 })
    if scheme == "rtmp" {
      #expect(until { stage.session.snapshot.outputs.last?.reason != nil })
    }
    #expect(stage.session.snapshot.outputs.first?.reason == nil)
    let server = Thread.running {
      let listening =
        scheme == "rtmp" ? ["-listen", "1", "-i", url] : ["-i", "\(url)?mode=listener"]
      // The server may exit with an error. Only the file that it wrote is checked.
      _ = try? FFmpegTool.run(listening + ["-c", "copy", taken], timeout: 60)
    }
    #expect(until { stage.session.snapshot.seconds > 4 })
    _ = try await stage.session.post([.at(0, .device(.landscapeLeft))])
    sender.wait()
    stage.end()
    server.wait()
    // SRT waits for its peer. RTMP is refused at first and retries.
    let lost = stage.session.snapshot.counters.dropped["output", default: 0]
    #expect(scheme == "srt" || lost > 0)
    let shown = try DecodedFrames(taken, scratch)
    let turned = try #require(shown.sizes.firstIndex(of: PixelSize(160, 90)))
    #expect(turned > 0 && shown.corners[..<turned].allSatisfy { $0 == "tr" })
    #expect(shown.sizes[..<turned].allSatisfy { $0 == PixelSize(90, 160) })
    #expect(shown.corners[turned...].allSatisfy { $0 == "tl" })
    let audio = try FFmpegTool.packets(taken, "a:0").count
    #expect(audio > 40)
  }

  @Test("Audio stays in sync within one audio frame, across a clock jump and a loss")
  func sync() throws {
    let scratch = try Scratch()
    let path = scratch.path("take.ts")
    var clip = try FLVClip(file: Samples.withAudio, seconds: 4.5)
    for index in clip.tags.indices where clip.tags[index].time >= 2500 {
      clip.tags[index].time += 700_000
    }
    let stage = try LiveTestSession([.file(path: path)]) {
      $0.options.size = .pair(PixelSize(360, 640))
    }
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.state == .inputLost })
    let lost = stage.session.snapshot.seconds
    #expect(until { stage.session.snapshot.seconds > lost + 0.7 })
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.counters.inputLosses == 2 })
    stage.end()
    let before = try FlashAndBeep(path: Samples.withAudio)
    let after = try FlashAndBeep(path: path)
    figure("offsets before \(before.offsets), after \(after.offsets)")
    #expect(after.flashes.count >= 8 && after.flashes.count == after.beeps.count)
    let usual = try #require(before.offsets.first)
    #expect(after.offsets.allSatisfy { abs($0 - usual) <= 1024.0 / 48000 + 0.002 })
  }

  @Test("A blocked output does not affect the others", arguments: [nil, 100_000])
  func stalled(bytes: Int?) throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip("testsrc2=s=160x90:r=30,noise=alls=100:allf=t", seconds: 4)
    let listener = try Loopback.Listener(room: 4096)
    let stage = try LiveTestSession([
      .hls(folder: folder), .push(url: "tcp://127.0.0.1:\(listener.port)"),
    ]) {
      $0.options.rate = .constantQuality(2)
      if let bytes { $0.limits.outputBytes = bytes } else { $0.limits.outputSeconds = 0.5 }
    }
    // Accepts the connection and never reads.
    let peer = Thread.running { _ = listener.accept() }
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 3.8 })
    peer.wait()
    let counters = stage.session.snapshot.counters
    #expect(counters.dropped["output", default: 0] > 0, "\(counters.dropped)")
    stage.end()
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    #expect(shown.times.count == stage.session.snapshot.counters.framesOut)
  }

  @Test("After a stop in mid-stream, every output can be played")
  func stop() async throws {
    let scratch = try Scratch()
    let clip = try FLVClip(DecodedFrames.source, seconds: 3)
    let files = ["a.mp4", "a.mkv", "a.ts", "a.flv", "a.mov"].map(scratch.path)
    let stage = try LiveTestSession(
      [.hls(folder: scratch.path("hls"))] + files.map { .file(path: $0) }
    ) {
      $0.options.sensor()
    }
    #expect(stage.session.warnings.count == 3)
    _ = try await stage.session.post([.at(1, .device(.landscapeLeft))])
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 2 })
    stage.end()
    #expect(stage.session.snapshot.state == .ended)
    for path in files + [scratch.path("hls/index.m3u8")] {
      let shown = try DecodedFrames(path, scratch)
      #expect(shown.times.count == stage.session.snapshot.counters.framesOut, "\(path)")
      let follows = [".ts", ".flv", "m3u8"].contains { path.hasSuffix($0) }
      let sizes = Set(shown.sizes)
      #expect(sizes.count == (follows ? 2 : 1), "\(path): \(sizes)")
      let audio = try FFmpegTool.packets(path, "a:0").count
      #expect(audio > 60, "\(path)")
    }
    #expect(scratch.names.allSatisfy { !$0.hasSuffix(".part") })
  }

  /// Takes about eight seconds: the duration of the clip, and the time to finish.
  @Test("A slow encoder: frames are dropped, none are inserted, the input is not lost")
  func overload() throws {
    let scratch = try Scratch()
    let clip = try FLVClip("testsrc2=size=1280x720:rate=30", seconds: 6, audio: false)
    let stage = try LiveTestSession([.file(path: scratch.path("take.ts"))]) {
      $0.options.size = .pair(PixelSize(720, 1280))
      $0.options.speed = "placebo"
      $0.limits.lag = 0.5
    }
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.behind != nil }, "\(stage.session.snapshot)")
    let counters = stage.session.snapshot.counters
    #expect(counters.inputLosses == 0 && !stage.states.contains(.inputLost))
    #expect(counters.framesOut < counters.framesIn, "\(counters)")
    #expect(counters.dropped["queue"] ?? 0 > 0, "\(counters)")
    stage.end()
  }

  @Test("With a low bitrate and without audio, the session is live within two seconds")
  func slow() throws {
    let scratch = try Scratch()
    let clip = try FLVClip(
      "color=gray:size=64x48:rate=15", seconds: 2, audio: false, options: "-crf 50")
    let stage = try LiveTestSession([.file(path: scratch.path("take.ts"))])
    try stage.publish(clip.tags.filter { $0.time < 1500 }, ends: false)
    #expect(until { stage.states.contains(.live) }, "\(stage.session.snapshot)")
    stage.end()
  }

  @Test("With early frames and a gap, no segment exceeds the target duration")
  func jitter() throws {
    let scratch = try Scratch()
    var clip = try FLVClip(DecodedFrames.source, seconds: 4.5)
    // The times gain 1 ms per second. There are no frames between 2.1 and 2.9 s.
    for index in clip.tags.indices { clip.tags[index].time -= clip.tags[index].time / 1000 }
    clip.tags.removeAll { $0.isVideo && (2100..<2900).contains($0.time) }
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 4.2 })
    stage.end()
    let playlist = try Playlist(path: scratch.path("hls/index.m3u8"))
    #expect(playlist.targetDuration == 1 && playlist.segments.count >= 4)
    for segment in playlist.segments {
      #expect(segment.duration.rounded() <= 1, "\(playlist.segments.map(\.duration))")
    }
  }

  @Test("Another session in the same folder continues the numbers, after a discontinuity")
  func again() throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 2.5)
    var playlists: [Playlist] = []
    for _ in 0..<2 {
      let stage = try LiveTestSession([.hls(folder: folder)])
      try stage.publish(clip.tags, ends: false)
      #expect(until { stage.session.snapshot.seconds > 2.2 })
      stage.end()
      playlists.append(try Playlist(path: "\(folder)/index.m3u8"))
    }
    let (first, second) = (playlists[0].segments, playlists[1].segments)
    #expect(first.count == 3 && second.count == 6)
    // Numbers of the clock, which no session had before.
    let number = playlists[0].mediaSequence
    #expect(abs(Double(number) / 4 + 1_767_225_600 - Date().timeIntervalSince1970) < 600)
    #expect(second.map(\.file) == (0..<6).map { "index-\(number + $0).m4s" })
    #expect(second.map(\.isDiscontinuous) == [false, false, false, true, false, false])
    #expect(
      Set(second.map(\.map)) == ["index-init-\(number).mp4", "index-init-\(number + 3).mp4"])
    #expect(playlists.allSatisfy { $0.targetDuration == 1 })
    for (one, next) in zip(second, second.dropFirst()) {
      #expect((one.date ?? .distantFuture) < (next.date ?? .distantPast))
    }
  }

  @Test("When the window moves, old segments are removed and listed files exist")
  func window() throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 9)
    let stage = try LiveTestSession([.hls(folder: folder)]) { $0.segmentSeconds = 0.5 }
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 8.8 })
    stage.end()
    let playlist = try Playlist(path: "\(folder)/index.m3u8")
    let first = try #require(playlist.segments.first?.map.split { !$0.isNumber }.first)
    #expect(playlist.segments.count == 6)
    #expect(playlist.mediaSequence > (Int(first) ?? .max) + 10)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(playlist.segments.allSatisfy { files.contains($0.file) && files.contains($0.map) })
    #expect(files.count <= 6 + 9 + 2, "\(files.sorted())")
  }

  @Test("Sessions leave no threads and no descriptors open")
  func leaks() throws {
    let scratch = try Scratch()
    let clip = try FLVClip(DecodedFrames.source, seconds: 0.5)
    func count(_ folder: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
    }
    var counts: [(threads: Int, files: Int)] = []
    for number in 0..<11 {
      let stage = try LiveTestSession([
        .hls(folder: scratch.path("\(number)")), .file(path: scratch.path("\(number).mp4")),
      ])
      try stage.publish(clip.tags)
      #expect(until { stage.session.snapshot.counters.framesOut > 5 })
      stage.end()
      counts.append((try count("task"), try count("fd")))
    }
    let first = try #require(counts.first)
    let ended = try until {
      try count("task") <= first.threads + 1 && count("fd") <= first.files + 1
    }
    #expect(ended, "\(counts)")
  }

  @Test("Invalid live configurations are rejected before anything is opened")
  func refusals() throws {
    let scratch = try Scratch()
    try Data().write(to: URL(fileURLWithPath: scratch.path("there.mp4")))
    func code(
      _ outputs: [LiveOutput], _ configure: (inout LiveConfiguration) -> Void = { _ in }
    ) -> UprightError.Code? {
      var configuration = LiveConfiguration(input: .published(PublishedFeed()), outputs: outputs)
      configure(&configuration)
      do throws(UprightError) { _ = try LiveSession(configuration) } catch { return error.code }
      return nil
    }
    let hls = LiveOutput.hls(folder: scratch.path("hls"))
    #expect(code([hls]) == nil)
    #expect(code([]) == .usage)
    #expect(code([hls, hls]) == .usage)
    #expect(code([.push(url: "http://127.0.0.1/x")]) == .usage)
    #expect(code([.push(url: "file:///tmp/x.ts")]) == .usage)
    #expect(code([.file(path: "rtmp://127.0.0.1/x")]) == .usage)
    #expect(code([.file(path: scratch.path("a.webm"))]) == .usage)
    #expect(code([.file(path: scratch.path("a.y4m"))]) == .usage)
    #expect(code([.file(path: scratch.path("there.mp4"))]) == .cannotCreate)
    #expect(code([hls]) { $0.options.canvas = .majority } == .usage)
    #expect(code([.file(path: scratch.path("a.mkv"))]) { $0.options.canvas = .follow } == .usage)
    #expect(code([hls]) { $0.options.start = 1 } == .usage)
    #expect(code([hls]) { $0.options.splits = true } == .usage)
    #expect(code([hls]) { $0.segmentSeconds = .nan } == .usage)
    #expect(scratch.names == ["there.mp4"])
  }
}

/// A thread that can be waited for.
struct RunningThread {
  fileprivate let done = DispatchSemaphore(value: 0)

  func wait() { #expect(done.wait(timeout: .now() + 60) == .success) }
}

extension Thread {
  static func running(_ body: @escaping @Sendable () -> Void) -> RunningThread {
    let running = RunningThread()
    let done = running.done
    detachNewThread {
      body()
      done.signal()
    }
    return running
  }
}
