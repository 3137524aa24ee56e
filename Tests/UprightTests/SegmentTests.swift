import Foundation
import MediaIO
import Orientation
import Testing
import Upright
import UprightTestSupport

/// HLS segments: as long as asked for, each beginning with an IDR, the playlist always playing.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct SegmentTests {
  @Test("segments are cut at an IDR every so many seconds", arguments: [0.5, 1, 2, 3])
  func durations(_ length: Double) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.withSound, to: scratch.path("out.m3u8")) {
      $0.size = .pair(PixelSize(180, 320))
      $0.segmentDuration = length
    }
    let playlist = try Playlist(path: run.path)
    #expect(playlist.maps == ["out-init-0.mp4"])
    #expect(playlist.discontinuities == 0)
    #expect(playlist.type == "VOD")
    #expect(playlist.segments.count == Int((5 / length).rounded(.up)))
    for segment in playlist.segments.dropLast() {
      #expect(abs(segment.duration - length) < 1e-6, "\(segment)")
    }
    #expect(abs(playlist.segments.map(\.duration).reduce(0, +) - 5) < 1e-5)
    #expect(Double(playlist.targetDuration) >= length.rounded())
    var frames = 0
    for segment in playlist.segments {
      let whole = scratch.path("whole.mp4")
      let bytes =
        try Data(contentsOf: URL(fileURLWithPath: scratch.path(segment.map)))
        + Data(contentsOf: URL(fileURLWithPath: scratch.path(segment.file)))
      try bytes.write(to: URL(fileURLWithPath: whole))
      // It decodes on its own, from its first picture.
      let decoded = try FFmpegTool.frames(whole)
      #expect(decoded.first?.json["key_frame"].int == 1)
      frames += decoded.count
    }
    #expect(frames == 150)
  }

  @Test("a format's first init segment is replaced by none, and names do not collide")
  func manyTurns() throws {
    let scratch = try Scratch()
    var events = "{\"at\": 0, \"device\": \"portrait\"}\n"
    for turn in 1...9 {
      events +=
        "{\"at\": \(turn), \"device\": \"\(turn % 2 == 1 ? "landscapeLeft" : "portrait")\"}\n"
    }
    let run = try Transcoded(
      Samples.turning, to: scratch.path("out.m3u8"), events: events
    ) {
      $0.sensor()
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let playlist = try Playlist(path: run.path)
    #expect(playlist.maps.count == 10 && Set(playlist.maps).count == 10)
    #expect(playlist.discontinuities == 9)
    #expect(Set(playlist.segments.map(\.file)).count == 10)
    let frames = try FFmpegTool.frames(run.path)
    #expect(frames.count == 300)
    #expect(frames.map(\.width) == (0..<300).map { $0 / 30 % 2 == 0 ? 90 : 160 })
  }

  @Test(
    "a name with spaces and signs goes through",
    arguments: [
      "a clip, with: signs & 100%.m3u8", "häuser.m3u8", "#1 \"a\"?.m3u8", "100%d.mp4", "a:b.mp4",
    ])
  func names(_ name: String) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.displayMatrix, to: scratch.path(name)) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let frames = try FFmpegTool.frames("file:" + run.path)
    #expect(frames.count == 60)
  }
}
