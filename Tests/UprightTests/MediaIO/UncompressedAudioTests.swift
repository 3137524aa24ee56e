import Foundation
import Testing
import UprightTestSupport

/// Uncompressed audio of ISO/IEC 23003-5, whose `pcmC` libavformat before 6.0 ignores and later releases read.
@Suite("ipcm and fpcm")
struct UncompressedAudioTests {
  /// Writes a clip with a sine of 440 Hz, at a tenth of the full scale, in the codec `name`.
  private static func clip(_ path: String, _ name: String, channels: Int) throws {
    // QuickTime's big-endian types have the same samples. The bytes of little-endian ones are the same too.
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=10:d=0.5 -f lavfi -i "
        + "aevalsrc=0.1*sin(2*PI*440*t):s=48000:d=0.5 -ac \(channels) -c:v libx264 -c:a pcm_\(name) -f mov",
      [path])
    let (isFloat, isLittle) = (name.hasPrefix("f"), name.hasSuffix("le"))
    let bits = Int(name.filter(\.isNumber)) ?? 0
    let configuration = MovieWriter.box(
      "pcmC", MovieWriter.be(0, 4) + [isLittle ? 1 : 0, UInt8(bits)])
    let fields =
      MovieWriter.be(0, 6) + MovieWriter.be(1, 2) + MovieWriter.be(0, 8)
      + MovieWriter.be(channels, 2) + MovieWriter.be(16, 2) + MovieWriter.be(0, 4)
      + MovieWriter.be(48000 << 16, 4)
    try MoviePatch.entry(of: 1, in: path) { _ in
      MovieWriter.box(isFloat ? "fpcm" : "ipcm", fields + configuration)
    }
  }

  /// Decodes the audio and returns its samples, -1...1.
  private static func samples(_ path: String) throws -> [Double] {
    let data = try FFmpegTool.run(
      ["-i", path, "-map", "0:a:0", "-ac", "1", "-f", "s16le", "-ar", "48000", "-"])
    return [UInt8](data).withUnsafeBytes { bytes in
      bytes.bindMemory(to: Int16.self).map { Double(Int16(littleEndian: $0)) / 32768 }
    }
  }

  // 1.5 s for all.
  @Test(
    "The samples are those that pcmC declares",
    arguments: [
      "s16le", "s16be", "s24le", "s24be", "s32le", "s32be", "f32le", "f32be", "f64le", "f64be",
    ])
  func formats(_ name: String) throws {
    let scratch = try Scratch()
    for (channels, output) in [(1, "out.mp4"), (2, "out.mkv")] {
      let input = scratch.path("\(name)-\(channels).mp4")
      try Self.clip(input, name, channels: channels)
      let run = try Transcoded(input, to: scratch.path(output)) { $0.quick() }
      #expect(run.result.output.dropped.isEmpty, "\(run.result.output.dropped)")
      let samples = try Self.samples(run.path).dropFirst(4800).prefix(14400)
      try #require(samples.count == 14400)
      let level = (samples.map { $0 * $0 }.reduce(0, +) / Double(samples.count)).squareRoot()
      // FFmpeg made two channels from one, 3 dB lower.
      let crossings = zip(samples, samples.dropFirst()).count { $0 < 0 && $1 >= 0 }
      #expect(abs(level - (channels == 1 ? 0.0707 : 0.05)) < 0.005, "\(name): level \(level)")
      #expect(abs(crossings - 132) <= 2, "\(name): \(crossings) periods")
    }
  }

  @Test("A sample size that no codec has is refused, with the field's name")
  func unknown() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    try Self.clip(input, "s24le", channels: 1)
    try MoviePatch.entry(of: 1, in: input) { entry in Array(entry.dropLast()) + [20] }
    let run = try #require(throws: (any Error).self) {
      try Transcoded(input, to: scratch.path("out.mp4"))
    }
    #expect("\(run)".contains("20 bits") && "\(run)".contains("pcmC"), "\(run)")
  }
}
