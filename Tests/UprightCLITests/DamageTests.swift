import Foundation
import Testing
import UprightTestSupport

@Suite("Invalid media")
struct DamageTests {
  private static let quick = ["--speed", "ultrafast", "-y"]

  @Test("65: no media, or media without video", .long)
  func noMedia() throws {
    let scratch = try folderWithOutput()
    let out = ["-o", scratch.path("out.mp4"), "-y"]
    let audio = scratch.path("audio.m4a")
    try FFmpegTool.run(["-f", "lavfi", "-i", "sine=d=0.2", audio])
    let random = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 >> 3) })
    let inputs: [(String, String)] = [
      (try scratch.file("empty.mp4", ""), "empty.mp4"),
      (try scratch.file("text.mp4", "Dear diary,\n"), "text.mp4"),
      (try scratch.file("text.ts", "Dear diary,\n"), "text.ts"),
      (try scratch.file("noise.mp4", random), "noise.mp4"),
      (try scratch.file("zeros.mp4", Data(count: 100_000)), "zeros.mp4"),
      (audio, "no video stream"),
    ]
    for (input, word) in inputs {
      try refuse(65, ["transcode", input] + out, word, in: scratch)
    }
    for (input, word) in inputs.dropLast() { try refuse(65, ["probe", input], word, in: scratch) }
  }

  @Test(
    "65: a playlist or a script with the name of a media file; files that it names are not read",
    .long,
    arguments: [
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nbeside.mp4\n#EXT-X-ENDLIST\n",
      "ffconcat version 1.0\nfile beside.mp4\n",
    ])
  func disguise(_ script: String) throws {
    let scratch = try folderWithOutput()
    _ = try scratch.copy(Clip.lying, as: "beside.mp4")
    for name in ["clip.mp4", "clip.mov", "clip.ts", "clip"] {
      let input = try scratch.file(name, script)
      try refuse(
        65, ["transcode", input, "-o", scratch.path("out.mp4"), "-y"], "not read", name, in: scratch
      )
      try refuse(65, ["probe", input], name, in: scratch)
    }
    // The same from standard input.
    try refuse(
      65, ["transcode", "-", "-o", scratch.path("out.mp4"), "-y"], "not read", in: scratch,
      input: .pipe(Data(script.utf8)))
  }

  @Test(
    "A truncated faststart MP4: all frames that FFmpeg decodes, and one warning with the loss",
    .long)
  func cutWithIndex() throws {
    let scratch = try Scratch()
    let whole = try bytes(Clip.withAudio)
    for percent in [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99] {
      let clip = try scratch.file("cut.mp4", whole.prefix(whole.count * percent / 100))
      let output = scratch.path("out.mp4")
      try? FileManager.default.removeItem(atPath: output)
      let expected = decodable(clip)
      let run = try Upright.run(
        ["transcode", clip, "-o", output, "--report", scratch.path("r.json")] + Self.quick)
      guard expected > 0 else {
        #expect(run.status == 65, "\(percent) %: \(run.errors)")
        #expect(scratch.names.contains("out.mp4") == false)
        continue
      }
      #expect(run.status == 0, "\(percent) %: \(run.errors)")
      #expect(try frames(output) == expected, "\(percent) %")
      #expect(run.warnings.count == 1, "\(percent) %: \(run.errors)")
      let report = try json(scratch.path("r.json"))
      #expect(report["output"]["frames"].int == expected)
      #expect(report["warnings"].array.count == 1)
      #expect(report["warnings"][0].string?.contains("of 150 frames are not in the file") == true)
      let strict = try Scratch()
      try refuse(
        65, ["transcode", clip, "-o", strict.path("out.mp4"), "--strict"] + Self.quick,
        "of 150 frames are not in the file", clip, in: strict)
    }
    #expect(scratch.leftovers.isEmpty)
  }

  @Test("An AVI whose empty chunks repeat frames is whole; one that is cut off is not")
  func heldFrames() throws {
    let scratch = try Scratch()
    let whole = scratch.path("held.avi")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=50:d=1 -vf select='not(mod(n,2))' -fps_mode passthrough "
        + "-c:v mjpeg", [whole])
    let counted = try FFmpegTool.streams(whole)[0]["nb_frames"].string.flatMap(Int.init) ?? 0
    #expect(counted >= 49)
    let out = ["-o", scratch.path("out.mp4"), "--strict", "--size", "32x24"] + Self.quick
    let run = try Upright.run(["transcode", whole] + out)
    #expect(run.status == 0 && run.warnings.isEmpty, "\(run.errors)")
    #expect(try frames(scratch.path("out.mp4")) == 25)
    let bytes = try bytes(whole)
    let cut = try scratch.file("cut.avi", bytes.prefix(bytes.count / 2))
    let refused = try Upright.run(["transcode", cut] + out)
    #expect(refused.status == 65 && refused.errors.contains("are not in the file"))
  }

  @Test(
    "Matroska that is cut off has lost its end, if that is asked for", arguments: ["mkv", "webm"])
  func cutMatroska(_ kind: String) throws {
    let scratch = try Scratch()
    let whole = scratch.path("whole.\(kind)")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:d=4 -g 25 "
        + (kind == "mkv" ? "-c:v libx264" : "-c:v libvpx-vp9 -deadline realtime"), [whole])
    let bytes = try bytes(whole)
    let cut = try scratch.file("cut.\(kind)", bytes.prefix(bytes.count / 2))
    let out = ["-o", scratch.path("out.\(kind)"), "-y"]
    for options in [[], ["--size", "32x24"]] {
      let run = try Upright.run(["transcode", cut] + out + options)
      #expect(run.status == 0 && run.warnings.count == 1, "\(run.errors)")
      #expect(run.errors.contains("bytes of the file are missing"), "\(run.errors)")
      let strict = try Upright.run(["transcode", cut, "--strict"] + out + options)
      #expect(strict.status == 65 && strict.errors.contains("are missing"), "\(strict.errors)")
      let part = try Upright.run(["transcode", cut, "--strict", "--to", "0.5"] + out + options)
      #expect(part.status == 0 && part.warnings.isEmpty, "\(part.errors)")
      let plain = try Upright.run(["transcode", whole, "--strict"] + out + options)
      #expect(plain.status == 0 && plain.warnings.isEmpty, "\(plain.errors)")
    }
  }

  @Test("65: a truncated MP4 without its index", .long)
  func cutWithoutIndex() throws {
    let scratch = try folderWithOutput()
    let clip = scratch.path("end.mp4")
    try FFmpegTool.run(["-i", Clip.withAudio, "-c", "copy", clip])
    let whole = try bytes(clip)
    for percent in [1, 10, 50, 90, 99] {
      let cut = try scratch.file("cut.mp4", whole.prefix(whole.count * percent / 100))
      try refuse(
        65, ["transcode", cut, "-o", scratch.path("out.mp4"), "-y"], cut, in: scratch)
    }
  }

  @Test("A truncated MPEG-TS gives all frames that can be decoded", .long)
  func cutTransportStream() throws {
    let scratch = try Scratch()
    let clip = scratch.path("whole.ts")
    try FFmpegTool.run(["-i", Clip.withAudio, "-c", "copy", clip])
    let whole = try bytes(clip)
    for part in [0.02, 0.1, 0.33, 0.5, 0.77, 0.9, 0.999] {
      let cut = try scratch.file("cut.ts", whole.prefix(Int(Double(whole.count) * part)))
      let output = scratch.path("out.mp4")
      let run = try Upright.run(["transcode", cut, "-o", output] + Self.quick)
      #expect(run.status == 0, "\(part): \(run.errors)")
      #expect(try frames(output) == decodable(cut), "\(part)")
    }
    #expect(scratch.leftovers.isEmpty)
  }

  @Test(
    "Damaged bytes: decodable frames are written, the loss is reported, --strict refuses",
    .long,
    arguments: ["mp4", "ts"])
  func flipped(_ kind: String) throws {
    let scratch = try Scratch()
    let clip = scratch.path("whole." + kind)
    try FFmpegTool.run(["-i", Clip.withAudio, "-c", "copy", "-movflags", "+faststart", clip])
    let whole = try bytes(clip)
    for seed in 1...4 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var damaged = whole
      for _ in 0..<200 {
        let place = Int.random(in: whole.count * 2 / 5..<whole.count * 3 / 5, using: &random)
        damaged[place] ^= UInt8.random(in: 1...255, using: &random)
      }
      let input = try scratch.file("damaged." + kind, damaged)
      let output = scratch.path("out.mp4")
      let run = try Upright.run(
        ["transcode", input, "-o", output, "--report", scratch.path("r.json")] + Self.quick)
      #expect(run.status == 0, "seed \(seed): \(run.errors)")
      #expect(run.problems.count == 1, "seed \(seed): \(run.errors)")
      #expect(try json(scratch.path("r.json"))["warnings"].array.count == 1)
      let (ours, theirs) = (try frames(output), decodable(input))
      #expect(ours >= theirs - 2 && ours <= 150, "seed \(seed): \(ours) and \(theirs)")
      let strict = try Scratch()
      try refuse(
        65, ["transcode", input, "-o", strict.path("out.mp4"), "--strict"] + Self.quick, input,
        in: strict)
    }
    #expect(scratch.leftovers.isEmpty)
  }

  @Test("Dimensions that can't be decoded")
  func absurd() throws {
    let scratch = try folderWithOutput()
    // The sizes in the sample description and the track header are changed, but not the stream's.
    var clip = try bytes(Clip.lying)
    for name in ["avc1", "tkhd"] {
      guard let box = clip.range(of: Data(name.utf8)) else { continue }
      let place = box.upperBound + (name == "avc1" ? 24 : 76)
      clip.replaceSubrange(place..<place + 4, with: [0xff, 0xff, 0xff, 0xff])
    }
    let input = try scratch.file("huge.mp4", clip)
    let run = try Upright.run(
      ["transcode", input, "-o", scratch.path("new.mp4"), "--speed", "ultrafast"])
    // The stream has the right size, so both statuses are valid. A crash isn't.
    #expect([0, 65].contains(run.status), "\(run.errors)")
    #expect(scratch.leftovers.isEmpty)
  }

  /// Returns the number of frames that FFmpeg decodes, ignoring its errors.
  private func decodable(_ path: String) -> Int {
    let outcome = try? ExternalTool("ffmpeg").outcome([
      "-nostdin", "-v", "quiet", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f",
      "framecrc", "-",
    ])
    return outcome?.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.count ?? 0
  }
}

