import Foundation
import Testing
import UprightTestSupport

/// MP4 from a pipe can't be presented by its sample tables, which are read apart. What its edit list hides at the
/// start is hidden all the same. 3 s together.
@Suite("Edit lists of MP4 in a pipe")
struct PipedMovieTests {
  /// Returns a clip that is cut 0.4 s after a keyframe, as FFmpeg cuts: 42 frames and 1.708 s of audio are shown.
  private static func clip(_ scratch: Scratch, audio: String, flags: String) throws -> String {
    let whole = scratch.path("whole.mov")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=128x96:r=24:d=4 -f lavfi -i sine=f=440:d=4:r=48000 -c:v libx264 -bf 2",
      [
        "-g", "24", "-x264-params", "b-adapt=0", "-c:a", audio, "-video_track_timescale", "12288",
        whole,
      ])
    let path = scratch.path("in.mov")
    try FFmpegTool.run([
      "-ss", "1.3", "-t", "1.7", "-i", whole, "-c", "copy", "-movflags", flags, path,
    ])
    return path
  }

  @Test(
    "As many frames and samples as from the file", arguments: ["aac", "pcm_s16le"],
    ["faststart", "frag_keyframe+delay_moov"])
  func cut(_ audio: String, _ flags: String) throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, audio: audio, flags: flags)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: input))
    for output in ["mp4", "mkv", "ts"] {
      let (file, piped) = (scratch.path("file.\(output)"), scratch.path("piped.\(output)"))
      let options = ["--reencode", "always", "--speed", "ultrafast"]
      for (source, path) in [(input, file), ("-", piped)] {
        let run = try Upright.run(
          ["transcode", source, "-o", path] + options, input: .pipe(bytes))
        #expect(run.status == 0, "\(run.lines)")
      }
      let frames = try [file, piped].map { try FFmpegTool.frames($0).count }
      #expect(frames[0] == frames[1] && frames[0] == 42, "\(output): \(frames)")
      let samples = try [file, piped].map {
        try FFmpegTool.run(["-i", $0, "-map", "0:a", "-f", "s16le", "-"]).count / 2
      }
      // The file's end is cut to the sample, too.
      #expect(samples[1] - samples[0] <= 1024, "\(output): \(samples)")
      #expect(samples[1] >= samples[0] - 1024, "\(output): \(samples)")
    }
  }

  @Test("65: an index behind the frames")
  func indexAtEnd() throws {
    let scratch = try Scratch()
    let path = scratch.path("in.mp4")
    // What libavformat has in its buffer it can read again: a megabyte is more.
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=320x240:r=10:d=2,noise=alls=80:allf=t -c:v mjpeg -q:v 2", [path])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for words in [["transcode", "-", "-o", scratch.path("out.mp4")], ["probe", "-"]] {
      let run = try Upright.run(words, input: .pipe(bytes))
      #expect(run.status == 65)
      #expect(run.errors.contains("its index is behind its frames, and it can't be read twice"))
    }
  }
}
