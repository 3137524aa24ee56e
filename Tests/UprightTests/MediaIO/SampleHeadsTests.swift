import Testing
import UprightMediaIO
import UprightOrientation
import UprightTestSupport

/// Packets of which little is read.
@Suite("Heads of samples", .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct SampleHeadsTests {
  @Test(
    "They have the times, flags and positions of whole packets, and all but most of the slices",
    arguments: [
      "-c:v libx264 -bf 2 -g 30 -x264-params slices=3",
      "-c:v libx264 -bf 2 -g 30 -x264-params open-gop=1 -movflags negative_cts_offsets",
      "-c:v libx265 -preset ultrafast -x265-params keyint=30:log-level=none -tag:v hvc1",
    ])
  func agree(_ options: String) throws {
    let scratch = try Scratch()
    let path = scratch.path("a.mp4")
    try FFmpegTool.run("-v error -f lavfi -i testsrc2=s=640x360:r=30 -t 4 \(options)", [path])
    let (whole, heads) = (try Demuxer(url: path), try Demuxer(url: path))
    let video = try #require(heads.bestStream(.video))
    try heads.readHeads(of: video)
    var (count, bytes, all) = (0, 0, 0)
    while let packet = try whole.read() {
      let head = try heads.read()
      guard let head else {
        Issue.record("no packet \(count)")
        return
      }
      let isSame =
        head.pts == packet.pts && head.dts == packet.dts && head.isKey == packet.isKey
        && head.position == packet.position && head.timeBase == packet.timeBase
      #expect(isSame, "packet \(count)")
      (count, bytes, all) = (count + 1, bytes + head.size, all + packet.size)
    }
    let isAtEnd = try heads.read() == nil
    #expect(isAtEnd && count == 120 && bytes < all / 4, "\(bytes) of \(all) bytes")
  }

  @Test("A track that isn't H.264 or HEVC, or fragmented, is read whole")
  func whole() throws {
    let scratch = try Scratch()
    for (name, options) in [
      ("a.mp4", "-c:v mpeg4"), ("b.mp4", "-c:v libx264 -movflags frag_keyframe+empty_moov"),
      ("c.mkv", "-c:v libx264"),
    ] {
      let path = scratch.path(name)
      try FFmpegTool.run("-v error -f lavfi -i testsrc2=s=320x180:r=30 -t 1 \(options)", [path])
      let demuxer = try Demuxer(url: path)
      try demuxer.readHeads(of: try #require(demuxer.bestStream(.video)))
      var (count, bytes) = (0, 0)
      while let packet = try demuxer.read() { (count, bytes) = (count + 1, bytes + packet.size) }
      #expect(count == 30 && bytes > 4000, "\(name): \(bytes)")
    }
  }
}
