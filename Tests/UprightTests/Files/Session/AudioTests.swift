import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Audio is copied if the container supports the codec, and re-encoded if it doesn't. It is in sync either
/// way.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized, .tags(.lengthy))
struct AudioTests {
  /// One AAC frame at 48 kHz.
  private static let frame = 1024.0 / 48000

  @Test(
    "Flash and beep stay in sync within one audio frame", .long,
    arguments: Loop.cases(
      ["out.m3u8", "out.mp4", "out.webm", "out.mov", "out.ts", "out.flv", "out.mkv"], test: 3))
  func together(_ name: String) throws {
    let scratch = try Scratch()
    let before = try FlashAndBeep(path: Samples.withAudio)
    try #require(before.flashes.count == 5 && before.beeps.count == 5)
    let run = try Transcoded(Samples.withAudio, to: scratch.path(name)) {
      $0.size = .pair(PixelSize(360, 640))
      if !name.hasSuffix("webm") { $0.quick() }
    }
    #expect(run.result.output.frames == 150)
    let after = try FlashAndBeep(path: run.path)
    #expect(after.flashes.count == 5 && after.beeps.count == 5, "\(after)")
    let drift = zip(before.offsets, after.offsets).map { abs($0 - $1) }.max() ?? 1
    figure("sync \(name): offset moved by \(drift * 1000) ms at most")
    #expect(drift <= Self.frame, "\(before.offsets) became \(after.offsets)")
    // The flashes keep their times, apart from a common offset.
    let shift = (after.flashes.first ?? 0) - (before.flashes.first ?? 0)
    #expect(
      zip(before.flashes, after.flashes).allSatisfy { abs($1 - $0 - shift) < 0.0011 },
      "\(after.flashes)")
  }

  @Test(
    "Audio that the container supports is copied bit by bit",
    arguments: Loop.cases(
      ["out.mp4", "out.ts", "out.m3u8", "out.mov", "out.flv", "out.mkv"], test: 3))
  func copied(_ name: String) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.withAudio, to: scratch.path(name)) {
      $0.size = .pair(PixelSize(180, 320))
      $0.quick()
    }
    var path = run.path
    if name.hasSuffix("ts") {
      // Remuxing to MP4 removes the ADTS headers, which MPEG-TS requires.
      path = scratch.path("bare.mp4")
      try FFmpegTool.run(["-i", run.path, "-map", "0:a", "-c", "copy", path])
    }
    let theirs = try FFmpegTool.packets(Samples.withAudio, "a:0", hashes: true)
    let ours = try FFmpegTool.packets(path, "a:0", hashes: true)
    #expect(theirs.count == ours.count)
    #expect(theirs.map(\.hash) == ours.map(\.hash))
    #expect(theirs.allSatisfy { $0.hash != nil })
  }

  struct Foreign: CustomTestStringConvertible, Sendable {
    let coder: String
    let output: String
    let codec: String
    var testDescription: String { "\(coder) in \(output)" }
  }

  @Test(
    "Audio that the container doesn't support is re-encoded, and stays in sync", .long,
    arguments: Loop.cases(
      [
        Foreign(coder: "libopus", output: "out.m3u8", codec: "aac"),
        Foreign(coder: "flac", output: "out.webm", codec: "opus"),
        Foreign(coder: "pcm_s16le", output: "out.mp4", codec: "aac"),
        Foreign(coder: "ac3", output: "out.flv", codec: "aac"),
        Foreign(coder: "libopus", output: "out.flv", codec: "aac"),
        Foreign(coder: "libvorbis", output: "out.m3u8", codec: "aac"),
        Foreign(coder: "libvorbis", output: "out.mp4", codec: "aac"),
        Foreign(coder: "libopus", output: "out.ts", codec: "aac"),
        Foreign(coder: "libmp3lame", output: "out.webm", codec: "opus"),
        Foreign(coder: "libopus", output: "out.webm", codec: "opus"),
        Foreign(coder: "libmp3lame", output: "out.m3u8", codec: "aac"),
        Foreign(coder: "ac3", output: "out.mp4", codec: "ac3"),
      ], test: 3))
  func foreign(_ test: Foreign) throws {
    let scratch = try Scratch()
    let input = scratch.path("source.mkv")
    try FFmpegTool.run([
      "-i", Samples.withAudio, "-vf", "scale=160:90", "-c:v", "libx264", "-preset", "ultrafast",
      "-c:a", test.coder, "-b:a", "128k", "-strict", "-2", input,
    ])
    let before = try FlashAndBeep(path: input)
    let run = try Transcoded(input, to: scratch.path(test.output)) {
      $0.size = .pair(PixelSize(90, 160))
      if !test.output.hasSuffix("webm") { $0.quick() }
    }
    let audio = try #require(try FFmpegTool.streams(run.path, "audio").first)
    #expect(audio["codec_name"].string == test.codec)
    #expect(audio["channels"].int == 2)
    let after = try FlashAndBeep(path: run.path)
    try #require(before.beeps.count == 5)
    #expect(after.beeps.count == 5 && after.flashes.count == 5)
    let drift = zip(before.offsets, after.offsets).map { abs($0 - $1) }.max() ?? 1
    figure("sync \(test.testDescription): offset moved by \(drift * 1000) ms at most")
    #expect(drift <= Self.frame, "\(before.offsets) became \(after.offsets)")
    #expect(run.result.warnings.isEmpty, "\(run.result.warnings)")
  }

  /// Encodes the turning phone with a tone, B-frames and a variable frame rate: the hardest case for a
  /// container whose format changes.
  static func turningWithAudio(in scratch: Scratch, variable: Bool = true) throws -> String {
    let path = scratch.path("turning.mp4")
    // Every frame is up to 23 ms late, and some intervals are 133 ms longer. Ticks of 1/30000.
    let uneven = variable ? "select='gt(mod(n,5),0)+lt(n,50)',setpts=PTS+mod(N*373\\,700)," : ""
    try FFmpegTool.run([
      "-i", Samples.turning, "-f", "lavfi", "-i", "sine=f=440:r=48000:d=10", "-vf",
      "\(uneven)scale=320:180", "-fps_mode", "passthrough", "-enc_time_base", "1:30000", "-c:v",
      "libx264", "-preset", "veryfast", "-bf", "3", "-b_strategy", "0",
      "-video_track_timescale", "30000", "-c:a", "aac", path,
    ])
    return path
  }

  @Test("Every audio frame is in the HLS segment of its PTS", .long)
  func hlsSegments() throws {
    let scratch = try Scratch()
    let input = try Self.turningWithAudio(in: scratch)
    let output = try Scratch()
    let run = try Transcoded(
      input, to: output.path("out.m3u8"), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.size = .pair(PixelSize(180, 320))
      $0.segmentDuration = 1
    }
    let playlist = try Playlist(path: run.path)
    #expect(playlist.maps.count == 3)
    var audio: [FFmpegTool.Packet] = []
    var pictures = 0
    var starts: [Double] = []
    var audioOf: [[FFmpegTool.Packet]] = []
    for segment in playlist.segments {
      var bytes = try Data(contentsOf: URL(fileURLWithPath: output.path(segment.map)))
      bytes += try Data(contentsOf: URL(fileURLWithPath: output.path(segment.file)))
      let whole = scratch.path("whole.mp4")
      try bytes.write(to: URL(fileURLWithPath: whole))
      let video = try FFmpegTool.packets(whole, "v:0")
      #expect(video.first?.isKey == true, "\(segment.file)")
      starts.append(video.compactMap(\.time).min() ?? .nan)
      #expect(video.first?.time == starts.last)
      pictures += video.count
      let packets = try FFmpegTool.packets(whole, "a:0", hashes: true)
      audioOf.append(packets)
      audio += packets
      // EXTINF is the duration of the segment's video.
    }
    #expect(pictures == run.result.output.frames)
    for (index, packets) in audioOf.enumerated() {
      for packet in packets {
        let time = try #require(packet.time)
        if index > 0 { #expect(time >= starts[index] - 1e-5, "\(playlist.segments[index].file)") }
        if index + 1 < starts.count {
          #expect(time < starts[index + 1] + 1e-5, "\(playlist.segments[index].file)")
        }
      }
    }
    for index in starts.indices.dropLast() {
      let length = starts[index + 1] - starts[index]
      #expect(abs(length - playlist.segments[index].duration) < 1e-4)
    }
    let theirs = try FFmpegTool.packets(input, "a:0", hashes: true)
    #expect(audio.map(\.hash) == theirs.map(\.hash))
    // Times continue across the discontinuities. Audio and video are shifted equally.
    let shift = (audio.first?.time ?? 0) - (theirs.first?.time ?? 0)
    #expect(
      zip(audio, theirs).allSatisfy { abs(($0.time ?? 0) - ($1.time ?? 0) - shift) < 2e-5 })
    let first = try FFmpegTool.frames(input).first?.time ?? 0
    #expect(abs((starts.first ?? 0) - first - shift) < 2e-5)
  }

  @Test(
    "B-frames, a variable frame rate and rotations: the source's times, to the tick", .long,
    arguments: Loop.cases(["out.m3u8", "out.mp4", "out.ts", "out.mov", "out.flv"], test: 2))
  func variableRate(_ name: String) throws {
    let scratch = try Scratch()
    let input = try Self.turningWithAudio(in: scratch)
    let output = try Scratch()
    let run = try Transcoded(input, to: output.path(name), events: Samples.turningEvents()) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(180, 320))
      $0.encoderOptions = ["bf": "3", "b_strategy": "0"]
    }
    let theirs = try FFmpegTool.frames(input)
    let packets = try FFmpegTool.packets(run.path, "v:0")
    #expect(packets.count == theirs.count)
    let dts = packets.compactMap(\.dts)
    #expect(zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 }, "DTS must rise strictly")
    #expect(packets.allSatisfy { ($0.dts ?? 0) <= ($0.pts ?? 0) })
    // Without reordering, this test would prove little.
    #expect(packets.contains { $0.pts != $0.dts })
    let base = try #require(try FFmpegTool.streams(run.path, "video").first?["time_base"].string)
    let pts = packets.compactMap(\.pts).sorted()
    let expected = theirs.compactMap(\.pts)
    if base == "1/30000" {
      let shift = name == "out.m3u8" ? (pts.first ?? 0) - (expected.first ?? 0) : 0
      #expect(pts.map { $0 - shift } == expected)
    } else {
      let grain = base == "1/90000" ? 1.0 / 90_000 : 0.0011
      let times = packets.compactMap(\.time).sorted()
      let shift = (times.first ?? 0) - (theirs.first?.time ?? 0)
      let worst = zip(times, theirs).map { abs($0 - ($1.time ?? 0) - shift) }.max() ?? 1
      #expect(worst <= grain, "\(base): off by \(worst) s")
    }
    // The offset of the audio to the video is the source's.
    let audio = try FFmpegTool.packets(run.path, "a:0")
    let before = try FFmpegTool.packets(input, "a:0")
    #expect(audio.count == before.count)
    let decodeFirstFrame = packets.compactMap(\.time).min() ?? 0
    let moved =
      ((audio.first?.time ?? 0) - decodeFirstFrame)
      - ((before.first?.time ?? 0) - (theirs.first?.time ?? 0))
    #expect(abs(moved) <= 0.0021, "audio moved by \(moved) s")
  }

  @Test("Opus in WebM is in sync", .long)
  func opusDelay() throws {
    let scratch = try Scratch()
    let before = try FlashAndBeep(path: Samples.withAudio)
    let made = try Transcoded(Samples.withAudio, to: scratch.path("made.webm")) {
      $0.size = .pair(PixelSize(360, 640))
    }
    // A second run copies the audio, whose delay is then the source's.
    let copied = try Transcoded(made.path, to: scratch.path("copied.mkv")) { $0.quick() }
    for run in [made, copied] {
      let after = try FlashAndBeep(path: run.path)
      try #require(after.beeps.count == 5 && after.flashes.count == 5)
      let drift = zip(before.offsets, after.offsets).map { abs($0 - $1) }.max() ?? 1
      figure("sync of Opus: offset moved by \(drift * 1000) ms at most")
      #expect(drift < 0.0016, "\(before.offsets) became \(after.offsets)")
    }
  }

  @Test("Audio stored two seconds after its frames is complete up to the cut")
  func coarse() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x64:r=25:d=4 -f lavfi -i sine=f=440:r=48000:d=4 -c:v libx264 -preset "
        + "ultrafast -g 50 -c:a aac -movflags frag_keyframe+empty_moov \(input)")
    let run = try Transcoded(input, to: scratch.path("out.mp4")) { $0.end = 0.6 }
    #expect(run.result.output.frames == 15)
    let last = try #require(try FFmpegTool.packets(run.path, "a:0").compactMap(\.time).last)
    #expect(last > 0.55 && last < 0.6, "\(last)")
  }

  @Test("Fragmented output to a pipe keeps a variable frame rate's times, to the tick", .long)
  func fragments() throws {
    let scratch = try Scratch()
    let input = try Self.turningWithAudio(in: scratch)
    let pipe = scratch.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let output = scratch.path("out.mp4")
    let isRead = DispatchSemaphore(value: 0)
    Thread {
      let bytes = try? ExternalTool("cat").run([pipe], timeout: 60).output
      try? bytes?.write(to: URL(fileURLWithPath: output))
      isRead.signal()
    }.start()
    _ = try Transcoded(input, to: pipe, format: "mp4") {
      $0.size = .pair(PixelSize(90, 160))
      $0.gop = 20
      $0.overwrites = true
      $0.quick()
    }
    #expect(isRead.wait(timeout: .now() + 70) == .success)
    for track in ["v:0", "a:0"] {
      let before = try FFmpegTool.packets(input, track).compactMap(\.time).sorted()
      let after = try FFmpegTool.packets(output, track).compactMap(\.time).sorted()
      #expect(before.count == after.count)
      let worst = zip(before, after).map { abs($0 - $1) }.max() ?? 1
      #expect(worst < 1e-5, "\(track): off by \(worst) s")
    }
  }

  /// Encodes four seconds of a PCM tone whose times are changed by the expression `times`, next to 30
  /// seconds of video.
  private static func uneven(_ scratch: Scratch, _ times: String) throws -> String {
    let path = scratch.path("uneven.mkv")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=30", "-f", "lavfi", "-i",
      "sine=f=440:r=48000:d=4:samples_per_frame=960", "-map", "0", "-map", "1", "-c:v", "libx264",
      "-preset", "ultrafast", "-c:a", "pcm_s16le", "-af",
      "asetpts='\(times)'", "-bsf:a", "setts=pts=PTS", "-copyts", path,
    ])
    return path
  }

  @Test(
    "Re-encoded audio keeps its times across gaps, overlaps and pauses", .long,
    arguments: [
      // The jump in the middle in seconds, and the end: a gap, an overlap, a long pause.
      (1.0, 5.0), (-0.5, 3.5), (15.0, 19.0),
    ])
  func uneven(_ jump: Double, _ end: Double) throws {
    let scratch = try Scratch()
    let input = try Self.uneven(scratch, "PTS+if(gte(N\\,96000)\\,\(jump)/TB\\,0)")
    let theirs = try FFmpegTool.packets(input, "a:0")
    try #require(abs((theirs.last?.time ?? 0) - end) < 0.1, "the source is wrong")
    let run = try Transcoded(input, to: scratch.path("out.mp4")) { $0.quick() }
    let packets = try FFmpegTool.packets(run.path, "a:0")
    let last = try #require(packets.last?.time)
    #expect(abs(last - end) < 0.06, "audio ends at \(last) s, not \(end)")
    if jump > 10 {
      let gaps = zip(packets, packets.dropFirst()).map { ($1.time ?? 0) - ($0.time ?? 0) }
      #expect((gaps.max() ?? 0) > 14, "\(gaps.max() ?? 0)")
    }
  }
}
