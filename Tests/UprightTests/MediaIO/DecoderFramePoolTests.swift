import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightMediaIO

/// Large frames are decoded into buffers allocated by this package. Their contents must equal those in
/// libavcodec's own buffers.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct DecoderFramePoolTests {
  private static let noise = "testsrc2=rate=30:duration=0.5:size="

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let format: String
    let encoder: String
    var sizes: [String]
  }

  /// Sizes above and below the smallest that gets huge pages, which are no multiple of any row or block
  /// size.
  static let cases = [
    Case(
      testDescription: "the size changes", format: "yuv420p", encoder: "libx264 -preset ultrafast",
      sizes: ["1280x720", "1920x1080", "640x360", "1080x1920"]),
    Case(
      testDescription: "4:2:0, B-frames", format: "yuv420p", encoder: "libx264 -preset veryfast",
      sizes: ["1920x1080"]),
    Case(
      testDescription: "4:2:2 in 10 bits", format: "yuv422p10",
      encoder: "libx264 -preset ultrafast",
      sizes: ["1278x718"]),
    Case(
      testDescription: "4:4:4", format: "yuv444p", encoder: "libx264 -preset ultrafast",
      sizes: ["1001x803"]),
    Case(
      testDescription: "VP9", format: "yuv420p",
      encoder: "libvpx-vp9 -deadline realtime -cpu-used 8",
      sizes: ["1450x1102"]),
    Case(
      testDescription: "MJPEG", format: "yuvj422p", encoder: "mjpeg -q:v 3", sizes: ["1111x777"]),
    Case(testDescription: "MPEG-2", format: "yuv420p", encoder: "mpeg2video", sizes: ["1442x1181"]),
    Case(
      testDescription: "4:1:1, as in DV", format: "yuv411p", encoder: "ffv1",
      sizes: ["1446x900"]),
    Case(
      testDescription: "RGB in 8 bits", format: "rgb8", encoder: "rawvideo", sizes: ["1600x900"]),
  ]

  private static func clip(_ each: Case, _ scratch: Scratch) throws -> String {
    let parts = try each.sizes.enumerated().map { index, size in
      let path = scratch.path("part\(index).\(each.sizes.count > 1 ? "ts" : "mkv")")
      try FFmpegTool.run(
        ["-f", "lavfi", "-i", noise + size, "-pix_fmt", each.format, "-strict", "-1", "-c:v"]
          + each.encoder.words + [path])
      return path
    }
    if parts.count == 1 { return parts[0] }
    let path = scratch.path("all.ts")
    var bytes = Data()
    for part in parts { bytes += try Data(contentsOf: URL(fileURLWithPath: part)) }
    try bytes.write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Returns the samples of all frames, and the address of each frame's first plane.
  private static func decoded(_ path: String, threads: Int) throws -> (Data, [UInt]) {
    let demuxer = try Demuxer(url: path)
    let video = try #require(demuxer.container.streams.first { $0.kind == .video })
    let decoder = try VideoDecoder(stream: video, threads: threads)
    var (samples, starts): (Data, [UInt]) = (Data(), [])
    func drain() throws {
      while let frame = try decoder.receive() {
        for (index, layout) in (frame.format.layout?.planes ?? []).enumerated() {
          guard let plane = frame.plane(index) else { continue }
          if index == 0 { starts.append(UInt(bitPattern: plane.start)) }
          let rows = -(-frame.size.height >> layout.shiftY)
          let bytes = -(-frame.size.width >> layout.shiftX) * layout.elementSize
          for row in 0..<rows {
            samples.append(plane.start + row * plane.stride, count: bytes)
          }
        }
      }
    }
    while let packet = try demuxer.read() {
      guard packet.streamIndex == video.index else { continue }
      while !decoder.send(packet) { try drain() }
      try drain()
    }
    decoder.finish()
    try drain()
    return (samples, starts)
  }

  @Test(
    "Every sample equals FFmpeg's", .long, arguments: Loop.cases(cases, test: 3), [1, 3])
  func samples(_ each: Case, _ threads: Int) throws {
    let scratch = try Scratch()
    let path = try Self.clip(each, scratch)
    // Each size is decoded separately, because ffmpeg would scale all frames to the first size.
    var wanted = Data()
    for index in each.sizes.indices {
      let part = scratch.path("part\(index).\(each.sizes.count > 1 ? "ts" : "mkv")")
      wanted += try FFmpegTool.run(
        ["-i", part, "-f", "rawvideo", "-fps_mode", "passthrough", "-"])
    }
    let (samples, starts) = try Self.decoded(path, threads: threads)
    #expect(starts.count == 15 * each.sizes.count)
    #expect(samples == wanted)
  }

  @Test("A large frame begins at a huge page, and its memory is reused", .long)
  func pages() throws {
    let scratch = try Scratch()
    let path = scratch.path("a.mkv")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=rate=30:duration=2:size=1920x1080", "-c:v", "libx264",
      "-preset",
      "ultrafast", path,
    ])
    let (_, starts) = try Self.decoded(path, threads: 1)
    #expect(starts.count == 60 && starts.allSatisfy { $0 % (2 << 20) == 0 })
    #expect(Set(starts).count < 10)
  }
}
