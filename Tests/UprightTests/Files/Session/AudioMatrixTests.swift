import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Every common audio codec into every container: it can be played, is copied where possible, and is in
/// sync.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct AudioMatrixTests {
  /// FFmpeg's encoder, the codec's name, and the duration of one of its frames in seconds.
  struct Audio: CustomTestStringConvertible, Sendable {
    let coder: String
    let codec: String
    let frame: Double
    var testDescription: String { codec }
  }

  static let codecs = [
    Audio(coder: "aac", codec: "aac", frame: 1024 / 48000),
    Audio(coder: "libopus", codec: "opus", frame: 0.02),
    Audio(coder: "ac3", codec: "ac3", frame: 1536 / 48000),
    Audio(coder: "libmp3lame", codec: "mp3", frame: 1152 / 48000),
    Audio(coder: "pcm_s16le", codec: "pcm_s16le", frame: 1024 / 48000),
    Audio(coder: "flac", codec: "flac", frame: 4608 / 48000),
  ]

  /// The codecs that each container copies, and the codec for the others.
  static let outputs: [(name: String, copied: Set<String>, other: String)] = [
    ("out.mp4", ["aac", "ac3", "mp3", "opus", "flac"], "aac"),
    ("out.mov", ["aac", "ac3", "mp3", "pcm_s16le"], "aac"),
    ("out.mkv", ["aac", "ac3", "mp3", "opus", "flac", "pcm_s16le"], "aac"),
    ("out.webm", ["opus"], "opus"),
    ("out.ts", ["aac", "ac3", "mp3"], "aac"),
    ("out.flv", ["aac", "mp3"], "aac"),
    ("out.m3u8", ["aac"], "aac"),
  ]

  @Test("Audio can be played and is in sync", .long, arguments: Loop.cases(codecs, test: 2))
  func comesOut(_ audio: Audio) throws {
    let scratch = try Scratch()
    let input = scratch.path("source.mkv")
    // White and loud from 0.4 s on.
    try FFmpegTool.run([
      "-f", "lavfi", "-i",
      "color=black:s=64x64:r=25:d=0.8,drawbox=c=white:t=fill:enable='gte(n,10)'",
      "-f", "lavfi", "-i", "aevalsrc='if(gte(t,0.4),0.7*sin(2000*PI*t),0)':s=48000:d=0.8", "-c:v",
      "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", audio.coder, "-ac", "2",
      "-strict", "-2", input,
    ])
    let before = try FlashAndBeep(path: input)
    try #require(before.flashes.count == 1 && before.beeps.count == 1)
    for (name, copied, other) in Self.outputs {
      let run = try Transcoded(input, to: scratch.path(name)) {
        $0.size = .pair(PixelSize(48, 48))
        $0.quick()
        if name == "out.webm" { $0.speed = nil }
      }
      let words = "\(audio.codec) to \(name)"
      let heard = try FFmpegTool.streams(run.path, "audio").first?["codec_name"].string
      #expect(heard == (copied.contains(audio.codec) ? audio.codec : other), "\(words)")
      let said = try ExternalTool("ffmpeg").outcome([
        "-nostdin", "-v", "error", "-i", run.path, "-f", "null", "-",
      ])
      #expect(said.status == 0 && said.errors.isEmpty, "\(words): \(said.errors)")
      #expect(run.result.warnings.isEmpty, "\(words): \(run.result.warnings)")
      let after = try FlashAndBeep(path: run.path)
      guard let was = before.offsets.first, let found = after.offsets.first else {
        Issue.record("\(words): \(after)")
        continue
      }
      figure("\(words): moved by \(((found - was) * 1000).rounded()) ms")
      #expect(abs(found - was) <= max(audio.frame, 1024 / 48000) + 0.001, "\(words)")
    }
  }

  // 2 s.
  @Test(
    "Audio without losses is copied",
    arguments: [
      (
        "mov",
        [
          "pcm_u8", "pcm_s8", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be",
          "pcm_f64le", "pcm_f64be", "pcm_alaw", "pcm_mulaw",
        ]
      ),
      (
        "mkv",
        [
          "pcm_u8", "pcm_s16be", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f64le",
          "pcm_alaw", "pcm_mulaw", "adpcm_ms", "truehd",
        ]
      ),
    ])
  func lossless(_ container: String, _ codecs: [String]) throws {
    let scratch = try Scratch()
    for codec in codecs {
      let input = scratch.path("\(codec).\(container)")
      try FFmpegTool.run(
        "-f lavfi -i testsrc2=s=64x48:d=0.2 -f lavfi -i anoisesrc=r=48000:d=0.2 -c:v libx264 "
          + "-preset ultrafast -strict -2 -c:a \(codec)", [input])
      let run = try Transcoded(input, to: scratch.path("out.\(container)")) { $0.overwrites = true }
      let (was, now) = try (Self.audio(input), Self.audio(run.path))
      #expect(was == now, "\(codec) in \(container)")
    }
  }

  /// Returns the codec of the audio, and a digest of its samples.
  private static func audio(_ path: String) throws -> [String] {
    let digest = try FFmpegTool.run(["-i", path, "-map", "0:a", "-f", "md5", "-"])
    return [
      try FFmpegTool.streams(path, "audio").first?["codec_name"].string ?? "",
      String(decoding: digest, as: UTF8.self),
    ]
  }

  // 1 s.
  @Test(
    "Encoded audio keeps its channels apart",
    arguments: [
      ("quad", "mp4", "5.0"), ("quad", "webm", "quad"), ("3.0", "mp4", "3.0"),
      ("3.0", "webm", "3.0"), ("3.1", "mp4", "5.1"), ("4.0", "webm", "6.1"), ("4.1", "mp4", "5.1"),
      ("5.1(side)", "mp4", "5.1"), ("5.1", "webm", "5.1"), ("7.1(wide)", "mp4", "5.1"),
      ("6.1", "mp4", "7.1"),
      ("7.1", "webm", "7.1"),
    ])
  func channels(_ layout: String, _ container: String, _ expected: String) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mov")
    let count =
      layout == "quad"
      ? 4
      : layout.split(separator: "(")[0].split(separator: ".")
        .compactMap { Int($0) }.reduce(0, +)
    // Each channel has a tone of its own, in its own tenth of a second.
    let tones = (0..<count).map { channel in
      "'if(eq(floor(t*10),\(channel)),0.5*sin(2*PI*440*t),0)'"
    }
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.8", "-f", "lavfi", "-i",
      "aevalsrc=\(tones.joined(separator: "|")):c=\(layout):s=48000:d=0.8", "-c:v", "libx264",
      "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "pcm_s24le", input,
    ])
    let run = try Transcoded(input, to: scratch.path("out.\(container)")) {
      $0.size = .pair(PixelSize(48, 36))
      if container == "mp4" { $0.quick() }
    }
    #expect(run.result.output.dropped.isEmpty, "\(run.result.output.dropped)")
    let stream = try #require(try FFmpegTool.streams(run.path, "audio").first)
    #expect(stream["channel_layout"].string == expected, "\(stream["channel_layout"])")
    let samples = try [UInt8](
      FFmpegTool.run(["-i", run.path, "-map", "0:a", "-f", "s16le", "-c:a", "pcm_s16le", "-"])
    ).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    let channels = stream["channels"].int ?? 1
    // The loudest channel while each tone sounds.
    let loudest = (0..<count).map { tone in
      let levels = (0..<channels).map { channel in
        (0..<2400).reduce(0.0) { sum, index in
          let place = ((tone * 4800 + 1200 + index) * channels) + channel
          return sum + (samples.indices.contains(place) ? abs(Double(samples[place])) : 0)
        }
      }
      return levels.firstIndex(of: levels.max() ?? 0) ?? 0
    }
    // A channel of bass has none of it, and a centre behind is in both sides.
    #expect(Set(loudest).count >= count - 2, "\(layout) in \(container): \(loudest)")
  }
}
