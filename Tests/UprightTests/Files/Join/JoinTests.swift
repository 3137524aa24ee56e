import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightFiles
@testable import UprightMediaIO

/// Encoded GOPs between copied ones in one track: each decoder uses the parameter sets of each GOP.
@Suite(.serialized, .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct JoinTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var codec = "libx264"
    var options: [String] = []
    var format = "yuv420p"
    var source = "mp4"
    var outputs = ["mp4", "mkv", "ts", "flv"]
  }

  static let h264 = [
    Case(testDescription: "High, B-pyramid", options: ["-preset", "slow", "-level", "4"]),
    Case(
      testDescription: "High, non-reference B-frames",
      options: ["-x264-params", "b-pyramid=none:bframes=2"], outputs: ["mp4", "ts"]),
    Case(
      testDescription: "Main, no B-frames, other identifiers in use",
      options: ["-profile:v", "main", "-bf", "0", "-x264-params", "sps-id=3"],
      outputs: ["mp4", "flv"]),
    Case(
      testDescription: "Baseline", options: ["-profile:v", "baseline", "-level", "3"],
      outputs: ["mp4"]),
    Case(testDescription: "High 10", format: "yuv420p10le", outputs: ["mp4", "ts"]),
    Case(testDescription: "High 4:2:2", format: "yuv422p", outputs: ["mkv"]),
    Case(testDescription: "High 4:4:4", format: "yuv444p", outputs: ["mp4"]),
    Case(testDescription: "from MPEG-TS", source: "ts"),
    Case(
      testDescription: "from Matroska", options: ["-bf", "0"], source: "mkv", outputs: ["mp4"]),
    Case(
      testDescription: "in-band parameter sets too",
      options: ["-x264-params", "repeat-headers=1:sps-id=1"], outputs: ["mp4", "ts"]),
    Case(
      testDescription: "colour tags, full range",
      options: [
        "-vf", "scale=out_range=full,setparams=color_primaries=bt709:color_trc=bt709",
        "-color_range", "pc", "-colorspace", "bt709",
        "-color_primaries", "bt709", "-color_trc", "bt709",
        // Top left.
        "-bsf:v", "h264_metadata=chroma_sample_loc_type=2",
      ], outputs: ["mp4"]),
  ]

  static let hevc = [
    Case(
      testDescription: "HEVC Main", codec: "libx265", options: ["-tag:v", "hvc1"],
      outputs: ["mp4", "mkv", "ts"]),
    Case(
      testDescription: "HEVC Main 10", codec: "libx265", format: "yuv420p10le", outputs: ["mp4"]),
    Case(
      testDescription: "HEVC without B-frames", codec: "libx265",
      options: ["-tag:v", "hvc1", "-x265-params", "bframes=0"], outputs: ["mp4"]),
    Case(
      testDescription: "HEVC from MPEG-TS", codec: "libx265", source: "ts",
      outputs: ["mp4", "ts"]),
  ]

  static let others = [
    Case(
      testDescription: "VP9", codec: "libvpx-vp9",
      options: ["-deadline", "good", "-cpu-used", "5", "-b:v", "0", "-crf", "20"], source: "webm",
      outputs: ["webm", "mp4"]),
    Case(
      testDescription: "AV1", codec: "libsvtav1", options: ["-preset", "12", "-crf", "20"],
      outputs: ["mp4", "mkv"]),
  ]

  private static let gop = 16
  private static let count = 48

  /// Encodes three GOPs.
  static func clip(_ test: Case, in scratch: Scratch) throws -> String {
    let path = scratch.path("source.\(test.source)")
    var options = test.options
    if test.codec == "libx265" {
      let closed = "open-gop=0:scenecut=0:log-level=none"
      if let index = options.firstIndex(of: "-x265-params") {
        options[index + 1] += ":\(closed)"
      } else {
        options += ["-x265-params", closed]
      }
    }
    if test.codec == "libx264" { options += ["-sc_threshold", "0"] }
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-frames:v", "\(count)", "-g", "\(gop)"]
        + ["-pix_fmt", test.format, "-c:v", test.codec] + options + [path])
    return path
  }

  /// Decodes with FFmpeg, which must not report anything.
  static func decoded(_ path: String, in scratch: Scratch) throws -> Y4M {
    let raw = scratch.path(UUID().uuidString + ".y4m")
    let outcome = try ExternalTool("ffmpeg").outcome([
      "-nostdin", "-hide_banner", "-v", "warning", "-xerror", "-err_detect", "explode", "-y", "-i",
      path, "-fps_mode", "passthrough", "-f", "yuv4mpegpipe", "-strict", "-1", raw,
    ])
    let said = outcome.errors.split(separator: "\n").filter {
      // Expected messages about YUV4MPEG2 with more than 8 bits, and about the older name for full range.
      !$0.contains("non-standard") && !$0.contains("non standard")
        && !$0.contains("deprecated pixel format")
    }
    #expect(outcome.status == 0 && said.isEmpty, "\(path): \(said)")
    return try Y4M(path: raw)
  }

  /// Returns the PSNR of luma, in dB.
  private static func ratio(_ a: Y4M, _ b: Y4M, frame: Int) -> Double {
    let (one, other) = (Array(a.plane(0, frame: frame)), Array(b.plane(0, frame: frame)))
    if one == other { return .infinity }
    var sum = 0.0
    let step = a.sampleBytes
    var peak = 255.0
    for index in stride(from: 0, to: min(one.count, other.count), by: step) {
      func value(_ bytes: [UInt8]) -> Int {
        step == 1 ? Int(bytes[index]) : Int(bytes[index]) | Int(bytes[index + 1]) << 8
      }
      let difference = Double(value(one) - value(other))
      sum += difference * difference
    }
    if step == 2 { peak = 1023 }
    let mean = sum / Double(one.count / step)
    return mean == 0 ? .infinity : 10 * log10(peak * peak / mean)
  }

  private static func check(_ test: Case) throws {
    QuietLibraries.install()
    let scratch = try Scratch()
    let source = try clip(test, in: scratch)
    let before = try decoded(source, in: scratch)
    let packets = try FFmpegTool.packets(source, "v:0", hashes: true)
    for name in test.outputs {
      let path = scratch.path("out.\(name)")
      let splice = try SplicedFile(source, to: path, replaced: [1]) {
        $0.rate = .constantQuality(20)
      }
      #expect(splice.starts.count == 3, "\(name)")
      let after = try decoded(path, in: scratch)
      try #require(after.count == count && before.count == count, "\(name): \(after.count)")
      for frame in 0..<count {
        let ratio = ratio(before, after, frame: frame)
        let isNew = (gop..<2 * gop).contains(frame)
        #expect(isNew ? ratio > 30 && ratio < .infinity : ratio == .infinity, "\(name) \(frame)")
      }
      // Packets that are in the same form in both files have the same bytes.
      let family = ["mp4": "lengths", "mov": "lengths", "mkv": "lengths", "flv": "lengths"]
      let new = try FFmpegTool.packets(path, "v:0", hashes: true)
      try #require(new.count == count)
      if family[name] == family[test.source] || test.codec == "libvpx-vp9" {
        // MPEG-TS demuxers add a start code's zero_byte to the packet before it.
        let last = name == "ts" ? gop - 1 : -1
        for index in 0..<count where splice.copied[index] && index != last {
          let sizes = "\(packets[index].size) and \(new[index].size) bytes"
          #expect(new[index].hash == packets[index].hash, "\(name), packet \(index): \(sizes)")
        }
        // At least one packet differs between positions: AV1 repeats frames by the same two bytes.
        let hashes = (packets + new).map(\.hash)
        #expect(splice.copied.indices.contains { hashes[$0] != hashes[$0 + count] })
      }
      let times = new.compactMap(\.dts)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(name)")
      try play(path, like: after, in: scratch, test)
      // Free builds of Chromium don't decode HEVC, and H.264 with more than 8 bits.
      if test.codec != "libx265", test.format == "yuv420p", ["mp4", "webm"].contains(name) {
        let (status, said) = try Player.chromium.play([scratch.folder.path, "out.\(name)"])
        #expect(status == 0 && said["ended"].bool == true, "\(name): \(said)")
        #expect(said["totalVideoFrames"].int ?? 0 > count - gop, "\(name): \(said)")
      }
    }
  }

  private static let demuxers = [
    "mp4": "qtdemux", "mkv": "matroskademux", "webm": "matroskademux", "ts": "tsdemux",
    "flv": "flvdemux",
  ]

  private static let decoders = [
    "libx264": (parser: "h264parse", decoder: "avdec_h264"),
    "libx265": (parser: "h265parse", decoder: "avdec_h265"),
    "libvpx-vp9": (parser: "vp9parse", decoder: "vp9dec"),
    "libsvtav1": (parser: "av1parse", decoder: "av1dec"),
  ]

  /// Checks that GStreamer's decoders give the same frames.
  private static func play(
    _ path: String, like expected: Y4M, in scratch: Scratch, _ test: Case
  ) throws {
    guard test.format == "yuv420p" else {
      // y4menc writes no other format. Only the number of frames is checked.
      let (status, said) = try Player.gstreamer.play([path])
      #expect(status == 0 && said["frames"].int == count, "\(path): \(said)")
      #expect(said["errors"].array.isEmpty && said["warnings"].array.isEmpty, "\(path): \(said)")
      return
    }
    let raw = scratch.path("gst.y4m")
    let container = String(path.split(separator: ".").last ?? "")
    // Named elements: `decodebin` sometimes blocks for ever while it links its pads.
    let demuxer = try #require(demuxers[container])
    let decoder = try #require(decoders[test.codec])
    try ExternalTool("gst-launch-1.0").run([
      "-q", "filesrc", "location=\(path)", "!", demuxer, "!", decoder.parser, "!", decoder.decoder,
      "!",
      // Converting to another plane order and back removes the decoder's padding, which y4menc writes too.
      "videoconvert", "!", "video/x-raw,format=YV12", "!", "videoconvert", "!",
      "video/x-raw,format=I420", "!", "y4menc", "!", "filesink",
      "location=\(raw)",
    ])
    let pictures = try Y4M(path: raw)
    #expect(pictures.count == count)
    let difference = pictures.difference(from: expected)
    #expect(difference == nil, "\(path): \(difference.map { "\($0)" } ?? "")")
  }

  @Test("H.264", .long, .plays(.gstreamer, .chromium), arguments: Loop.cases(h264, test: 2))
  func joinsH264(_ test: Case) throws { try Self.check(test) }

  @Test("HEVC", .long, .plays(.gstreamer, .chromium), arguments: Loop.cases(hevc, test: 1))
  func joinsHEVC(_ test: Case) throws { try Self.check(test) }

  @Test("VP9 and AV1", .long, .plays(.gstreamer, .chromium), arguments: Loop.cases(others, test: 1))
  func joinsOthers(_ test: Case) throws { try Self.check(test) }
}
