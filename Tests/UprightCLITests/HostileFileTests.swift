import Foundation
import Testing
import UprightTestSupport

@Suite("Hostile files")
struct HostileFileTests {
  /// Ten frames of H.264.
  private static func clip(_ path: String) throws {
    try FFmpegTool.run("-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v libx264", [path])
  }

  private static func run(_ words: String...) throws -> CommandLineProgram.Outcome {
    try CommandLineProgram(words).wait(timeout: 60)
  }

  @Test(
    "Times and counts at their limits don't crash", .clips("found"),
    arguments: [
      ("trap-audiotranscoder-135.mkv", "out.flv", []),
      ("trap-audiotranscoder-135.mkv", "out.ts", []),
      ("trap-audiotranscoder-135.mkv", "out.m3u8", []),
      ("trap-hlssink-149.mkv", "out.m3u8", ["--hls-segments", "ts"]),
      ("trap-muxer-161-chapters.mp4", "out.mp4", []),
      ("trap-sessionrun-156-start.mkv", "out.mp4", ["--start", "0.1"]),
      ("trap-sessionrun-156-start.mkv", "out.mp4", ["--start", "9e15"]),
    ])
  func times(_ name: String, _ output: String, _ options: [String]) throws {
    let scratch = try Scratch()
    let run = try CommandLineProgram(
      ["transcode", SharedFiles.url("clips/found/\(name)").path, "-o", scratch.path(output)]
        + options
    ).wait(timeout: 60)
    // 64 if the start is after the end of the input.
    #expect([0, 64, 65].contains(run.status), "\(run.errors)")
    #expect(scratch.leftovers.isEmpty, "\(scratch.names)")
  }

  @Test("A damaged cover is left out, with a warning", .clips("found"))
  func cover() throws {
    let scratch = try Scratch()
    let run = try CommandLineProgram(
      ["transcode", SharedFiles.url("clips/found/exit70-cover-junk.mp4").path, "-o"]
        + [scratch.path("out.mp4")]
    ).wait(timeout: 60)
    #expect(run.status == 0 && run.errors.contains("a cover that cannot be read"), "\(run.errors)")
    #expect(try frames(scratch.path("out.mp4")) == 50)
  }

  // 0.6 s, most of it to write the files.
  @Test(
    "A file with 100 000 tags, which libavformat would read for a minute, is refused",
    arguments: [(1000, 0), (100_000, 65)])
  func tags(_ count: Int, _ status: Int) throws {
    let scratch = try Scratch()
    let input = scratch.path("tags.mkv")
    try Self.clip(input)
    try EBMLPatch.addTags(count, to: input)
    let run = try CommandLineProgram(["probe", input]).wait(timeout: 20)
    #expect(run.status == status && run.errors.isEmpty == (status == 0), "\(run.errors)")
    #expect(status == 0 || run.errors.contains(" tags: "), "\(run.errors)")
  }

  @Test("Playlists that refer to themselves, or to each other")
  func loops() throws {
    let scratch = try Scratch()
    for (name, target) in [("self", "self"), ("one", "two"), ("two", "one")] {
      _ = try scratch.file(
        "\(name).m3u8",
        Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(target).m3u8\n".utf8))
    }
    for name in ["self", "one"] {
      let run = try Self.run("probe", scratch.path("\(name).m3u8"))
      #expect(run.status == 65 && run.errors.contains("refers to"), "\(run.status): \(run.errors)")
    }
  }

  @Test("A playlist can refer only to regular files in its folder")
  func beside() throws {
    let scratch = try Scratch()
    let folder = scratch.path("inside")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Self.clip(scratch.path("a.ts"))
    try FileManager.default.copyItem(atPath: scratch.path("a.ts"), toPath: "\(folder)/a.ts")
    mkfifo("\(folder)/pipe.ts", 0o600)
    for (segment, status) in [
      ("a.ts", 0), ("../a.ts", 65), (scratch.path("a.ts"), 65), ("pipe.ts", 65),
    ] {
      try Data(
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\n\(segment)\n#EXT-X-ENDLIST\n".utf8
      ).write(to: URL(fileURLWithPath: "\(folder)/list.m3u8"))
      let run = try Self.run("probe", "\(folder)/list.m3u8")
      #expect(Int(run.status ?? -1) == status, "\(segment): \(run.errors)")
    }
  }

  /// A playlist in a folder with `a.ts` (a second of H.264), `end.m3u8` (a playlist of it), `none.m3u8` (one without
  /// segments), `nested.m3u8` (one with a variant), and `key`.
  struct Playlist: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let text: String
    var status = 0
    var reason = ""
  }

