import Foundation
import Testing
import UprightMediaIO
import UprightTestSupport

/// The presentation times of frames in AVI, which stores none, and in MPEG program streams, which store some. A second a test.
@Suite("Presentation order", .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct PresentationOrderTests {
  /// A packet's times by its place in the file.
  private typealias Times = [Int64: Int64]

  static let codecs = [
    "mpeg4 -bf 2 -g 30 -q:v 3 -an", "mpeg4 -bf 2 -b_strategy 1 -g 300 -q:v 3 -c:a mp3",
    "libx264 -preset veryfast -bf 3 -g 30 -x264-params open-gop=1:b-adapt=0 -c:a pcm_s16le",
    "libx264 -preset veryfast -bf 0 -g 30 -an", "mpeg2video -bf 2 -g 15 -q:v 3 -c:a mp2",
  ]

  private func read(_ demuxer: Demuxer) throws -> Times {
    var times: Times = [:]
    var latest = Int64.min
    while let packet = try demuxer.read() {
      guard packet.streamIndex == 0, let position = packet.position else { continue }
      let (pts, dts) = (packet.pts ?? .min, packet.dts ?? .min)
      #expect(dts > latest && pts >= dts)
      latest = dts
      times[position] = pts
    }
    return times
  }

  @Test("The times are those at which ffmpeg shows the frames", arguments: codecs)
  func times(_ codec: String) throws {
    let scratch = try Scratch()
    let path = scratch.path("source.avi")
    try FFmpegTool.run("-v error -i \(Samples.withAudio) -c:v \(codec)", [path])
    let demuxer = try Demuxer(url: path)
    let whole = try read(demuxer)
    let shown = try FFmpegTool.frames(path).compactMap { $0.pts.map(Int64.init) }
    #expect(whole.count == 150 && shown.count > 140)
    // ffprobe has no times for the frames that are shown after the last packet.
    #expect(Array(whole.values.sorted().prefix(shown.count)) == shown)
    // From a keyframe on they are the same.
    #expect(demuxer.seek(stream: 0, to: 100))
    let rest = try read(demuxer)
    #expect((20...70).contains(rest.count) || rest.count == 150)
    #expect(rest.allSatisfy { whole[$0.key] == $0.value })
  }

  @Test(
    "Frames of a program stream that begin within one of its packets have times",
    arguments: ["mpeg2video -bf 2", "mpeg2video -bf 0", "mpeg1video -bf 2"])
  func programStream(_ codec: String) throws {
    let scratch = try Scratch()
    let path = scratch.path("source.mpg")
    try FFmpegTool.run(
      "-v error -i \(Samples.withAudio) -c:v \(codec) -g 12 -q:v 20 -c:a mp2", [path])
    let stored = try FFmpegTool.packets(path, "v")
    #expect(stored.contains { $0.pts == nil } && stored.contains { $0.pts != nil })
    func times(_ demuxer: Demuxer) throws -> [Int64: Int64] {
      var times: [Int64: Int64] = [:]
      while let packet = try demuxer.read() {
        guard packet.streamIndex == 0 else { continue }
        let (pts, dts) = (packet.pts, packet.dts)
        let time: Int64 = try #require(pts)
        times[try #require(dts)] = time
      }
      return times
    }
    let demuxer = try Demuxer(url: path)
    let whole = try times(demuxer)
    let shown = whole.values.sorted()
    // 30 frames a second, in ticks of 1/90000 s.
    #expect(shown.count == 150 && shown == shown.indices.map { shown[0] + 3000 * Int64($0) })
    #expect(demuxer.seek(stream: 0, to: shown[100]))
    let rest = try times(demuxer)
    #expect(rest.count > 40 && rest.allSatisfy { whole[$0.key] == $0.value })
  }

  @Test("Frames that DivX packed into one chunk are apart", arguments: [1, 2, 3])
  func packed(references: Int) throws {
    let scratch = try Scratch()
    let (plain, path) = (scratch.path("plain.avi"), scratch.path("packed.avi"))
    try FFmpegTool.run(
      "-v error -i \(Samples.withAudio) -an -c:v mpeg4 -bf \(references) -g 30 -q:v 3", [plain])
    let bytes = try #require(FileManager.default.contents(atPath: plain))
    try PackedAVI.packed(bytes).write(to: URL(fileURLWithPath: path))
    let (apart, together) = (try Demuxer(url: plain), try Demuxer(url: path))
    var count = 0
    while let packet = try apart.read() {
      guard let other = try together.read() else { break }
      let (time, size) = (other.pts, other.size)
      #expect(time == packet.pts)
      #expect(size == packet.size || count == 0)
      count += 1
    }
    let isAtEnd = try together.read() == nil
    #expect(isAtEnd && count == 150)
    // From each keyframe on, and anew from where reading has stopped.
    for time in [100, 40, 70] {
      #expect(apart.seek(stream: 0, to: Int64(time)) && together.seek(stream: 0, to: Int64(time)))
      for _ in 0..<17 {
        guard let one = try apart.read(), let other = try together.read() else { break }
        let (sizes, times) = ([one.size, other.size], [one.pts, other.pts])
        #expect(sizes[0] == sizes[1] && times[0] == times[1], "\(sizes), \(times)")
      }
    }
  }
}
