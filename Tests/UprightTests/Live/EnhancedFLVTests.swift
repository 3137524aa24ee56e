import Foundation
import Testing
import UprightMediaIO
import UprightOrientation
import UprightTestSupport

@testable import UprightLive

/// The tags of a clip in codecs that only enhanced RTMP has (v2, "Enhanced Audio" and "Enhanced Video").
struct EnhancedFLVClip {
  /// How a tag holds its packet.
  enum Form: String, CaseIterable, Sendable {
    /// The packet and its codec.
    case plain
    /// With nanoseconds of its time before it.
    case modified
    /// As the only track of several.
    case track
    /// Before another track of the same codec, whose bytes are no packet.
    case tracks
    /// As before, each track with its codec.
    case tracksOfCodecs
  }

  private(set) var tags: [FLVClip.Tag] = []
  private(set) var frames = 0

  private static let codes = [
    "h264": "avc1", "hevc": "hvc1", "av1": "av01", "vp8": "vp08", "vp9": "vp09",
    "aac": "mp4a", "opus": "Opus", "mp3": ".mp3", "ac3": "ac-3", "eac3": "ec-3", "flac": "fLaC",
  ]

  /// Encodes the first seconds of a file.
  ///
  /// - Parameter options: Those of FFmpeg for both codecs.
  init(file: String, seconds: Int, _ options: String, _ form: Form) throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.mkv")
    try FFmpegTool.run(["-i", file] + "-t \(seconds) -g 30 \(options)".words + [path])
    let demuxer = try Demuxer(url: path)
    for stream in demuxer.container.streams {
      var configuration = stream.parameters.extradata
      // Its first metadata block, and the last one (RFC 9639, 8).
      if stream.codecName == "flac" {
        configuration = Array("fLaC".utf8) + [0x80, 0, 0, 34] + configuration.suffix(34)
      }
      add(stream, 0, type: 0, isKey: true, offset: nil, configuration, form)
    }
    var lastDecoded = 0
    while let packet = try demuxer.read() {
      let stream = demuxer.container.streams[packet.streamIndex]
      let time = packet.pts ?? 0
      let isVideo = stream.kind == .video
      if isVideo { frames += 1 }
      let decoded = isVideo ? max(lastDecoded, Int(packet.dts ?? Int64(lastDecoded))) : Int(time)
      if isVideo { lastDecoded = decoded }
      let hasOffset = ["h264", "hevc"].contains(stream.codecName)
      add(
        stream, decoded, type: 1, isKey: packet.isKey,
        offset: hasOffset ? Int(time) - decoded : nil, packet.withBytes { Array($0) }, form)
    }
  }

  private mutating func add(
    _ stream: StreamInfo, _ time: Int, type: UInt8, isKey: Bool, offset: Int?, _ body: [UInt8],
    _ form: Form
  ) {
    let isVideo = stream.kind == .video
    let code = Array((Self.codes[stream.codecName] ?? "none").utf8)
    let head: UInt8 = isVideo ? (isKey ? 0x90 : 0xA0) : 0x90
    let several: UInt8 = isVideo ? 6 : 5
    let packet = (type == 1 ? offset.map { Self.big($0, 3) } ?? [] : []) + body
    let sized = Self.big(packet.count, 3) + packet
    let other: [UInt8] = [1, 0, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF]
    let data: [UInt8] =
      switch form {
      case .plain: [head | type] + code + packet
      case .modified: [head | 7, 2, 0, 0, 7, type] + code + packet
      case .track: [head | several, type] + code + [0] + packet
      case .tracks: [head | several, 0x10 | type] + code + [0] + sized + other
      case .tracksOfCodecs: [head | several, 0x20 | type] + code + [0] + sized + code + other
      }
    tags.append(FLVClip.Tag(kind: isVideo ? 9 : 8, time: time, body: data))
  }

  private static func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

/// Publishers with enhanced RTMP, with every FFmpeg.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .tags(.waits))
struct EnhancedFLVTests {
  struct Publisher: CustomTestStringConvertible, Sendable {
    let options: String
    let form: EnhancedFLVClip.Form
    var testDescription: String { "\(form): \(options)" }
  }

  private static let publishers = [
    Publisher(
      options:
        "-c:v libx265 -preset ultrafast -x265-params log-level=none:bframes=3 -c:a libopus",
      form: .plain),
    Publisher(options: "-c:v libx264 -preset veryfast -bf 2 -c:a flac", form: .modified),
    Publisher(options: "-c:v libsvtav1 -preset 12 -c:a ac3", form: .track),
    Publisher(
      options: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a eac3", form: .tracks),
    Publisher(
      options: "-c:v libvpx -deadline realtime -cpu-used 8 -c:a libmp3lame",
      form: .tracksOfCodecs),
  ]

  /// Costs seconds of two cores for the encoders, and the clip's five seconds, mostly idle.
  @Test("Every frame is shown and every beep heard, in time", arguments: publishers)
  func codecs(_ publisher: Publisher) throws {
    let scratch = try Scratch()
    let path = scratch.path("take.mkv")
    let clip = try EnhancedFLVClip(
      file: Samples.withAudio, seconds: 5, publisher.options, publisher.form)
    let stage = try LiveTestSession([.file(path: path)]) {
      $0.options.size = .pair(PixelSize(360, 640))
    }
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.state == .inputLost })
    stage.end()
    let counters = stage.session.snapshot.counters
    #expect(counters.framesIn == clip.frames && counters.dropped.isEmpty, "\(counters)")
    let usual = try #require(FlashAndBeep(path: Samples.withAudio).offsets.first)
    let heard = try FlashAndBeep(path: path)
    figure("\(publisher.testDescription): flashes \(heard.flashes), beeps \(heard.beeps)")
    #expect(heard.flashes.count >= 4 && heard.beeps.count >= 4)
    for flash in heard.flashes where flash < heard.beeps.last ?? 0 {
      #expect(heard.beeps.contains { abs($0 - flash - usual) < 0.045 }, "\(flash)")
    }
  }
}