  private static let segment = "#EXTINF:1,\na.ts\n"
  private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n"
  private static let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\"\n"
  private static let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1\n"
  private static func rendition(_ uri: String, type: String = "AUDIO") -> String {
    "#EXT-X-MEDIA:TYPE=\(type),GROUP-ID=\"a\",NAME=\"n\",DEFAULT=YES,URI=\"\(uri)\"\n"
  }

  static let playlists = [
    Playlist(testDescription: "without an end", text: media + segment),
    Playlist(
      testDescription: "an event without an end",
      text: media + "#EXT-X-PLAYLIST-TYPE:EVENT\n" + segment),
    Playlist(
      testDescription: "without an end or a last line feed", text: media + "#EXTINF:1,\na.ts"),
    Playlist(
      testDescription: "carriage returns",
      text: "#EXTM3U\r\n#EXT-X-TARGETDURATION:6\r\n#EXTINF:1,\r\na.ts\r\n"),
    Playlist(
      testDescription: "a name with percent encoding", text: media + "#EXTINF:1,\n%61.%74s\n"),
    Playlist(
      testDescription: "a name above the folder with percent encoding",
      text: media + "#EXTINF:1,\n%2e%2e/a.ts\n", status: 65, reason: "not a regular file"),
    Playlist(
      testDescription: "a variant without an end", text: "#EXTM3U\n" + variant + "open.m3u8\n"),
    Playlist(
      testDescription: "two segments, the second of which isn't there",
      text: media + segment + "#EXTINF:1,\nb.ts\n"),
    Playlist(
      testDescription: "no segment that is there", text: media + "#EXTINF:1,\nb.ts\n", status: 65),
    Playlist(testDescription: "no segment yet", text: media, status: 65),
    Playlist(testDescription: "no segment", text: media + "#EXT-X-ENDLIST\n", status: 65),
    Playlist(
      testDescription: "a rendition without segments",
      text: "#EXTM3U\n" + rendition("none.m3u8") + variant + "end.m3u8\n", status: 65,
      reason: "none.m3u8 has no segments"),
    Playlist(
      testDescription: "another angle, without segments",
      text: "#EXTM3U\n" + rendition("none.m3u8", type: "VIDEO") + variant + "end.m3u8\n"),
    Playlist(
      testDescription: "a rendition that is the playlist itself, between a variant's tag and URI",
      text: "#EXTM3U\n" + variant + rendition("in.m3u8", type: "VIDEO") + rendition("end.m3u8")
        + "end.m3u8\n"),
    Playlist(
      testDescription: "a rendition that has variants",
      text: "#EXTM3U\n" + rendition("nested.m3u8") + variant + "end.m3u8\n", status: 65,
      reason: "nested.m3u8, which has variants itself"),
    Playlist(
      testDescription: "a variant that has variants",
      text: "#EXTM3U\n" + variant + "nested.m3u8\n" + variant + "end.m3u8\n", status: 65,
      reason: "nested.m3u8, which has variants itself"),
    Playlist(
      testDescription: "a variant's tag and a rendition after the segments",
      text: media + segment + variant + rendition("nested.m3u8")),
    Playlist(
      testDescription: "renditions without a variant",
      text: "#EXTM3U\n" + rendition("end.m3u8"), status: 65),
    Playlist(
      testDescription: "a rendition without segments or an end",
      text: "#EXTM3U\n" + rendition("./empty.m3u8") + variant + "end.m3u8\n", status: 65,
      reason: "has no segments"),
    Playlist(
      testDescription: "a rendition that is a variant without segments",
      text: "#EXTM3U\n" + rendition("none.m3u8") + variant + "none.m3u8\n" + variant + "end.m3u8\n"),
    Playlist(
      testDescription: "a rendition that isn't there",
      text: "#EXTM3U\n" + rendition("gone.m3u8") + variant + "end.m3u8\n"),
    Playlist(
      testDescription: "one of two variants has no segments",
      text: "#EXTM3U\n" + variant + "none.m3u8\n" + variant + "end.m3u8\n"),
    Playlist(
      testDescription: "variants, then segments",
      text: "#EXTM3U\n" + variant + "end.m3u8\n" + segment, status: 65,
      reason: "both variants and segments"),
    Playlist(
      testDescription: "a variant that is a segment",
      text: "#EXTM3U\n" + variant + segment + segment, status: 65,
      reason: "both variants and segments"),
    Playlist(
      testDescription: "samples encrypted from the second segment on",
      text: media + segment + key + segment, status: 65,
      reason: "SAMPLE-AES"),
    Playlist(
      testDescription: "samples encrypted after segments with another key",
      text: media + "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n" + segment + key + segment, status: 65,
      reason: "SAMPLE-AES"),
    Playlist(
      testDescription: "samples encrypted with a key that isn't there",
      text: media + key.replacing("key", with: "gone.key") + segment, status: 65,
      reason: "can't be read"),
    Playlist(
      testDescription: "samples encrypted with a key that is too short",
      text: media + key.replacing("key", with: "short.key") + segment, status: 65,
      reason: "can't be read"),
    Playlist(
      testDescription: "segments encrypted with a key that isn't there",
      text: media + "#EXT-X-KEY:METHOD=AES-128,URI=\"gone.key\"\n" + segment, status: 65,
      reason: "can't be read"),
  ]

