import Foundation
import UprightOrientation
import UprightKernels
import UprightPolicy
import Testing
import UprightMediaIO
import UprightMedia
import UprightTestSupport

@testable import UprightLive

/// Changes of a live session's settings, tested by its outputs. Each test costs about the duration of its clip,
/// three to four seconds, most of it idle.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized, .tags(.waits))
struct LiveChangeTests {
  @Test("Another policy takes effect at the frame whose time is in the answer, and is published")
  func policy() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 3)
    let stage = try LiveTestSession([.hls(folder: folder)]) { $0.options.sensor() }
    let sender = try stage.publishing(clip)
    #expect(until { stage.session.snapshot.seconds > 0.5 })
    var change = LiveChange()
    change.policy = PolicyDocument.builtIn("landscape")
    let applied = try await stage.session.change(change)
    #expect(applied.decisions.map(\.outcome) == [.rotate])
    let at = try #require(applied.at)
    #expect(applied.decisions.first?.at == at)
    // The new rules are in force: the app doesn't follow the device to portrait.
    let refused = try await stage.session.post([.now(.device(.portrait))])
    #expect(refused.map(\.outcome) == [.refuse])
    sender.wait()
    #expect(until { stage.session.snapshot.counters.queueDepth == 0 })
    stage.end()
    #expect(stage.decisions.map(\.outcome) == [.rotate, .refuse])
    #expect(stage.changes.map(\.at) == [at] && stage.formats.count == 2)
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    for (index, time) in shown.times.enumerated() {
      let isTurned = time >= at - 0.0005
      #expect(shown.sizes[index] == (isTurned ? PixelSize(160, 90) : PixelSize(90, 160)))
      #expect(shown.corners[index] == (isTurned ? "tl" : "tr"), "frame \(index)")
    }
    #expect(shown.times.count == stage.session.snapshot.counters.framesOut)
    #expect(shown.shortestStep > 0 && shown.longestStep < 0.067, "\(shown.longestStep)")
  }

  @Test("Background, fit and slate take effect at the frames whose times are in the answers")
  func layout() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let slate = scratch.path("slate.png")
    try FFmpegTool.run("-f lavfi -i color=white:s=64x64 -frames:v 1", [slate])
    let clip = try FLVClip(DecodedFrames.source, seconds: 4)
    let stage = try LiveTestSession([.hls(folder: folder)]) {
      $0.options.size = .pair(PixelSize(160, 160))
    }
    let sender = try stage.publishing(clip)
    #expect(until { stage.session.snapshot.seconds > 0.5 })
    var times: [Double] = []
    // Black above and below, then white, then nothing is left beside the frame, then the overlay covers it.
    let whites: [(inout LiveChange) throws -> Void] = [
      { $0.background = RGBColour(red: 255, green: 255, blue: 255) }, { $0.fit = .fill },
      { $0.overlays = [try Overlay(parsing: "\(slate)@center:160x160")] }, { $0.overlays = [] },
    ]
    for prepare in whites {
      var change = LiveChange()
      try prepare(&change)
      let applied = try await stage.session.change(change)
      #expect(applied.decisions.isEmpty)
      times.append(try #require(applied.at))
      let next = stage.session.snapshot.seconds + 0.4
      #expect(until { stage.session.snapshot.seconds > next })
    }
    sender.wait()
    #expect(until { stage.session.snapshot.counters.queueDepth == 0 })
    stage.end()
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    let wanted = ["?", "all", "tl", "all", "tl"]
    for (time, corner) in zip(shown.times, shown.corners) {
      let count = times.count { time >= $0 - 0.0005 }
      #expect(corner == wanted[count], "\(time), \(times)")
    }
    #expect(Set(shown.sizes) == [PixelSize(160, 160)])
    #expect(shown.shortestStep > 0 && shown.longestStep < 0.067, "\(shown.longestStep)")
    #expect(try Playlist(path: "\(folder)/index.m3u8").discontinuities == 0)
  }

  @Test(
    "The bit rate changes without a change of format, also from a constant quality",
    arguments: [VideoCodec.h264, .av1])
  func rate(_ codec: VideoCodec) async throws {
    let scratch = try Scratch()
    let (folder, file) = (scratch.path("hls"), scratch.path("take.mp4"))
    let clip = try FLVClip("testsrc2=s=160x90:r=30,noise=alls=60:allf=t", seconds: 4)
    let stage = try LiveTestSession([.hls(folder: folder), .file(path: file)]) {
      $0.options.codec = codec
      if codec == .av1 { $0.options.speed = nil }
      $0.options.canvas = .landscape
      $0.options.size = .pair(PixelSize(160, 90))
    }
    let sender = try stage.publishing(clip)
    var times: [Double] = []
    for (seconds, bits) in [(0.9, 2_000_000), (2.4, 100_000)] {
      #expect(until { stage.session.snapshot.seconds > seconds })
      var change = LiveChange()
      change.rate = .bitrate(bits)
      times.append(try #require(try await stage.session.change(change).at))
    }
    sender.wait()
    #expect(until { stage.session.snapshot.counters.queueDepth == 0 })
    stage.end()
    #expect(stage.session.snapshot.counters.formatChanges == 0)
    let playlist = try Playlist(path: "\(folder)/index.m3u8")
    #expect(playlist.discontinuities == 0 && Set(playlist.segments.map(\.map)).count == 1)
    #expect(playlist.segments.allSatisfy { $0.duration < 1.5 }, "\(playlist.segments)")
    for path in [file, "\(folder)/index.m3u8"] {
      let shown = try DecodedFrames(path, scratch)
      #expect(shown.times.count == stage.session.snapshot.counters.framesOut)
      #expect(shown.shortestStep > 0 && shown.longestStep < 0.067)
    }
    let packets = try FFmpegTool.packets(file, "v:0")
    func mean(_ range: ClosedRange<Double>) -> Double {
      let sizes = packets.filter { $0.time.map(range.contains) == true }.map { Double($0.size) }
      return sizes.reduce(0, +) / Double(max(1, sizes.count))
    }
    let (high, low) = (mean(times[0] + 0.3...times[1]), mean(times[1] + 0.7...9))
    figure("bytes per frame: \(high), \(low)")
    #expect(low < high / 2, "\(high), \(low)")
  }

  /// Costs half a second.
  @Test(
    "Before the first frame a change is applied at once; a wrong one, or one too late, is refused")
  func states() async throws {
    let scratch = try Scratch()
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))]) {
      $0.options.sensor()
      $0.options.size = nil
    }
    var change = LiveChange()
    change.policy = PolicyDocument.builtIn("landscape")
    change.fit = .fill
    let applied = try await stage.session.change(change)
    #expect(applied.at == nil && applied.decisions.isEmpty)
    change.policy?.streamSize = PixelSize(64, 64)
    let sizes = await #expect(throws: UprightError.self) {
      try await stage.session.change(change)
    }
    #expect(sizes?.code == .usage)
    var broken = LiveChange()
    broken.slate = .some(scratch.path("none.png"))
    let missing = await #expect(throws: UprightError.self) {
      try await stage.session.change(broken)
    }
    #expect(missing?.code == .noInput)
    let clip = try FLVClip(DecodedFrames.source, seconds: 0.4)
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.appOrientation == "landscapeRight" })
    stage.end()
    let late = await #expect(throws: UprightError.self) {
      try await stage.session.change(LiveChange())
    }
    #expect(late?.code == .usage && stage.changes.count == 1)
  }

  @Test("A hundred changes at once are all applied, and no frame is missing")
  func crowd() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(DecodedFrames.source, seconds: 2.5)
    let stage = try LiveTestSession([.hls(folder: folder)])
    let sender = try stage.publishing(clip)
    #expect(until { stage.session.snapshot.seconds > 0.5 })
    let session = stage.session
    let times = try await withThrowingTaskGroup(of: Double?.self) { group in
      for index in 0..<100 {
        group.addTask {
          var change = LiveChange()
          switch index % 4 {
          case 0: change.policy = PolicyDocument()
          case 1: change.fit = index % 8 == 1 ? .fill : .stretch
          case 2: change.background = RGBColour(red: UInt8(index), green: 0, blue: 0)
          default: change.rate = .bitrate(100_000 + index * 1000)
          }
          return try await session.change(change).at
        }
      }
      return try await group.reduce(into: [Double?]()) { $0.append($1) }
    }
    #expect(times.count == 100 && times.allSatisfy { $0 != nil })
    sender.wait()
    #expect(until { stage.session.snapshot.counters.queueDepth == 0 })
    stage.end()
    #expect(stage.changes.count == 100)
    let shown = try DecodedFrames("\(folder)/index.m3u8", scratch)
    let counters = stage.session.snapshot.counters
    #expect(counters.framesIn == counters.framesOut && counters.dropped.isEmpty, "\(counters)")
    #expect(shown.times.count == counters.framesOut)
    #expect(shown.shortestStep > 0 && shown.longestStep < 0.067)
  }
}

extension LiveTestSession {
  /// The changes that were published.
  var changes: [AppliedChange] {
    updates.compactMap { if case .change(_, let applied) = $0 { applied } else { nil } }
  }

  /// The states of an output that were published.
  func states(of id: String) -> [LiveOutputState] {
    updates.compactMap {
      if case .output(let status) = $0, status.id == id { status.state } else { nil }
    }
  }
}
