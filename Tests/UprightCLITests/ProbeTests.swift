import Foundation
import Testing
import UprightTestSupport

/// The output of `upright probe`, and the warnings of `transcode` about invalid signals.
@Suite("Signals on the command line", .enabled(if: FFmpegTool.isHere, "needs ffmpeg"), .serialized)
struct ProbeTests {
  @Test("All sources over time, including those that aren't applied")
  func table() throws {
    let scratch = try Scratch()
    let path = try EncodedClip.writeSignals(in: scratch)
    let outcome = try Upright.run(["probe", path])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    let expected = """
      \(path): mov,mp4,m4a,3gp,3g2,mj2
        stream 0  video h264 64x64
        stream 1  data mebx
        at 0.0 s, frame 0: mebx is right: turn 90 degrees clockwise
        at 0.0 s, frame 0: trackMatrix is downMirrored: mirror left and right, then turn 180 degrees clockwise (not applied: a signal of higher precedence is present)
        at 0.16 s, frame 4: mebx ends
        at 0.16 s, frame 4: trackMatrix is downMirrored: mirror left and right, then turn 180 degrees clockwise
        at 0.4 s, frame 10: sei is left: turn 270 degrees clockwise
        at 0.6 s, frame 15: sei ends
        at 0.6 s, frame 15: trackMatrix is downMirrored: mirror left and right, then turn 180 degrees clockwise
        at 0.8 s, frame 20: sei is left: turn 265.0 degrees clockwise, rounded to a quarter turn

      """
    #expect(outcome.text == expected, "\(outcome.text)")
  }

  @Test("The same as JSON")
  func json() throws {
    let scratch = try Scratch()
    let outcome = try Upright.run(["probe", try EncodedClip.writeSignals(in: scratch), "--json"])
    let signals = outcome.json["signals"].array
    #expect(
      signals.map { $0["source"].string } == [
        "mebx", "trackMatrix", "mebx", "trackMatrix", "sei", "sei", "trackMatrix", "sei",
      ])
    #expect(signals.map { $0["frame"].int } == [0, 0, 4, 4, 10, 15, 15, 20])
    #expect(
      signals.map { $0["applies"].bool } == [true, false, false, true, true, false, true, true])
    #expect(
      signals.map { $0["orientation"].string } == [
        "right", "downMirrored", nil, "downMirrored", "left", nil, "downMirrored", "left",
      ])
    #expect(signals[4]["degrees"].int == 270 && signals[2]["degrees"].int == nil)
    #expect(abs((signals[7]["degrees"].double ?? 0) - 265) < 0.01)
    #expect(signals[1]["mirrored"].bool == true && signals[4]["mirrored"].bool == false)
  }

  @Test("Several files: as text, or as an array of JSON; one that fails doesn't stop the others")
  func several() throws {
    let scratch = try Scratch()
    let clip = try EncodedClip.writeSignals(in: scratch)
    let broken = try scratch.file("broken.mp4", "no clip at all")
    let inputs = [clip, broken, Clip.lying]
    let outcome = try Upright.run(["probe"] + inputs)
    #expect(outcome.status == 65 && outcome.lines.count == 1, "\(outcome.errors)")
    #expect(outcome.errors.contains(broken), "\(outcome.errors)")
    let alone = try [clip, Clip.lying].map { try Upright.run(["probe", $0]).text }
    #expect(outcome.text == alone.joined(separator: "\n"))
    let entries = try Upright.run(["probe", "--json"] + inputs).json.array
    #expect(entries.map { $0["input"].string } == inputs)
    let signals = try Upright.run(["probe", "--json", clip]).json["signals"]
    #expect(entries.first?["signals"] == signals && !signals.array.isEmpty)
    #expect(entries.dropFirst().first?["error"]["exit"].int == 65)
    try refuse(64, ["probe", clip, "-"], "standard input", in: scratch)
  }

  @Test("Angles between quarter turns: exit status 0 and one warning for all of them")
  func absurd() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 12, gop: 12, bFrames: 0)
    for frame in 0..<6 {
      clip.insert(nal: EncodedClip.displayOrientation(3000 + frame), atShown: frame)
    }
    let path = scratch.path("clip.mp4")
    try clip.movie.write(to: path)
    let outcome = try Upright.run(["transcode", path, "-o", scratch.path("out.y4m")])
    #expect(outcome.status == 0)
    #expect(outcome.warnings.count == 1, "\(outcome.lines)")
    #expect(outcome.warnings.first?.contains("not a multiple of 90 degrees") == true)
    // Signals are ignored with --frames upright, so there is no warning.
    let upright = try Upright.run([
      "transcode", path, "-o", scratch.path("up.y4m"), "--frames", "upright",
    ])
    #expect(upright.status == 0 && upright.warnings.isEmpty, "\(upright.lines)")
  }

  @Test("Invalid FLV metadata: exit status 0 and one warning, also of probe", .long)
  func senseless() throws {
    let scratch = try Scratch()
    let clip = try EncodedClip(.h264, frames: 12, gop: 12, bFrames: 0)
    let (movie, path) = (scratch.path("clip.mp4"), scratch.path("clip.flv"))
    try clip.movie.write(to: movie)
    try FFmpegTool.run(["-i", movie, "-c", "copy", path])
    var patch = try FLVPatch(path: path)
    for picture in [0, 3, 6] {
      try patch.insert([("orientation", .text("sideways"))], beforeFrame: picture)
    }
    try patch.write(to: path)
    for arguments in [["transcode", path, "-o", scratch.path("out.y4m")], ["probe", path]] {
      let outcome = try Upright.run(arguments)
      #expect(outcome.status == 0)
      #expect(outcome.problems.count == 1, "\(outcome.lines)")
      #expect(outcome.problems.first?.contains("\"sideways\"") == true)
    }
    // The same through a pipe, which can't be read twice.
    let piped = try Upright.run(
      ["transcode", "-", "-o", scratch.path("piped.y4m")],
      input: .pipe(Data(contentsOf: URL(fileURLWithPath: path))))
    #expect(piped.status == 0 && piped.warnings.contains { $0.contains("\"sideways\"") })
  }

  @Test("A codec change mid-stream: exit status 0 and one warning with the loss; --strict: 65")
  func codecChange() throws {
    let scratch = try Scratch()
    var bytes = Data()
    for (index, codec) in ["libx264", "mpeg2video"].enumerated() {
      let part = scratch.path("\(index).ts")
      try FFmpegTool.run([
        "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25", "-frames:v", "10", "-pix_fmt", "yuv420p",
        "-c:v", codec, "-bf", "0", "-output_ts_offset", "\(Double(index) * 0.4)", part,
      ])
      bytes += try Data(contentsOf: URL(fileURLWithPath: part))
    }
    let path = try scratch.file("both.ts", bytes)
    let outcome = try Upright.run(["transcode", path, "-o", scratch.path("out.mp4")])
    #expect(outcome.status == 0)
    #expect(outcome.warnings.count == 1, "\(outcome.lines)")
    #expect(outcome.warnings.first?.contains("goes on in another codec") == true)
    let strict = try Upright.run([
      "transcode", path, "-o", scratch.path("strict.mp4"), "--strict",
    ])
    #expect(strict.status == 65 && strict.lines.count == 1, "\(strict.lines)")
  }
}
