import Foundation
import Testing
import UprightMediaIO
import UprightOrientation
import UprightMedia
import UprightPolicy
import UprightTestSupport

@testable import UprightFiles

/// What multivariant playlists list of files that are divided into segments. About three seconds a test.
@Suite(
  "Renditions on demand",
  .enabled(if: Needs.ffmpeg && Needs.python, "needs ffmpeg and python3"))
struct SegmentVariantTests {
  /// Writes all files of a source that its multivariant playlist leads to into a folder.
  ///
  /// - Parameter hasIndex: Whether those of its own playlist are written too.
  private static func write(
    _ source: SegmentSource, to folder: String, hasIndex: Bool = false
  ) throws {
    func write(_ text: String, _ name: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      for name in Self.names(in: text) {
        let bytes = try source.bytes(of: #require(SegmentFile(name)))
        if name.hasSuffix(".m3u8") {
          try write(String(decoding: bytes, as: UTF8.self), name)
        } else {
          try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
      }
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try write(SegmentVariant.playlist(of: [(try source.variant(), ".")]), "master.m3u8")
    if hasIndex { try write(source.playlist, "index.m3u8") }
  }

  /// The names in a playlist, without their folder.
  private static func names(in playlist: String) -> [String] {
    playlist.split(separator: "\n").compactMap { line in
      let uri =
        line.hasPrefix("#") ? line.firstMatch(of: /URI="([^"]*)"/).map { $0.1 } : line
      return uri?.split(separator: "/").last.map(String.init)
    }
  }

  /// The duration of the decoded audio.
  private static func seconds(_ path: String, _ specifier: String) throws -> Double {
    let frames = try FFmpegTool.frames(path, specifier: specifier)
    let samples = frames.compactMap { $0.json["nb_samples"].int }.reduce(0, +)
    return Double(samples) / 48_000
  }

  private static func make(
    _ arguments: String, _ configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> (Scratch, String, SegmentSource) {
    let scratch = try Scratch()
    let path = scratch.path("source.mkv")
    try FFmpegTool.run("-v error -i \(Samples.withAudio) \(arguments)", [path])
    var options = TranscodeOptions()
    configure(&options)
    return (scratch, path, try SegmentSource(input: path, options: options))
  }

  @Test("Each audio track is a rendition, and the video plays with it", arguments: [true, false])
  func tracks(isCopied: Bool) throws {
    let turn = isCopied ? "" : "-vf transpose=2 "
    let (scratch, path, source) = try Self.make(
      "-map 0:v -map 0:a -map 0:a \(turn)-c:v libx264 -preset veryfast -bf 2 -g 30 -c:a:0 aac "
        + "-c:a:1 libopus -metadata:s:a:0 language=eng -metadata:s:a:1 language=fra "
        + "-metadata:s:a:1 title=Commentaire"
    ) { if isCopied { $0.size = .source } else { $0.sensor() } }
    let folder = scratch.path("out")
    try Self.write(source, to: folder)
    let variant = try source.variant()
    #expect(variant.audio.map(\.track.name) == ["eng", "Commentaire"])
    #expect(variant.audio.map(\.track.language) == ["eng", "fra"])
    #expect(variant.average <= variant.peak)
    let master = try String(contentsOfFile: "\(folder)/master.m3u8", encoding: .utf8)
    #expect(master.contains("NAME=\"Commentaire\",DEFAULT=NO,AUTOSELECT=YES,LANGUAGE=\"fra\""))
    #expect(master.contains("FRAME-RATE=30.000"))
    let (status, shown) = try Player.ffmpeg.play(["\(folder)/master.m3u8"])
    #expect(status == 0 && shown["errors"].array.isEmpty, "\(shown["errors"])")
    #expect(shown["numbers"].array.map(\.int) == (0..<150).map { $0 })
    let (_, given) = try Player.ffmpeg.play([path, "--stored"])
    #expect(shown["frames"].int == given["frames"].int)
    #expect(shown["lies"].array.map { $0["orientation"].int } == [1])
    // The delay of the encoders is cut; what they add at the end is not, which is less than a frame.
    for (track, added) in [0, 0.022].enumerated() {
      let seconds = try Self.seconds(path, "a:\(track)")
      let heard = try Self.seconds("\(folder)/audio-\(track).m3u8", "a:0")
      #expect((0...added).contains(heard - seconds), "\(heard), \(seconds)")
    }
    // The name in CODECS is that of the init segments, and no segment exceeds the peak.
    let header = try source.initSegment(0, of: .video)
    try Data(header + source.segment(0, of: .video)).write(
      to: URL(fileURLWithPath: scratch.path("0.mp4")))
    let stream = try FFmpegTool.streams(scratch.path("0.mp4"), "video")[0]
    let level = String(stream["level"].int ?? 0, radix: 16)
    #expect(variant.codecs.allSatisfy { $0.lowercased().hasSuffix(level) }, "\(variant.codecs)")
    for (index, segment) in source.segments.enumerated() {
      let bits = Double(try source.segment(index, of: .video).count) * 8
      #expect(bits / segment.duration <= variant.peak, "segment \(index)")
    }
  }

  /// An encoder's delay of audio is the earliest time then. Ten seconds.
  @Test(
    "hls.js shows the first GOP of video without B-frames",
    .enabled(if: Player.chromium.isHere, "needs Chromium"), arguments: [44_100, 48_000])
  func withoutBFrames(rate: Int) throws {
    let wheel = try #require(Player.wheelOfHLSJS)
    let (scratch, _, source) = try Self.make(
      "-map 0 -vf transpose=2 -c:v libx264 -preset veryfast -bf 0 -g 60 -c:a aac -ar \(rate)"
    ) { $0.size = .source }
    let folder = scratch.path("out")
    try Self.write(source, to: folder, hasIndex: true)
    for playlist in ["master.m3u8", "index.m3u8"] {
      let (status, shown) = try Player.chromium.play(
        [folder, playlist, "--hls-js", wheel, "--rate", "4"])
      #expect(status == 0 && shown["totalVideoFrames"].int == 150, "\(playlist): \(shown)")
      #expect(shown["mediaTimes"][0].double ?? 1 < 0.001, "\(playlist): \(shown)")
      // The first segment that it loads decides where all others are.
      let (_, back) = try Player.chromium.play(
        [
          folder, playlist, "--hls-js", wheel, "--rate", "4", "--start", "3", "--snapshot", "0",
          "--out", folder,
        ])
      #expect(back["snapshots"][0]["at"].double ?? 1 < 0.001, "\(playlist): \(back)")
    }
  }

  /// Players that need both tracks wait at the first segment without sound.
  @Test(
    "Audio that begins later than the video follows silence",
    arguments: [("mkv", "aac", 2.5), ("mp4", "aac", 2.5), ("mkv", "aac", 12), ("mkv", "ac3", 1.2)])
  func late(container: String, codec: String, delay: Double) throws {
    let scratch = try Scratch()
    let path = scratch.path("source.\(container)")
    try FFmpegTool.run(
      "-v error -stream_loop 3 -i \(Samples.withAudio) -itsoffset \(delay) -i \(Samples.withAudio) -map 0:v "
        + "-map 1:a -t 16 -c:v libx264 -preset ultrafast -g 30 -c:a \(codec)", [path])
    var options = TranscodeOptions()
    options.size = .source
    let source = try SegmentSource(input: path, options: options)
    let folder = scratch.path("out")
    try Self.write(source, to: folder)
    let header = try source.initSegment(0)
    for (index, segment) in source.segments.enumerated() where segment.start < delay + 4 {
      let file = scratch.path("\(index).mp4")
      try Data(header + source.segment(index)).write(to: URL(fileURLWithPath: file))
      let sound = try FFmpegTool.packets(file, "a")
      let times = sound.compactMap(\.time)
      #expect((times.min() ?? .infinity) < segment.start + 0.1, "segment \(index)")
    }
    try Data(source.playlist.utf8).write(to: URL(fileURLWithPath: "\(folder)/index.m3u8"))
    for index in source.segments.indices {
      try Data(source.segment(index)).write(to: URL(fileURLWithPath: "\(folder)/\(index).m4s"))
    }
    try Data(header).write(to: URL(fileURLWithPath: "\(folder)/init-0.mp4"))
    let heard = try FlashAndBeep(path: "\(folder)/index.m3u8").beeps
    let given = try FlashAndBeep(path: path).beeps
    #expect(heard.count == given.count && given.count >= 4, "\(heard), \(given)")
    for (one, other) in zip(heard, given) {
      #expect(abs(one - other) < 0.003, "\(heard), \(given)")
    }
    // Any order gives the same bytes.
    let other = try SegmentSource(input: path, options: options)
    for index in source.segments.indices.reversed() {
      #expect(try other.segment(index) == source.segment(index), "segment \(index)")
    }
  }

  @Test("The playlist of keyframes has the first frame of each segment, and nothing else")
  func keyframes() throws {
    let (scratch, _, source) = try Self.make("-vf transpose=2 -g 30 -an") { $0.sensor() }
    let folder = scratch.path("out")
    try Self.write(source, to: folder)
    let text = try source.playlist(of: .keyframes)
    #expect(text.contains("#EXT-X-I-FRAMES-ONLY\n"))
    let header = try source.initSegment(0, of: .keyframes)
    for index in source.segments.indices {
      let path = scratch.path("\(index).mp4")
      try Data(header + source.segment(index, of: .keyframes)).write(
        to: URL(fileURLWithPath: path))
      #expect(try FFmpegTool.frames(path).count == 1, "\(index)")
      let bits = Double(try #require(FFmpegTool.packets(path, "v").first).size * 8)
      #expect(try bits / source.segments[index].duration <= source.variant().keyframesPeak)
    }
    let master = try String(contentsOfFile: "\(folder)/master.m3u8", encoding: .utf8)
    #expect(master.contains("\n#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH="))
    let (status, shown) = try Player.ffmpeg.play(["\(folder)/keyframes.m3u8"])
    #expect(status == 0 && shown["errors"].array.isEmpty, "\(shown["errors"])")
    #expect(shown["frames"].int == source.segments.count)
    #expect(shown["numbers"].array.map(\.int) == source.segments.map { Int($0.start * 30 + 0.5) })
  }

  @Test("Smaller sizes are listed with less than the source, although no segment is made yet")
  func ladder() throws {
    let (scratch, path, source) = try Self.make(
      "-vf scale=1280:720,noise=alls=12:allf=t -c:v libx264 -preset veryfast -b:v 5M -g 60 -c:a aac"
    ) {
      $0.size = .source
    }
    var variants = [(variant: try source.variant(), folder: "source")]
    for height in [540, 360] {
      var options = TranscodeOptions()
      options.size = .pair(PixelSize(height * 16 / 9, height))
      let smaller = try SegmentSource(input: path, options: options)
      let variant = try smaller.variant()
      for (index, segment) in smaller.segments.enumerated() {
        let bits = Double(try smaller.segment(index, of: .video).count) * 8
        #expect(bits / segment.duration <= variant.peak, "\(height), segment \(index)")
      }
      variants.append((variant, "\(height)"))
    }
    withExtendedLifetime(scratch) {}
    let averages = variants.map(\.variant.average)
    #expect(averages == averages.sorted(by: >), "\(averages)")
    let playlist = SegmentVariant.playlist(of: variants)
    for pattern in [/INF:BANDWIDTH=(\d+).*AUDIO/, /AVERAGE-BANDWIDTH=(\d+)/] {
      let rates = playlist.matches(of: pattern).map { Int($0.1) ?? 0 }
      #expect(rates.count == 3 && rates == rates.sorted(by: >), "\(rates)")
    }
  }

  @Test("Text captions are WebVTT, at the times of the source")
  func captions() throws {
    let scratch = try Scratch()
    let subtitles = scratch.path("source.srt")
    try Data(
      """
      1
      00:00:01,000 --> 00:00:02,500
      One --> two

      2
      00:00:03,250 --> 00:00:04,000
      <i>Second</i>
      line
      """.utf8
    ).write(to: URL(fileURLWithPath: subtitles))
    for name in ["source.mkv", "source.mp4"] {
      let path = scratch.path(name)
      try FFmpegTool.run(
        "-v error -i \(Samples.withAudio) -i \(subtitles) -map 0:v -map 0:a -map 1:s -c:v libx264 -g 30 "
          + "-c:a aac -c:s \(name.hasSuffix("mkv") ? "srt" : "mov_text") -metadata:s:s:0 language=deu",
        [path])
      let source = try SegmentSource(input: path)
      let folder = scratch.path("out-\(name)")
      try Self.write(source, to: folder)
      let text = try String(contentsOfFile: "\(folder)/captions-0-0.vtt", encoding: .utf8)
      let cues = text.split(separator: "\n").dropFirst(2)
      #expect(
        cues == [
          "00:00:01.000 --> 00:00:02.500", "One → two", "00:00:03.250 --> 00:00:04.000",
          "<i>Second</i>", "line",
        ], "\(text)")
      let master = try String(contentsOfFile: "\(folder)/master.m3u8", encoding: .utf8)
      #expect(master.contains("#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"captions\",NAME=\"deu\""))
      #expect(master.contains("SUBTITLES=\"captions\""))
      #expect(throws: UprightError.self) { try source.bytes(of: .captions(1, format: 0)) }
      #expect(throws: UprightError.self) { try source.bytes(of: .captions(0, format: 1)) }
      #expect(throws: UprightError.self) { try source.bytes(of: .captionsPlaylist(1)) }
    }
  }

  @Test("Captions begin anew where the video does")
  func captionsOfFormats() throws {
    let scratch = try Scratch()
    let (path, subtitles) = (scratch.path("source.mkv"), scratch.path("source.srt"))
    try Data(
      """
      1
      00:00:00,500 --> 00:00:02,500
      Both

      2
      00:00:03,000 --> 00:00:04,000
      Later
      """.utf8
    ).write(to: URL(fileURLWithPath: subtitles))
    try FFmpegTool.run(
      "-v error -i \(Samples.withAudio) -i \(subtitles) -map 0:v -map 1:s -vf transpose=2 "
        + "-c:v libx264 -g 30 -c:s srt", [path])
    var options = TranscodeOptions()
    options.sensor()
    let events = try RotationEvent.parse(
      jsonLines: Array(
        "{\"at\": 0, \"device\": \"portrait\"}\n{\"at\": 1.5, \"device\": \"landscapeLeft\"}".utf8))
    let source = try SegmentSource(input: path, options: options, events: .list(events))
    func text(_ file: SegmentFile) throws -> String {
      String(decoding: try source.bytes(of: file), as: UTF8.self)
    }
    let playlist = try text(.captionsPlaylist(0))
    let video = try source.playlist(of: .video)
    for text in [playlist, video] {
      #expect(text.split(separator: "#EXT-X-DISCONTINUITY\n").count == 2, "\(text)")
    }
    #expect(playlist.contains("captions-0-0.vtt") && playlist.contains("captions-0-1.vtt"))
    // Each file has all that is shown while it lasts.
    for (format, shown) in [["Both"], ["Both", "Later"]].enumerated() {
      let lines = try text(.captions(0, format: format)).split(separator: "\n").dropFirst(2)
      #expect(lines.filter { !$0.contains("-->") }.map(String.init) == shown)
    }
  }

  @Test("The sheets of pictures show the first frames of segments, upright")
  func sprites() throws {
    let (scratch, _, source) = try Self.make("-vf transpose=2 -g 30 -an") { $0.sensor() }
    let list = String(decoding: try source.bytes(of: .sprites), as: UTF8.self)
    let cues = list.split(separator: "\n").dropFirst()
    // One for each GOP: the first one has two segments.
    #expect(cues.count == (source.segments.count - 1) * 2, "\(list)")
    #expect(cues.first == "00:00:00.000 --> 00:00:01.000")
    #expect(cues.dropFirst().first == "sprites-0.jpg#xywh=0,0,90,160")
    let sheet = scratch.path("sheet.jpg")
    try Data(source.bytes(of: .spriteSheet(0))).write(to: URL(fileURLWithPath: sheet))
    let size = try FFmpegTool.streams(sheet, "video")[0]
    #expect(size["width"].int == 450 && size["height"].int == 800)
    // The second picture is the frame at one second, as ffmpeg scales it, in the middle of the canvas.
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", sheet, "-ss", "1", "-i", Samples.withAudio],
      graph:
        "[0:v]crop=90:50:90:55,format=gbrp[a];[1:v]trim=end_frame=1,scale=90:50:flags=area,format=gbrp[b]"
    )
    #expect(ratios.count == 1 && ratios[0].luma > 25, "\(ratios)")
    #expect(throws: UprightError.self) { try source.bytes(of: .spriteSheet(1)) }
  }

  @Test(
    "Open GOPs have pictures too, also where they are copied as one segment",
    arguments: [true, false])
  func spritesOfOpenGOPs(isCopied: Bool) throws {
    let (scratch, _, source) = try Self.make(
      "\(isCopied ? "" : "-vf transpose=2 ")-an -c:v libx264 "
        + "-x264-params open-gop=1:bframes=2:b-adapt=0:keyint=30:min-keyint=30:scenecut=0"
    ) { if isCopied { $0.size = .source } else { $0.sensor() } }
    #expect((source.segments.count == 1) == isCopied)
    let list = String(decoding: try source.bytes(of: .sprites), as: UTF8.self)
    #expect(list.components(separatedBy: "-->").count - 1 == 5, "\(list)")
    let sheet = scratch.path("sheet.jpg")
    try Data(source.bytes(of: .spriteSheet(0))).write(to: URL(fileURLWithPath: sheet))
    #expect(try FFmpegTool.streams(sheet, "video")[0]["width"].int == (isCopied ? 800 : 450))
  }

  @Test("Each file has one name")
  func names() {
    let names = [
      "index.m3u8", "video.m3u8", "audio-1.m3u8", "keyframes.m3u8", "17.m4s", "video-0.m4s",
      "audio-0-17.m4s", "keyframes-3.m4s", "init-2.mp4", "video-init-0.mp4", "audio-1-init-0.mp4",
      "captions-0.m3u8", "captions-0-1.vtt", "sprites.vtt", "sprites-2.jpg",
    ]
    for name in names { #expect(SegmentFile(name)?.name == name) }
    for name in [
      "", ".m3u8", "all.m3u8", "audio.m3u8", "audio--1.m3u8", "017.m4s", "-1.m4s", "x-1.m4s",
      "audio-1.m4s", "keyframes-init-0.mp4", "video-1-2.m4s", "init.mp4", "1.ts",
      "video-init-+0.mp4",
    ] {
      #expect(SegmentFile(name) == nil, "\(name)")
    }
  }
}
