import Foundation
import Testing
import UprightMediaIO
import UprightOrientation
import UprightMedia
import UprightTestSupport

@testable import UprightFiles

/// Segments of inputs that don't begin, or go on, as most do. About three seconds a test.
@Suite("Inputs of segments", .enabled(if: Needs.ffmpeg && Needs.python, "needs ffmpeg and python3"))
struct SegmentInputTests {
  /// A source whose segments are written into a folder with their playlist.
  private struct Made {
    let source: SegmentSource
    let playlist: String
    let scratch = try? Scratch()

    /// Makes the segments from the last to the first, and once more by another source.
    init(_ path: String, _ options: TranscodeOptions) throws {
      source = try SegmentSource(input: path, options: options)
      let other = try SegmentSource(input: path, options: options)
      let folder = try #require(scratch)
      playlist = folder.path("index.m3u8")
      try Data(source.playlist.utf8).write(to: URL(fileURLWithPath: playlist))
      for index in source.segments.indices.reversed() {
        let bytes = try source.segment(index)
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path("\(index).m4s")))
      }
      for index in source.segments.indices {
        let bytes = FileManager.default.contents(atPath: folder.path("\(index).m4s"))
        #expect(try other.segment(index) == bytes.map(Array.init), "segment \(index)")
      }
      for format in 0...(source.segments.last?.format ?? 0) {
        let bytes = try source.initSegment(format)
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path("init-\(format).mp4")))
      }
    }
  }

  /// The keyframe of the second GOP is the 28th packet.
  @Test("Frames before the first keyframe are left out", arguments: [true, false], [10, 28])
  func beginsWithinGOP(isCopied: Bool, lost: Int) throws {
    let scratch = try Scratch()
    let (whole, path) = (scratch.path("whole.ts"), scratch.path("source.ts"))
    // Open GOPs: the first keyframe that is left is followed by frames that are shown before it.
    try FFmpegTool.run(
      "-v error -i \(Samples.withAudio) -c:v libx264 -preset veryfast -c:a aac -x264-params "
        + "open-gop=1:bframes=2:b-adapt=0:keyint=30:min-keyint=30:scenecut=0", [whole])
    try FFmpegTool.run(
      "-v error -i \(whole) -c copy -bsf:v noise=drop=lt(n\\,\(lost))", [path])
    var options = TranscodeOptions()
    if isCopied { options.size = .source } else { options.sensor() }
    let made = try Made(path, options)
    #expect(made.source.segments.allSatisfy { ($0.reason == nil) == isCopied })
    #expect(made.source.warnings.contains { $0.contains("refer to frames before the input") })
    let (status, shown) = try Player.ffmpeg.play([made.playlist])
    #expect(status == 0 && shown["errors"].array.isEmpty, "\(shown["errors"])")
    #expect(shown["numbers"].array.map(\.int) == Array(30..<150))
    #expect(shown["backwards"].int == 0)
  }

  @Test(
    "Segments don't get longer where a decoder can start in an open GOP, or the codec has none",
    arguments: [
      "source.mp4 -c:v libx265 -preset ultrafast -x265-params "
        + "open-gop=1:keyint=30:min-keyint=30:bframes=2:log-level=none -c:a aac",
      "source.ts -c:v libx264 -preset veryfast -c:a aac -x264-params "
        + "open-gop=1:bframes=2:b-adapt=0:keyint=30:min-keyint=30:scenecut=0",
      "source.mpg -c:v mpeg2video -bf 2 -g 15 -q:v 3 -c:a mp2",
      "source.avi -c:v mjpeg -pix_fmt yuvj420p -q:v 3 -c:a pcm_s16le",
      "source.avi -c:v mpeg4 -bf 0 -g 30 -q:v 3 -c:a mp3", "source.avi -c:v libx264 -bf 0 -g 30",
      "source.avi -c:v mpeg4 -bf 2 -g 30 -q:v 3 -c:a mp3", "source.avi -c:v libx264 -bf 3 -g 30",
    ])
  func entries(_ line: String) throws {
    let scratch = try Scratch()
    let words = line.split(separator: " ", maxSplits: 1)
    let path = scratch.path(String(words[0]))
    try FFmpegTool.run("-v error -i \(Samples.withAudio) \(words[1])", [path])
    var options = TranscodeOptions()
    options.sensor()
    let made = try Made(path, options)
    #expect(made.source.segments.allSatisfy { $0.duration < 1.8 }, "\(made.source.segments)")
    let (status, shown) = try Player.ffmpeg.play([made.playlist])
    #expect(status == 0 && shown["errors"].array.isEmpty, "\(shown["errors"])")
    #expect(shown["numbers"].array.map(\.int) == Array(0..<150))
  }

  @Test("A copied segment of more than 4 MiB isn't longer than 20 s")
  func longGOP() throws {
    let scratch = try Scratch()
    let path = scratch.path("source.mp4")
    let picture = "-v error -f lavfi -i testsrc2=s=640x360:r=5,noise=alls=40:allf=t -c:v libx264"
    var options = TranscodeOptions()
    options.size = .source
    for (seconds, quality, isCopied) in [(18, 20, true), (24, 50, true), (24, 20, false)] {
      try FFmpegTool.run(
        "\(picture) -preset ultrafast -qp \(quality) -y -g 999 -t \(seconds)", [path])
      let source = try SegmentSource(input: path, options: options)
      #expect((source.segments.count == 1) == isCopied, "\(source.segments)")
      #expect(source.segments.allSatisfy { ($0.reason == nil) == isCopied && $0.duration < 25 })
    }
  }

  @Test("A size that changes is scaled to the canvas")
  func sizes() throws {
    let scratch = try Scratch()
    let path = scratch.path("source.ts")
    var bytes = Data()
    for (index, (range, size)) in [("0:75", "640:360"), ("75:150", "480:270")].enumerated() {
      let part = scratch.path("\(index).ts")
      let ends = range.split(separator: ":")
      try FFmpegTool.run(
        "-v error -i \(Samples.withAudio) -an -vf "
          + "trim=start_frame=\(ends[0]):end_frame=\(ends[1]),scale=\(size) -vsync passthrough "
          + "-c:v libx264 -preset veryfast -g 25 -bf 2 -output_ts_offset \(Double(index) * 2.5)",
        [part])
      bytes += try #require(FileManager.default.contents(atPath: part))
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    var options = TranscodeOptions()
    options.size = .source
    let made = try Made(path, options)
    let (status, shown) = try Player.ffmpeg.play([made.playlist])
    #expect(status == 0 && shown["errors"].array.isEmpty, "\(shown["errors"])")
    #expect(shown["numbers"].array.map(\.int) == Array(0..<150))
    #expect(Set(made.source.segments.map(\.size)) == [PixelSize(640, 360)])
    let frames = try FFmpegTool.frames(made.playlist)
    #expect(frames.allSatisfy { $0.width == 640 && $0.height == 360 })
  }

  @Test("Interlaced frames are deinterlaced with those of the segments beside them")
  func interlaced() throws {
    let scratch = try Scratch()
    let path = scratch.path("source.mp4")
    try FFmpegTool.run(
      "-v error -f lavfi -i testsrc2=s=640x360:r=60 -t 4 -vf tinterlace=interleave_top -c:v libx264 "
        + "-preset veryfast -crf 4 -flags +ildct+ilme -g 25 -bf 2", [path])
    var options = TranscodeOptions()
    options.sensor()
    options.size = .source
    options.rate = .constantQuality(4)
    let made = try Made(path, options)
    #expect(made.source.segments.count > 2)
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", made.playlist, "-i", path],
      graph: "[0:v]null[a];[1:v]bwdif=mode=send_frame:deint=interlaced,transpose=clock[b]")
    #expect(ratios.count == 120)
    // An upright one isn't copied: browsers would show both fields at once.
    options.frames = .upright
    #expect(
      try SegmentSource(input: path, options: options).segments.allSatisfy { $0.reason != nil })
    // Without its neighbours, the first and the last frame of a segment would have about 10 dB less.
    let starts = made.source.segments.map { Int(($0.start * 30).rounded()) }
    let edges = Set(starts.flatMap { [$0, $0 - 1] }).filter { $0 > 0 }
    let within = ratios.indices.filter { !edges.contains($0) }.map { ratios[$0].luma }.min() ?? 0
    for edge in edges { #expect(ratios[edge].luma > within - 1, "frame \(edge)") }
  }
}