@Suite(
  "The damaged files of the shared folder",
  .clips("broken"))
struct BrokenClipTests {
  /// Name, exit code, number of frames.
  static let table: [(String, Int, Int)] = [
    ("0-timescale.mp4", 65, 0), ("BA_MW_D_IDR_LOST.264", 0, 70), ("annex-b.mp4", 0, 6),
    ("gecko_crash_789075.webm", 0, 1), ("no_timescale.mp4", 0, 170),
    ("sample_mdat_too_long.mp4", 0, 30), ("sample_missing_stsd.mp4", 0, 30),
    ("sample_with_invalid_nalu.mp4", 0, 29), ("track-with-zero-dimensions.mp4", 0, 19),
    ("video_with_failing_audio.mp4", 0, 280), ("vp9cake_corrupt.webm", 65, 0),
  ]

  @Test("transcode exits with 0 or 65, never by a signal", .long, arguments: table)
  func clip(_ name: String, _ status: Int, _ count: Int) throws {
    let input = SharedFiles.url("clips/broken/\(name)").path
    let scratch = try folderWithOutput()
    let output = scratch.path("new.mp4")
    let arguments = ["transcode", input, "-o", output, "--speed", "ultrafast"]
    if status != 0 { return try refuse(status, arguments, input, in: scratch) }
    let run = try Upright.run(arguments)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.allSatisfy { $0.hasPrefix("upright: ") }, "\(run.errors)")
    #expect(scratch.names == ["new.mp4", "out.mp4"])
    // The number of frames depends on the version of the decoder.
    let found = try frames(output)
    #expect(abs(found - count) <= 2, "\(found) of \(count)")
  }

  @Test("probe exits with 0 or 65, never by a signal", .long, arguments: table)
  func probe(_ name: String, _ status: Int, _ count: Int) throws {
    let run = try Upright.run(["probe", SharedFiles.url("clips/broken/\(name)").path, "--json"])
    #expect([0, 65].contains(run.status), "\(run.errors)")
    if run.status == 0 { #expect(Set(run.json.object.keys) == ["streams", "signals"]) }
  }
}
