import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// HLS segments have the requested duration, each begins with an IDR, and the playlist can be played.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct SegmentTests {
  @Test("Segments start with an IDR and have the given duration", .long, arguments: [0.5, 1, 2, 3])
  func durations(_ length: Double) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.withAudio, to: scratch.path("out.m3u8")) {
      $0.size = .pair(PixelSize(180, 320))
      $0.segmentDuration = length
    }
    let playlist = try Playlist(path: run.path)
    #expect(playlist.maps == ["out-init-0.mp4"])
    #expect(playlist.discontinuities == 0)
    #expect(playlist.type == "VOD")
    #expect(playlist.segments.count == Int((5 / length).rounded(.up)))
    for segment in playlist.segments.dropLast() {
      #expect(abs(segment.duration - length) < 1e-6, "\(segment)")
    }
    let whole: Double = playlist.segments.map(\.duration).reduce(0, +)
    #expect(abs(whole - 5) < 1e-5)
    #expect(Double(playlist.targetDuration) >= length.rounded())
    var frames = 0
    for segment in playlist.segments {
      let whole = scratch.path("whole.mp4")
      var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.path(segment.map)))
      bytes += try Data(contentsOf: URL(fileURLWithPath: scratch.path(segment.file)))
      try bytes.write(to: URL(fileURLWithPath: whole))
      // The segment can be decoded separately, from its first frame.
      let decoded = try FFmpegTool.frames(whole)
      #expect(decoded.first?.json["key_frame"].int == 1)
      frames += decoded.count
    }
    #expect(frames == 150)
  }

  /// Costs one second.
  @Test("The first frame and the first sample are shown at 0, also after reordered frames")
  func start() throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.withAudio, to: scratch.path("out.m3u8")) {
      $0.size = .pair(PixelSize(180, 320))
      $0.encoderOptions["bf"] = "2"
    }
    for path in [run.path, scratch.path("whole.mp4")] {
      if path != run.path {
        let names = ["out-init-0.mp4", "out-0.m4s"].map { scratch.path($0) }
        try names.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }.reduce(Data(), +)
          .write(to: URL(fileURLWithPath: path))
      }
      #expect(try FFmpegTool.packets(path, "v").compactMap(\.time).min() == 0)
      // The priming of AAC is before it.
      let audio = try #require(try FFmpegTool.packets(path, "a").compactMap(\.time).min())
      #expect(abs(audio + 1024.0 / 48_000) < 0.002, "\(audio)")
    }
  }

  @Test(
    "A seek in segments of MPEG-TS shows the frame that was asked for", .enabled(if: Needs.python))
  func seeks() throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.withAudio, to: scratch.path("out.m3u8")) {
      $0.size = .pair(PixelSize(360, 640))
      $0.segments = .ts
      $0.segmentDuration = 1
    }
    let picture = scratch.path("picture.png")
    for frame in [15, 33, 70, 119, 140] {
      try FFmpegTool.run(
        ["-y", "-ss", "\((Double(frame) - 0.5) / 30)", "-i", run.path, "-frames:v", "1", picture])
      let (_, read) = try Player.ffmpeg.play([picture])
      // libavformat counts from the first sound, whose priming is before the first frame: from 7.1 on, one
      // frame more of it.
      let number = try #require(read["numbers"].ints.first)
      let most = FFmpegTool.isAtLeast(7, 1) ? 2 : 1
      #expect((frame - most...frame).contains(number))
    }
  }

  @Test(
    "Without an index there is a keyframe each second, unless --gop says otherwise",
    arguments: [("out.ts", nil), ("out.flv", nil), ("out.ts", 60), ("out.mp4", nil)])
  func keyframes(_ name: String, _ gop: Int?) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.withAudio, to: scratch.path(name)) {
      $0.size = .pair(PixelSize(180, 320))
      $0.gop = gop
      $0.encoderOptions = ["sc_threshold": "0"]
    }
    let packets = try FFmpegTool.packets(run.path, "v:0")
    let distance = name == "out.mp4" ? 250 : gop ?? 30
    for (index, packet) in packets.enumerated() {
      #expect(packet.isKey == (index % distance == 0), "\(index)")
    }
  }

  @Test("Each format has its own initialization segment, and names do not collide", .long)
  func manyTurns() throws {
    let scratch = try Scratch()
    var events = "{\"at\": 0, \"device\": \"portrait\"}\n"
    for turn in 1...9 {
      events +=
        "{\"at\": \(turn), \"device\": \"\(turn % 2 == 1 ? "landscapeLeft" : "portrait")\"}\n"
    }
    let run = try Transcoded(
      Samples.turning, to: scratch.path("out.m3u8"), events: events
    ) {
      $0.sensor()
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let playlist = try Playlist(path: run.path)
    #expect(playlist.maps.count == 10 && Set(playlist.maps).count == 10)
    #expect(playlist.discontinuities == 9)
    #expect(Set(playlist.segments.map(\.file)).count == 10)
    let frames = try FFmpegTool.frames(run.path)
    #expect(frames.count == 300)
    #expect(frames.map(\.width) == (0..<300).map { $0 / 30 % 2 == 0 ? 90 : 160 })
  }

  @Test(
    "Names with spaces and special characters work", .long,
    arguments: [
      "a clip, with: signs & 100%.m3u8", "häuser.m3u8", "#1 \"a\"?.m3u8", "100%d.mp4", "a:b.mp4",
    ])
  func names(_ name: String) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.displayMatrix, to: scratch.path(name)) {
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let frames = try FFmpegTool.frames("file:" + run.path)
    #expect(frames.count == 60)
  }

  @Test("Playlists with similar names in one folder share no segment", .long)
  func neighbours() throws {
    let scratch = try Scratch()
    let names = ["a:b", "a_b", "a~3Ab", "a?b", "a"]
    for name in names {
      _ = try Transcoded(Samples.displayMatrix, to: scratch.path("\(name).m3u8")) {
        $0.size = .pair(PixelSize(90, 160))
        $0.quick()
      }
    }
    #expect(scratch.names.count == 3 * names.count, "\(scratch.names)")
    for name in names {
      let frames = try FFmpegTool.frames("file:" + scratch.path("\(name).m3u8"))
      #expect(frames.count == 60)
    }
  }

  // MARK: - MPEG-TS

  /// A packet of an MPEG-TS segment (ISO/IEC 13818-1, 2.4.3.2).
  private struct TransportPacket {
    let pid: Int
    let counter: Int
    let hasPayload: Bool

    static func all(in data: Data) throws -> [TransportPacket] {
      let bytes = [UInt8](data)
      try #require(bytes.count % 188 == 0)
      return try stride(from: 0, to: bytes.count, by: 188).map { start in
        try #require(bytes[start] == 0x47)
        return TransportPacket(
          pid: Int(bytes[start + 1] & 0x1F) << 8 | Int(bytes[start + 2]),
          counter: Int(bytes[start + 3] & 0x0F), hasPayload: bytes[start + 3] & 0x10 != 0)
      }
    }
  }

  @Test(
    "MPEG-TS segments: tables first, continuous counters and times, audio by PTS", .long,
    arguments: [NumberedClip.Clip.constant, .variable])
  func transportStream(_ clip: NumberedClip.Clip) throws {
    let scratch = try Scratch()
    let run = try Transcoded(
      clip.path(), to: scratch.path("out.m3u8"), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.size = .pair(PixelSize(180, 320))
      $0.segments = .ts
      $0.segmentDuration = 2
      $0.encoderOptions = ["bf": "3", "b_strategy": "0"]
    }
    let text = try String(contentsOfFile: run.path, encoding: .utf8)
    #expect(!text.contains("EXT-X-MAP"))
    let playlist = try Playlist(path: run.path)
    // RFC 8216, 7: durations that aren't integers need version 3. Nothing here needs a higher one.
    #expect(playlist.version == 3)
    #expect(playlist.discontinuities == 2)
    #expect(playlist.segments.map(\.file) == (0..<6).map { "out-\($0).ts" })
    #expect(
      playlist.segments.map(\.isDiscontinuous) == [false, false, true, false, true, false])
    #expect(scratch.names == (playlist.segments.map(\.file) + ["out.m3u8"]).sorted())

    var counters: [Int: Int] = [:]
    var lastDTS = -Double.infinity
    var (frameCount, audioCount) = (0, 0)
    var starts: [Double] = []
    var audioOf: [[Double]] = []
    for segment in playlist.segments {
      let path = scratch.path(segment.file)
      let packets = try TransportPacket.all(in: Data(contentsOf: URL(fileURLWithPath: path)))
      // PAT (0), the PMT, which libavformat puts at 0x1000, then video.
      let order = packets.map(\.pid).filter { $0 != 0x11 }
      #expect(Array(order.prefix(3)) == [0, 0x1000, 0x100], "\(segment.file): \(order.prefix(5))")
      for packet in packets where packet.hasPayload {
        if let last = counters[packet.pid] {
          #expect(packet.counter == (last + 1) % 16, "\(segment.file), PID \(packet.pid)")
        }
        counters[packet.pid] = packet.counter
      }
      // Each segment by itself begins with an IDR that has its size.
      let frames = try FFmpegTool.frames(path)
      #expect(frames.first?.json["key_frame"].int == 1)
      frameCount += frames.count
      let video = try FFmpegTool.probe(
        path, ["-select_streams", "v:0", "-show_packets"])["packets"].array
      for packet in video {
        let dts = packet["dts_time"].string.flatMap(Double.init) ?? -1
        #expect(dts > lastDTS, "\(segment.file)")
        lastDTS = dts
      }
      starts.append(frames.compactMap(\.time).min() ?? .nan)
      let audio = try FFmpegTool.packets(path, "a:0").compactMap(\.time)
      audioOf.append(audio)
      audioCount += audio.count
    }
    #expect(frameCount == 300)
    #expect(try audioCount == FFmpegTool.packets(clip.path(), "a:0").count)
    for (index, audio) in audioOf.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1] : .infinity
      let first = index == 0 ? -.infinity : starts[index]
      #expect(audio.allSatisfy { $0 >= first - 2e-5 && $0 < end + 2e-5 }, "segment \(index)")
    }
    for index in starts.indices.dropLast() {
      #expect(abs(starts[index + 1] - starts[index] - playlist.segments[index].duration) < 1e-4)
    }
  }

  @Test(
    "HEVC, AV1 and VP9 in MPEG-TS segments are rejected with a remedy",
    arguments: [
      VideoCodec.hevc, .av1, .vp9,
    ])
  func transportCodecs(_ codec: VideoCodec) throws {
    let scratch = try Scratch()
    let error = #expect(throws: UprightError.self) {
      try Transcoded(Samples.displayMatrix, to: scratch.path("out.m3u8")) {
        $0.segments = .ts
        $0.codec = codec
      }
    }
    #expect(error?.code == .usage && error?.remedy.contains("--codec h264") == true)
    #expect(scratch.names.isEmpty)
  }
}
