import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// A rotation without scaling moves samples and changes none. The output is compared byte by byte with
/// FFmpeg's filters.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct ExactTurnTests {
  /// Returns FFmpeg's filter for each of the eight orientations.
  static func filter(_ orientation: ImageOrientation) -> String {
    switch orientation {
    case .up: "null"
    case .upMirrored: "hflip"
    case .down: "hflip,vflip"
    case .downMirrored: "vflip"
    case .leftMirrored: "transpose=cclock_flip"
    case .right: "transpose=clock"
    case .rightMirrored: "transpose=clock_flip"
    case .left: "transpose=cclock"
    }
  }

  struct Source: CustomTestStringConvertible {
    let format: String
    let coding: String
    let container: String
    var testDescription: String { "\(format) \(container)" }
  }

  static let sources = [
    Source(format: "yuv420p", coding: "libx264 -qp 0 -bf 2", container: "mp4"),
    Source(format: "yuvj420p", coding: "libx264 -qp 0 -color_range pc", container: "mp4"),
    Source(format: "yuv422p", coding: "libx264 -qp 0", container: "mp4"),
    Source(format: "yuv444p", coding: "libx264 -qp 0", container: "mov"),
    Source(format: "gray", coding: "libx264 -qp 0", container: "mp4"),
    Source(format: "yuv420p10le", coding: "libx264 -qp 0", container: "mp4"),
    Source(format: "yuv422p10le", coding: "libx264 -qp 0", container: "mov"),
    Source(format: "yuv444p10le", coding: "libx264 -qp 0", container: "mov"),
  ]

  /// Noise over a test pattern, 92x58: no sample equals its neighbours, and no block size divides the frame
  /// size.
  static func make(_ source: Source, in scratch: Scratch) throws -> String {
    let path = scratch.path("source.\(source.container)")
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=92x58:r=25:d=0.28,noise=alls=60:allf=t"]
        + "-pix_fmt \(source.format) -c:v \(source.coding)".words
        + [path])
    return path
  }

  @Test("y4m output equals FFmpeg's turned frames byte for byte", .long, arguments: sources)
  func exact(_ source: Source) throws {
    let scratch = try Scratch()
    let input = try Self.make(source, in: scratch)
    for orientation in ImageOrientation.allCases {
      try DisplayMatrixPatch.apply(orientation, to: input)
      let run = try Transcoded(input, to: scratch.path("\(orientation).y4m"))
      #expect(run.result.output.frames == 7)
      #expect(run.report["formats"].array.map { $0["turn"].string } == [orientation.name])
      let ours = try Y4M(path: run.path)
      // A quarter turn of 4:2:2 leaves a chroma layout that Y4M can't store. Only luma is compared then.
      let isResampled = source.format.contains("422") && orientation.swapsAxes
      var filter = Self.filter(orientation)
      if isResampled { filter = "extractplanes=y," + filter }
      let reference = scratch.path("reference.y4m")
      try FFmpegTool.run([
        "-noautorotate", "-i", input, "-vf", filter, "-strict", "-1", "-f", "yuv4mpegpipe",
        reference,
      ])
      let theirs = try Y4M(path: reference)
      #expect(ours.count == 7 && theirs.count == 7)
      #expect(ours.width == theirs.width && ours.height == theirs.height)
      #expect(ours.sampleBytes == theirs.sampleBytes, "\(ours.fields) \(theirs.fields)")
      if !isResampled { #expect(ours.planes == theirs.planes) }
      let difference = ours.difference(from: theirs, planes: isResampled ? [0] : nil)
      #expect(difference == nil, "\(source.format) \(orientation.name)")
    }
  }

  @Test("4:2:2 stays 4:2:2 after a quarter turn, with chroma resampled once along each axis")
  func chromaOf422() throws {
    let scratch = try Scratch()
    let input = scratch.path("source.mp4")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=320x192:r=25:d=0.2", "-pix_fmt", "yuv422p", "-c:v",
      "libx264",
      "-qp", "0", input,
    ])
    try DisplayMatrixPatch.apply(.right, to: input)
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    let video = try Y4M(path: run.path)
    #expect(video.fields["C"] == "422")
    // FFmpeg converts to 4:4:4 and back.
    let ratios = try FFmpegTool.ratios(
      inputs: ["-noautorotate", "-i", input, "-i", run.path],
      graph: "[0]scale=flags=bicubic+accurate_rnd+full_chroma_int,format=yuv444p,transpose=clock,"
        + "scale=flags=bicubic+accurate_rnd+full_chroma_int,format=yuv422p[a];[1]format=yuv422p[b]")
    #expect(ratios.lowest.luma == .infinity)
    figure("4:2:2 turned by 90: chroma \(ratios.lowest.cb) \(ratios.lowest.cr)")
    #expect(ratios.lowest.cb > 30 && ratios.lowest.cr > 30)
  }

  @Test("H.264 output of a turn without scaling keeps its size and is lossless at CRF 0")
  func encoded() throws {
    let scratch = try Scratch()
    let input = try Self.make(Self.sources[0], in: scratch)
    for orientation in [ImageOrientation.right, .leftMirrored, .down] {
      try DisplayMatrixPatch.apply(orientation, to: input)
      let run = try Transcoded(input, to: scratch.path("\(orientation).mp4")) {
        $0.rate = .constantQuality(0)
      }
      let ratios = try FFmpegTool.ratios(
        inputs: ["-noautorotate", "-i", input, "-i", run.path],
        graph: "[0]\(Self.filter(orientation))[a];[1]null[b]")
      #expect(ratios.count == 7)
      // CRF 0 is lossless in x264.
      #expect(ratios.worst.luma == .infinity, "\(orientation.name): \(ratios.worst)")
    }
  }
}