  // 6 s together.
  @Test(
    "A local playlist is read at once, as far as it goes, and one that crashes libavformat is refused",
    arguments: playlists, ["probe", "transcode"])
  func playlist(_ test: Playlist, _ command: String) throws {
    let scratch = try Scratch()
    try Self.clip(scratch.path("a.ts"))
    for (name, text) in [
      ("in.m3u8", test.text), ("none.m3u8", Self.media + "#EXT-X-ENDLIST\n"),
      ("empty.m3u8", Self.media),
      ("open.m3u8", Self.media + Self.segment),
      ("nested.m3u8", "#EXTM3U\n" + Self.variant + "end.m3u8\n"),
      ("end.m3u8", Self.media + Self.segment + "#EXT-X-ENDLIST\n"),
      ("key", "0123456789abcdef"), ("short.key", "01234"),
    ] { _ = try scratch.file(name, Data(text.utf8)) }
    let output = command == "probe" ? [] : ["-o", scratch.path("out.mp4")]
    let run = try CommandLineProgram([command, scratch.path("in.m3u8")] + output).wait(timeout: 20)
    #expect(Int(run.status ?? -1) == test.status, "\(run.status ?? -1): \(run.errors)")
    #expect(test.reason.isEmpty || run.errors.contains(test.reason), "\(run.errors)")
    if command == "transcode", test.status == 0 { #expect(try frames(output[1]) == 10) }
  }

  private static func chunk(_ type: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
    let size = size ?? content.count
    return Array(type.utf8) + MovieWriter.be(size, 4).reversed() + content
      + (content.count % 2 == 1 ? [0] : [])
  }

  /// Chunks after the image with which libavcodec's decoder fails when it already has a frame. With frame threads it
  /// then aborts the process.
  static let webps: [(name: String, chunks: @Sendable ([UInt8]) -> [[UInt8]], status: Int)] = {
    let extended = chunk("VP8X", [0x10, 0, 0, 0, 63, 0, 0, 47, 0, 0])
    return [
      ("nothing wrong", { [$0] }, 0),
      (
        "a chunk of 4 GB",
        { [$0, chunk("EXIF", Array(repeating: 7, count: 6000), size: 0xFFFF_FFFF)] }, 0
      ),
      ("a header after the image", { [$0, extended] }, 0),
      ("a second header", { [extended, $0, extended] }, 0),
      (
        "transparency that can't be decoded",
        { [extended, chunk("ALPH", [1] + Array(repeating: 0xFF, count: 20)), $0] }, 0
      ),
      ("no transparency", { [extended, $0, chunk("ALPH", [])] }, 0),
      ("a chunk after the end", { [$0, chunk("XMP ", [1, 2, 3], size: 5000)] }, 0),
    ]
  }()

  // 2 s together.
  @Test(
    "A WebP with damage after its image ends neither the program nor a batch",
    arguments: webps.indices)
  func webp(_ index: Int) throws {
    let test = Self.webps[index]
    let scratch = try Scratch()
    let still = scratch.path("a.webp")
    try FFmpegTool.run("-f lavfi -i testsrc2=s=64x48 -frames:v 1 -c:v libwebp -lossless 0", [still])
    let bytes = [UInt8](try bytes(still))
    let size = bytes[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
    try #require(Array(bytes[12..<16]) == Array("VP8 ".utf8))
    let image = Array(bytes[12..<20 + size + size % 2])
    let content = Array("WEBP".utf8) + test.chunks(image).joined()
    try Data(Self.chunk("RIFF", content)).write(to: URL(fileURLWithPath: still))
    try Self.clip(scratch.path("b.mp4"))
    let run = try Self.run(
      "transcode", still, scratch.path("b.mp4"), "-o", scratch.path("out/"), "--codec", "h264")
    #expect(Int(run.status ?? -1) == test.status, "\(test.name): \(run.errors)")
    #expect(try frames(scratch.path("out/b.mp4")) == 10)
    let preview = try Self.run("preview", still, "-o", scratch.path("out.png"))
    #expect([0, 65].contains(preview.status), "\(test.name): \(preview.errors)")
  }

  @Test(
    "A chained Ogg is refused by its name, and one that isn't chained is read",
    arguments: ["-c:v libtheora -c:a libvorbis", "-c:v libtheora -an", "-c:v libvpx -c:a libopus"])
  func chain(_ codecs: String) throws {
    let scratch = try Scratch()
    for (name, size) in [("a", "64x48"), ("b", "48x64")] {
      try FFmpegTool.run(
        "-f lavfi -i testsrc2=s=\(size):r=10:d=1 -f lavfi -i sine=d=1:r=48000 -pix_fmt yuv420p \(codecs)",
        [scratch.path("\(name).ogv")])
    }
    let chained = try bytes(scratch.path("a.ogv")) + bytes(scratch.path("b.ogv"))
    _ = try scratch.file("chained.ogv", chained)
    for command in [["probe"], ["transcode", "-o", scratch.path("out.mp4"), "-y"]] {
      let whole = try CommandLineProgram(command + [scratch.path("a.ogv")]).wait(timeout: 20)
      #expect(whole.status == 0, "\(whole.errors)")
      let run = try CommandLineProgram(command + [scratch.path("chained.ogv")]).wait(timeout: 20)
      #expect(run.status == 65 && run.errors.contains("chained Ogg"), "\(run.errors)")
    }
    #expect(try frames(scratch.path("out.mp4")) == 10)
    // A pipe has no end to look at.
    let line =
      "cat '\(scratch.path("chained.ogv"))' | '\(CommandLineProgram.path)' transcode - -y -o"
    let run = try ExternalTool("bash").outcome(["-c", "\(line) '\(scratch.path("piped.mp4"))'"])
    #expect([0, 65].contains(run.status) && !run.errors.contains("connection"), "\(run.errors)")
  }

  @Test("A colour profile in a PNG is not decompressed", .clips("found"))
  func profile() throws {
    let scratch = try Scratch()
    let bomb = SharedFiles.url("clips/found/png-iccp-bomb-80MiB.png").path
    try Self.clip(scratch.path("in.mp4"))
    for words in [
      ["probe", bomb],
      [
        "transcode", scratch.path("in.mp4"), "-o", scratch.path("o.mp4"), "--overlay",
        "\(bomb)@top",
      ],
    ] {
      let run = try ExternalTool("/usr/bin/env").outcome(
        ["bash", "-c", "ulimit -d 400000; exec \"$@\"", "-", CommandLineProgram.path] + words)
      #expect(run.status == 0, "\(words): \(run.errors)")
    }
  }

  @Test(
    "An explicit --reencode auto copies what fits despite --crf; VP9 in MOV is refused")
  func copies() throws {
    let scratch = try Scratch()
    let clip = scratch.path("in.mp4")
    try Self.clip(clip)
    for (words, copied) in [([], 0), (["--reencode", "auto"], 10)] {
      let report = scratch.path("report\(copied)")
      let run = try CommandLineProgram(
        ["transcode", clip, "-o", scratch.path("out.mp4"), "-y", "--crf", "30", "--report", report]
          + words
      ).wait()
      #expect(run.status == 0, "\(run.errors)")
      #expect(try json(report)["output"]["copied_frames"].int == copied)
    }
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v libvpx-vp9 -cpu-used 8", [scratch.path("in.webm")]
    )
    let tag = try Self.run(
      "tag", scratch.path("in.webm"), "-o", scratch.path("out.mov"), "--orientation", "right")
    #expect(tag.status == 64, "\(tag.errors)")
  }

  @Test("A file of which nothing decodes is not copied")
  func undecodable() throws {
    let scratch = try Scratch()
    let clip = scratch.path("in.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=10:d=1 -c:v libx264 -movflags +faststart", [clip])
    var bytes = try bytes(clip)
    let media = try #require(bytes.range(of: Data("mdat".utf8))).upperBound
    for index in media..<bytes.count { bytes[index] = 0xFF }
    try bytes.write(to: URL(fileURLWithPath: clip))
    let run = try Self.run("transcode", clip, "-o", scratch.path("out.mp4"))
    #expect(
      run.status == 65 && !scratch.names.contains("out.mp4"), "\(run.status ?? -1): \(run.errors)")
  }

