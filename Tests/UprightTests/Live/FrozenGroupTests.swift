import Foundation
import Testing
import UprightMedia
import UprightKernels
import UprightOrientation
import UprightTestSupport

@testable import UprightLive

/// The frame that is repeated during a loss is encoded for one group of pictures, whose packets go out again.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized, .tags(.waits))
struct FrozenGroupTests {
  private static let source = "testsrc2=s=160x90:r=30"

  /// Decoded frames, as their bytes of luma at 160x90.
  private static func decoded(_ path: String, _ scratch: Scratch) throws -> [[UInt8]] {
    let file = scratch.path("\(UUID().uuidString).gray")
    try FFmpegTool.run(
      ["-xerror", "-err_detect", "explode", "-i", path, "-fps_mode", "passthrough"]
        + ["-vf", "scale=160:90,format=gray", "-f", "rawvideo", file])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    return stride(from: 0, to: bytes.count, by: 160 * 90).map { Array(bytes[$0..<$0 + 160 * 90]) }
  }

  /// The mean difference of two frames.
  private static func difference(_ one: [UInt8], _ other: [UInt8]) -> Double {
    Double(zip(one, other).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(one.count)
  }

  @Test(
    "In a loss of five seconds at most two seconds are encoded; all of them are even, and what returns is exact"
  )
  func loss() throws {
    let scratch = try Scratch()
    let (folder, take) = (scratch.path("hls"), scratch.path("take.ts"))
    let clip = try FLVClip(Self.source, seconds: 1.5)
    let stage = try LiveTestSession([.hls(folder: folder), .file(path: take)]) {
      $0.options.size = .source
    }
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.state == .inputLost })
    let lost = stage.session.snapshot
    #expect(until { stage.session.snapshot.seconds > lost.seconds + 5 })
    let found = stage.session.snapshot.counters
    #expect(found.framesOut - lost.counters.framesOut > 140)
    // Up to the next keyframe, then a group of one second.
    #expect(found.encodeTimes.count - lost.counters.encodeTimes.count <= 62)
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.counters.inputLosses == 2 })
    stage.end()
    // The recording ends with the last frame of the input.
    let packets = try FFmpegTool.packets(take, "v:0", hashes: true)
    let back = packets.count - clip.frames
    try #require(back > 170, "\(packets.count)")
    #expect(packets[back].isKey && packets.allSatisfy { $0.pts == $0.dts })
    let times = packets.compactMap(\.time)
    let steps = zip(times[..<back], times[1..<back]).map { $1 - $0 }
    #expect(steps.allSatisfy { abs($0 - 1.0 / 30) < 0.002 }, "\(steps.max() ?? 0)")
    // The packets of the last two groups are the same, and the groups are as long as any.
    let hashes = packets.map { $0.hash ?? "" }
    let keys = (0..<back).filter { packets[$0].isKey }
    try #require(keys.count > 4)
    let (last, length) = (keys[keys.count - 1], keys[keys.count - 1] - keys[keys.count - 2])
    #expect(hashes[last..<back] == hashes[last - length..<back - length])
    #expect(zip(keys, keys.dropFirst()).allSatisfy { (30...31).contains($1 - $0) }, "\(keys)")
    let frames = try Self.decoded(take, scratch)
    try #require(frames.count == packets.count)
    let shown = frames[45..<back].map { Self.difference($0, frames[44]) }
    #expect(shown.allSatisfy { $0 < 2 }, "\(shown.max() ?? 0)")
    let returned = (0..<45).map { Self.difference(frames[$0], frames[back + $0]) }
    #expect(returned.allSatisfy { $0 < 2 }, "\(returned.max() ?? 0)")
    let listed = try FFmpegTool.packets("\(folder)/index.m3u8", "v:0").compactMap(\.time)
    #expect(zip(listed, listed.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 < 0.2 })
    #expect(try Self.decoded("\(folder)/index.m3u8", scratch).count == listed.count)
  }

  @Test(
    "Two rungs with low latency: a change in a loss shows, a picture is given, the playlists are equal"
  )
  func changes() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("hls")
    let clip = try FLVClip(Self.source, seconds: 1.5)
    let stage = try LiveTestSession([.hls(folder: folder)]) {
      $0.options.size = nil
      $0.options.ladder = [Rung(size: PixelSize(90, 160)), Rung(size: PixelSize(72, 128))]
      $0.lowLatency = LowLatencyHLS()
    }
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.state == .inputLost })
    func standsStill() -> Bool {
      let first = stage.session.snapshot.counters
      #expect(until { stage.session.snapshot.counters.framesOut > first.framesOut + 10 })
      return stage.session.snapshot.counters.encodeTimes.count == first.encodeTimes.count
    }
    #expect(until { standsStill() })
    #expect(await stage.session.picture() != nil)
    #expect(standsStill())
    var change = LiveChange()
    change.background = RGBColour(red: 255, green: 255, blue: 255)
    _ = try await stage.session.change(change)
    #expect(!standsStill())
    #expect(until { standsStill() })
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.counters.framesIn == 2 * clip.frames })
    stage.end()
    let rungs = try ["90x160", "72x128"].map { name in
      _ = try Playlist(path: "\(folder)/\(name).m3u8")
      return try FFmpegTool.packets("\(folder)/\(name).m3u8", "v:0")
    }
    #expect(rungs[0].map(\.pts) == rungs[1].map(\.pts))
    #expect(
      rungs[0].map(\.isKey) == rungs[1].map(\.isKey) && rungs[0].allSatisfy { $0.pts == $0.dts })
    let times = rungs[0].compactMap(\.time)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 && $1 - $0 < 0.3 })
  }
}
