import Foundation
import Testing
import UprightTestSupport

/// A frame with hundreds of thousands of NAL units, for each of which libavcodec would allocate four KiB. The program
/// may have 500 MB. 2 s together.
@Suite("NAL units without a limit")
struct NALUnitTests {
  @Test(
    "Memory is bounded, and the other frames are there",
    arguments: [EncodedClip.Codec.h264, .hevc], ["mov", "mkv"])
  func bounded(_ codec: EncodedClip.Codec, _ ending: String) throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(codec, frames: 10, gop: 10, bFrames: 0)
    // A message without content.
    let unit: [UInt8] = codec == .h264 ? [6, 0x80] : [0x4E, 1, 0x80]
    let lengthAndUnit = MovieWriter.be(unit.count, 4) + unit
    clip.samples[5].bytes =
      Array(repeatElement(lengthAndUnit, count: 600_000).joined()) + clip.samples[5].bytes
    var track = MovieWriter.Track(handler: "vide", entry: clip.entry, samples: clip.samples)
    (track.width, track.height) = (64, 64)
    let movie = scratch.path("in.mov")
    try MovieWriter(timescale: clip.timescale, lastDuration: clip.frame, tracks: [track])
      .write(to: movie)
    let input = scratch.path("in.\(ending)")
    if ending != "mov" { try FFmpegTool.run("-i", [movie, "-c", "copy", input]) }
    let output = scratch.path("out.mp4")
    for words in [["probe"], ["transcode", "-o", output, "--size", "48x64"]] {
      let run = try ExternalTool("/usr/bin/env").outcome(
        ["bash", "-c", "ulimit -d 500000; exec \"$@\"", "-", CommandLineProgram.path] + words
          + [input])
      #expect(run.status == 0, "\(words[0]): \(run.errors)")
      guard words[0] == "transcode" else { continue }
      #expect(run.errors.contains("1 video packet could not be decoded"), "\(run.errors)")
    }
  }

  @Test(
    "A byte stream ends where an access unit has too many",
    arguments: [EncodedClip.Codec.h264, .hevc], [false, true])
  func stream(_ codec: EncodedClip.Codec, inTransport: Bool) throws {
    let scratch = try Scratch()
    let clip = try EncodedClip(codec, frames: 10, gop: 10, bFrames: 0)
    var track = MovieWriter.Track(handler: "vide", entry: clip.entry, samples: clip.samples)
    (track.width, track.height) = (64, 64)
    let movie = scratch.path("in.mov")
    try MovieWriter(timescale: clip.timescale, lastDuration: clip.frame, tracks: [track])
      .write(to: movie)
    let input = scratch.path("in.\(inTransport ? "ts" : "\(codec)")")
    try FFmpegTool.run("-i", [movie, "-c", "copy", input])
    let unit: [UInt8] = [0, 0, 1] + (codec == .h264 ? [6, 0x80] : [0x4E, 1, 0x80])
    let units = Array(repeatElement(unit, count: 600_000).joined())
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: input))
    try file.seekToEnd()
    try file.write(contentsOf: inTransport ? Self.packets(of: units) : Data(units))
    try file.close()
    for command in ["probe", "transcode --size 48x64 -o \(scratch.path("out.mp4"))"] {
      for line in ["\(command) \(input)", "\(command) - < <(cat \(input))"] {
        let run = try ExternalTool("/usr/bin/env").outcome(
          ["bash", "-c", "ulimit -d 300000; exec \(CommandLineProgram.path) \(line)"])
        #expect(run.status == 65, "\(line): \(run.errors)")
        #expect(run.errors.contains("more than 6144 NAL units"), "\(line): \(run.errors)")
      }
    }
  }

  /// Returns the packets of an MPEG transport stream with one PES packet of the PID of FFmpeg's first stream.
  private static func packets(of bytes: [UInt8]) -> Data {
    var data = Data()
    var rest = ([0, 0, 1, 0xE0, 0, 0, 0x80, 0, 0] + bytes)[...]
    var index = 0
    while rest.count >= 184 {
      data += [0x47, index == 0 ? 0x41 : 1, 0, 0x10 | UInt8(index & 15)] + rest.prefix(184)
      rest = rest.dropFirst(184)
      index += 1
    }
    return data
  }
}