  @Test("Y4M has the frame rate in its header, whatever the time base")
  func frameRate() throws {
    let scratch = try Scratch()
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=30000/1001:d=1 -c:v libx264", [scratch.path("in.mkv")])
    let run = try Self.run("transcode", scratch.path("in.mkv"), "-o", scratch.path("out.y4m"))
    #expect(run.status == 0, "\(run.errors)")
    let stream = try FFmpegTool.streams(scratch.path("out.y4m"), "video")[0]
    #expect(stream["r_frame_rate"].string == "30000/1001")
    #expect(try frames(scratch.path("out.y4m")) == 30)
  }

  @Test(
    "HEVC is tagged hvc1, with its parameter sets in the sample entry",
    arguments: ["mp4", "mov", "m3u8"])
  func hvc1(_ ending: String) throws {
    let scratch = try Scratch()
    let output = scratch.path("out.\(ending)")
    let run = try CommandLineProgram([
      "transcode", Clip.lying, "-o", output, "--codec", "h265", "--preset", "ultrafast",
      "--canvas", "portrait", "--size", "180p",
    ]).wait(timeout: 60)
    #expect(run.status == 0, "\(run.errors)")
    let file = ending == "m3u8" ? scratch.path("out-init-0.mp4") : output
    let bytes = try bytes(file)
    #expect(bytes.range(of: Data("hvc1".utf8)) != nil && bytes.range(of: Data("hev1".utf8)) == nil)
    #expect(try frames(output) > 0)
  }

