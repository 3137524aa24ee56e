import Foundation
import Testing
import UprightTestSupport

/// Transport streams whose streams go on in another codec on the same PID. libavformat keeps one codec for a stream:
/// what the decoder makes of the rest, if anything, says nothing about the loss. 5 s together.
@Suite("Codecs that change in mid-stream")
struct CodecChangeTests {
  /// Returns ten frames in each codec, or as many as last `seconds`, with audio if it has codecs too.
  private static func clip(
    _ scratch: Scratch, video: [String], audio: [String] = [], seconds: Double = 0.4
  ) throws -> String {
    var bytes = Data()
    for (index, codec) in video.enumerated() {
      let path = scratch.path("\(index).ts")
      let sound = audio.isEmpty ? "" : "-f lavfi -i sine=r=48000:d=\(seconds) -c:a \(audio[index])"
      try FFmpegTool.run(
        "-f lavfi -i testsrc2=s=96x64:r=25:d=\(seconds) \(sound) -c:v \(codec) -pix_fmt yuv420p -bf 0",
        (codec == "libx265" ? ["-x265-params", "log-level=none:bframes=0"] : [])
          + ["-muxdelay", "0", "-output_ts_offset", "\(seconds * Double(index))", path])
      bytes += try Data(contentsOf: URL(fileURLWithPath: path))
    }
    return try scratch.file("in.ts", bytes)
  }

  private static let loss = "goes on in another codec"

  @Test(
    "The frames before the change are there, and the loss is named",
    arguments: [
      ["libx264", "mpeg2video"], ["mpeg2video", "libx264"], ["libx264", "libx265"],
      ["libx265", "libx264"], ["mpeg2video", "libx265"], ["libx265", "mpeg2video"],
    ], [false, true])
  func video(_ codecs: [String], piped: Bool) throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, video: codecs)
    let output = scratch.path("out.mp4")
    func run(_ options: [String]) throws -> Upright.Outcome {
      try Upright.run(
        ["transcode", piped ? "-" : input, "-o", output, "-y"] + options,
        input: piped ? .pipe(Data(contentsOf: URL(fileURLWithPath: input))) : .nothing)
    }
    let outcome = try run([])
    #expect(outcome.status == 0, "\(outcome.lines)")
    #expect(outcome.warnings.count == 1, "\(outcome.lines)")
    #expect(outcome.warnings.first?.contains(Self.loss) == true, "\(outcome.lines)")
    #expect(try FFmpegTool.frames(output).count == 10)
    let strict = try run(["--strict"])
    #expect(strict.status == 65 && strict.lines.count == 1, "\(strict.lines)")
  }

  @Test("Nothing is lost of a part before the change")
  func part() throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, video: ["libx264", "mpeg2video"], seconds: 4)
    let options = ["-o", scratch.path("out.mp4"), "--strict", "--to", "0.4"]
    let outcome = try Upright.run(["transcode", input] + options)
    #expect(outcome.status == 0 && outcome.warnings.isEmpty, "\(outcome.lines)")
  }

  @Test("Audio as well, of which the first part is there")
  func audio() throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, video: ["libx264", "libx264"], audio: ["ac3", "aac"])
    let output = scratch.path("out.mp4")
    let outcome = try Upright.run(["transcode", input, "-o", output])
    #expect(outcome.status == 0 && outcome.warnings.count == 1, "\(outcome.lines)")
    #expect(
      outcome.warnings.first?.contains("stream 1 (audio, ac3) \(Self.loss) (aac)") == true,
      "\(outcome.lines)")
    #expect(try FFmpegTool.frames(output).count == 20)
  }

  @Test("`tag` and `probe` name it too")
  func others() throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, video: ["libx264", "mpeg2video"])
    let output = scratch.path("out.ts")
    for arguments in [["probe", input], ["tag", input, "-o", output, "--orientation", "6"]] {
      let outcome = try Upright.run(arguments)
      #expect(outcome.status == 0, "\(outcome.lines)")
      #expect(outcome.warnings.contains { $0.contains(Self.loss) }, "\(outcome.lines)")
    }
  }

  @Test("The same codec in both parts, with new tables: nothing is lost")
  func same() throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, video: ["libx264", "libx264"], audio: ["aac", "aac"])
    let output = scratch.path("out.mp4")
    let outcome = try Upright.run(["transcode", input, "-o", output, "--strict"])
    #expect(outcome.status == 0 && outcome.warnings.isEmpty, "\(outcome.lines)")
    #expect(try FFmpegTool.frames(output).count == 20)
  }
}