  @Test("Endless lines of events are refused")
  func endless() throws {
    let scratch = try Scratch()
    try Self.clip(scratch.path("in.mp4"))
    let line = "'\(CommandLineProgram.path)' transcode '\(scratch.path("in.mp4"))' --events - -y"
    let run = try ExternalTool("bash").outcome(["-c", line + " < /dev/zero"])
    #expect(run.status == 65 && run.errors.contains("longer than 64 KiB"), "\(run.errors)")
    let blank = try ExternalTool("bash").outcome(["-c", "yes '' | head -c 1000000 | \(line)"])
    #expect(blank.status == 0, "\(blank.errors)")
  }

  @Test(
    "Too many threads, HLS to standard output, control characters in a name")
  func words() throws {
    let scratch = try Scratch()
    let clip = scratch.path("\u{1B}[31mred.mp4")
    try Self.clip(clip)
    #expect(try Self.run("transcode", clip, "--threads", "10000").status == 64)
    #expect(try Self.run("transcode", clip, "--threads=2147483648").status == 64)
    #expect(try Self.run("transcode", clip, "--format", "hls", "-o", "-").status == 64)
    let probe = try Self.run("probe", clip)
    #expect(probe.status == 0 && !probe.output.contains(0x1B))
    let run = try Self.run("transcode", clip, "--codec", "x264", "--preset", "ultrafast", "-y")
    #expect(run.status == 0 && !run.errors.contains("\u{1B}"), "\(run.errors)")
  }
}
