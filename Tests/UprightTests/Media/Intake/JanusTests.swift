import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Janus recordings made by `RTPSender`, compared with FFmpeg's decode of the same frames.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct JanusTests {
  static let plainURI = "urn:3gpp:video-orientation"
  static let fineURI = "urn:3gpp:video-orientation:6"

  /// Each clip is encoded once. The frames are square, so that every rotation is exact on one canvas.
  static let clips: [RTPSender.Codec: Result<SentClip, any Error>] = [
    .h264: Result { try SentClip(.h264) }, .vp8: Result { try SentClip(.vp8) },
    .vp9: Result { try SentClip(.vp9) },
  ]

  static func clip(_ codec: RTPSender.Codec) throws -> SentClip {
    try #require(clips[codec]).get()
  }

  /// CVO bytes for forty frames. The rotation changes at keyframes and at other frames.
  static let turns: [UInt8] =
    Array(repeating: 0, count: 7) + Array(repeating: 1, count: 6) + Array(repeating: 9, count: 7)
    + Array(repeating: 5, count: 5) + [3] + Array(repeating: 2, count: 4)
    + Array(repeating: 0, count: 10)

  /// Makes a recording of a clip, packet by packet.
  static func recording(
    _ clip: SentClip, _ sender: RTPSender, cvo: [UInt8?] = [], uri: String? = plainURI,
    ticks: (Int) -> Int = { $0 * 3000 }
  ) -> JanusFixture {
    var sender = sender
    var fixture = JanusFixture(
      "v", sender.codec.rawValue, extensions: uri.map { [(Int(sender.orientationID), $0)] } ?? [])
    for (index, frame) in clip.frames.enumerated() {
      let time = ticks(index)
      for packet in sender.packets(frame, ticks: time, cvo: index < cvo.count ? cvo[index] : nil) {
        fixture.packets.append((time / 90, packet))
      }
    }
    return fixture
  }

  static func write(_ fixture: JanusFixture, _ name: String, in scratch: Scratch) throws -> String {
    try fixture.bytes.write(to: URL(fileURLWithPath: scratch.path(name)))
    return scratch.path(name)
  }

  /// Compares every frame with FFmpeg's decode of the same frame, rotated according to its CVO byte.
  static func compare(
    _ output: String, with clip: SentClip, turns: [UInt8], frames: [Int]? = nil,
    in scratch: Scratch
  ) throws {
    let ours = try Y4M(path: output)
    let frames = frames ?? Array(clip.frames.indices)
    #expect(ours.count == frames.count)
    var references: [String: Y4M] = [:]
    for (place, frame) in frames.enumerated() where place < ours.count {
      let orientation = try #require(CVO(byte: turns[frame]).orientation)
      let filter = ExactTurnTests.filter(orientation)
      if references[filter] == nil {
        let path = scratch.path("reference\(references.count).y4m")
        try FFmpegTool.run([
          "-i", clip.path, "-vf", filter, "-fps_mode", "passthrough", "-f", "yuv4mpegpipe", path,
        ])
        references[filter] = try Y4M(path: path)
      }
      let reference = try #require(references[filter])
      for plane in 0..<3 {
        let isSame = ours.plane(plane, frame: place) == reference.plane(plane, frame: frame)
        #expect(isSame, "frame \(frame), plane \(plane), \(orientation.name)")
      }
    }
  }

  // MARK: - Rotation

  @Test(
    "Every frame is rotated by its CVO value, sample for sample", .long,
    arguments: [RTPSender.Codec.h264, .vp8, .vp9],
    Loop.cases(Array(RTPSender.ExtensionForm.allCases), test: 1))
  func exact(_ codec: RTPSender.Codec, _ form: RTPSender.ExtensionForm) throws {
    let scratch = try Scratch()
    let clip = try Self.clip(codec)
    #expect(clip.frames.count == 40)
    var sender = RTPSender(codec)
    sender.form = form
    sender.orientationID = form == .oneByte ? 13 : 200
    sender.isFlexible = form == .twoByte
    sender.aggregates = form == .oneByte
    let fixture = Self.recording(clip, sender, cvo: clip.coordination(Self.turns))
    let input = try Self.write(fixture, "call.mjr", in: scratch)
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    #expect(run.result.warnings == [])
    let changes = run.report["formats"].array
    #expect(changes.map { $0["first_frame"].int } == [0, 7, 20, 25, 26, 30])
    #expect(
      changes.map { $0["turn"].string }
        == ["up", "right", "rightMirrored", "left", "down", "up"])
    try Self.compare(run.path, with: clip, turns: Self.turns, in: scratch)
  }

  @Test(
    "Reordered and repeated packets and wraparound change no frame and cause no warning", .long,
    arguments: [RTPSender.Codec.h264, .vp8])
  func shuffled(_ codec: RTPSender.Codec) throws {
    let scratch = try Scratch()
    let clip = try Self.clip(codec)
    var sender = RTPSender(codec)
    sender.sequence = 65_500
    sender.timestamp = .max - 40_000
    var fixture = Self.recording(clip, sender, cvo: clip.coordination(Self.turns))
    var random = SeededGenerator()
    for start in stride(from: 0, to: fixture.packets.count - 6, by: 6) {
      fixture.packets[start..<start + 6].shuffle(using: &random)
    }
    for place in [3, 50, 90] { fixture.packets.insert(fixture.packets[place], at: place + 4) }
    let input = try Self.write(fixture, "call.mjr", in: scratch)
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    #expect(run.result.warnings == [], "seed \(random.seed)")
    try Self.compare(run.path, with: clip, turns: Self.turns, in: scratch)
  }

  @Test("6-bit CVO: quarter turns are exact, other angles are rounded, with one warning", .long)
  func fine() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(.vp8)
    // 16, 18 (101 degrees) and 32 of 64 parts: the angle's high bits are the byte's low bits.
    var bytes: [UInt8] = Array(repeating: 0x01, count: 10)
    bytes += Array(repeating: 0x21, count: 10) + Array(repeating: 0x02, count: 20)
    let fixture = Self.recording(
      clip, RTPSender(.vp8), cvo: clip.coordination(bytes), uri: Self.fineURI)
    let run = try Transcoded(
      Self.write(fixture, "call.mjr", in: scratch), to: scratch.path("out.y4m"))
    #expect(run.result.warnings.count == 1)
    #expect(run.result.warnings[0].contains("cvo signal is not a multiple of 90 degrees"))
    try Self.compare(
      run.path, with: clip, turns: bytes.map { $0 & 0x0F }, in: scratch)
  }

  @Test("CVO takes precedence over SEI, which is used if CVO is not negotiated")
  func precedence() throws {
    let scratch = try Scratch()
    let plain = try Self.clip(.h264)
    // Display orientation, 90 degrees anticlockwise, until cancelled.
    let message: [UInt8] = [0, 0, 0, 1, 0x06, 0x2F, 0x03, 0x08, 0x00, 0x09, 0x80]
    let fixtures = [Self.plainURI, nil].map { uri in
      var fixture = JanusFixture("v", "h264", extensions: uri.map { [(4, $0)] } ?? [])
      var sender = RTPSender(.h264)
      for (index, frame) in plain.frames.prefix(12).enumerated() {
        let isFirst = index == 0
        let sent = EncodedFrame(
          bytes: isFirst ? Self.inserting(message, into: frame.bytes) : frame.bytes,
          isKey: frame.isKey)
        for packet in sender.packets(sent, ticks: index * 3000, cvo: 2) {
          fixture.packets.append((index * 33, packet))
        }
      }
      return fixture
    }
    for (fixture, turn) in zip(fixtures, ["down", "left"]) {
      let input = try Self.write(fixture, "\(turn).mjr", in: scratch)
      let run = try Transcoded(input, to: scratch.path("\(turn).y4m"))
      #expect(run.report["formats"].array.first?["turn"].string == turn)
      #expect(
        try Probe(input: input).json["signals"].map { "\($0)" }?.contains(
          turn == "down" ? "cvo" : "sei") == true)
    }
  }

  /// Inserts `message` before the first slice.
  private static func inserting(_ message: [UInt8], into bytes: [UInt8]) -> [UInt8] {
    EncodedFrame.units(bytes).flatMap { unit -> [UInt8] in
      ((unit[0] & 31 == 5) ? message : []) + [0, 0, 0, 1] + unit
    }
  }

  @Test("The canvas is that of the rotation that lasts longest, and follow changes at the frame")
  func canvas() throws {
    let scratch = try Scratch()
    let clip = try SentClip(.h264, size: "160x96")
    let turns = [UInt8](repeating: 0, count: 13) + [UInt8](repeating: 1, count: 27)
    let fixture = Self.recording(clip, RTPSender(.h264), cvo: clip.coordination(turns))
    let input = try Self.write(fixture, "call.mjr", in: scratch)
    let majority = try Transcoded(input, to: scratch.path("majority.mp4")) { $0.quick() }
    let stream = try #require(try FFmpegTool.streams(majority.path, "video").first)
    #expect(stream["width"].int == 96 && stream["height"].int == 160)
    let follow = try Transcoded(input, to: scratch.path("follow.mp4")) {
      $0.quick()
      $0.canvas = .follow
    }
    let sizes = try FFmpegTool.frames(follow.path).map { "\($0.width)x\($0.height)" }
    #expect(sizes == turns.map { $0 == 0 ? "160x96" : "96x160" })
    #expect(follow.report["formats"].array.map { $0["first_frame"].int } == [0, 13])
    #expect(follow.report["input"]["codec"].string == "h264")
    #expect(abs((follow.report["input"]["duration"].double ?? 0) - 40.0 / 30) < 0.01)
  }

  // MARK: - Time

  @Test("Frames keep their irregular times to the tick")
  func times() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(.vp8)
    var random = SeededGenerator(seed: 7)
    var times: [Int] = [0]
    while times.count < 40 {
      times.append(times[times.count - 1] + .random(in: 900...9000, using: &random))
    }
    // A pause of four seconds, like that of a muted camera.
    for index in 20..<40 { times[index] += 360_000 }
    let fixture = Self.recording(clip, RTPSender(.vp8), ticks: { times[$0] })
    let run = try Transcoded(
      Self.write(fixture, "call.mjr", in: scratch), to: scratch.path("out.mkv")
    ) { $0.quick() }
    let found = try FFmpegTool.frames(run.path).compactMap(\.time)
    #expect(found.count == 40)
    for (time, ticks) in zip(found, times) {
      // Matroska has a resolution of 1 ms.
      #expect(abs(time - found[0] - Double(ticks) / 90_000) < 0.0011)
    }
    let exact = try Transcoded(
      scratch.path("call.mjr"), to: scratch.path("out.mp4")
    ) { $0.quick() }
    let packets = try FFmpegTool.frames(exact.path).compactMap(\.time)
    for (time, ticks) in zip(packets, times) {
      #expect(abs(time - packets[0] - Double(ticks) / 90_000) < 1e-6)
    }
  }

  @Test("A source that restarts with other sequence numbers and timestamps is continued")
  func restart() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(.h264)
    var fixture = JanusFixture("v", "h264", extensions: [(4, Self.plainURI)])
    var sender = RTPSender(.h264)
    for (index, frame) in clip.frames.enumerated() {
      if index == 20 {
        (sender.ssrc, sender.sequence, sender.timestamp) = (7, 3, 4_000_000_000)
      }
      let (cvo, pause): (UInt8, Int) = index < 20 ? (1, 0) : (2, 700)
      for packet in sender.packets(frame, ticks: index * 3000, cvo: cvo) {
        fixture.packets.append((index * 33 + pause, packet))
      }
    }
    let run = try Transcoded(
      Self.write(fixture, "call.mjr", in: scratch), to: scratch.path("out.y4m"))
    let turns = [UInt8](repeating: 1, count: 20) + [UInt8](repeating: 2, count: 20)
    try Self.compare(run.path, with: clip, turns: turns, in: scratch)
    let formats = run.report["formats"].array
    #expect(formats.map { $0["first_frame"].int } == [0, 20])
    let restart = try #require(formats.last?["from"].double)
    #expect(abs(restart - (20 * 0.0333 + 0.7)) < 0.05)
  }

  // MARK: - Loss

  @Test("A lost frame causes one warning and does not affect other frames")
  func lostFrame() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(.vp8)
    var sender = RTPSender(.vp8)
    var fixture = JanusFixture("v", "vp8", extensions: [(4, Self.plainURI)])
    let cvo = clip.coordination(Self.turns)
    var lost = 0
    for (index, frame) in clip.frames.enumerated() {
      let packets = sender.packets(frame, ticks: index * 3000, cvo: cvo[index])
      if index == 14 {
        lost = packets.count
        continue
      }
      fixture.packets += packets.map { (index * 33, $0) }
    }
    let input = try Self.write(fixture, "call.mjr", in: scratch)
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    #expect(run.result.output.frames == 39)
    #expect(run.result.warnings.count == 1)
    #expect(run.result.warnings[0].contains("\(lost) video RTP packet"))
    #expect(run.result.warnings[0].contains("5 complete frames may refer to lost data"))
    #expect(
      run.report["formats"].array.map { $0["first_frame"].int } == [0, 7, 19, 24, 25, 29])
    // Frames that don't refer to the lost frame are unchanged.
    let whole = Array(0..<14) + Array(20..<40)
    let ours = try Y4M(path: run.path)
    #expect(ours.count == 39)
    let untouched = try Transcoded(
      Self.write(
        Self.recording(clip, RTPSender(.vp8), cvo: cvo), "whole.mjr", in: scratch),
      to: scratch.path("whole.y4m"))
    let theirs = try Y4M(path: untouched.path)
    for frame in whole {
      let place = frame < 14 ? frame : frame - 1
      let isSame = ours.plane(0, frame: place) == theirs.plane(0, frame: frame)
      #expect(isSame, "frame \(frame)")
    }
    #expect(throws: UprightError.self) {
      try Transcoded(input, to: scratch.path("strict.y4m")) { $0.isStrict = true }
    }
  }

  @Test(
    "The loss of any single packet causes one warning, and most frames are decoded",
    .long, arguments: Loop.cases([RTPSender.Codec.h264, .vp8, .vp9], test: 2))
  func lostPackets(_ codec: RTPSender.Codec) throws {
    let scratch = try Scratch()
    let clip = try Self.clip(codec)
    let fixture = Self.recording(clip, RTPSender(codec), cvo: clip.coordination(Self.turns))
    for lost in stride(from: 1, to: min(60, fixture.packets.count), by: 7) {
      var damaged = fixture
      damaged.packets.remove(at: lost)
      let input = try Self.write(damaged, "call.mjr", in: scratch)
      let run = try Transcoded(input, to: scratch.path("out\(lost).y4m"))
      #expect((20...40).contains(run.result.output.frames), "packet \(lost)")
      #expect(run.result.warnings.count == 1, "packet \(lost): \(run.result.warnings)")
    }
  }

  @Test("Frames before the first keyframe are dropped with a warning")
  func leadingFrames() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(.h264)
    var sender = RTPSender(.h264)
    var fixture = JanusFixture("v", "h264", extensions: [(4, Self.plainURI)])
    for (index, frame) in clip.frames.enumerated().dropFirst(4) {
      fixture.packets += sender.packets(frame, ticks: index * 3000).map { (index * 33, $0) }
    }
    let run = try Transcoded(
      Self.write(fixture, "call.mjr", in: scratch), to: scratch.path("out.y4m"))
    #expect(run.result.warnings.count == 1)
    #expect(run.result.warnings[0].contains("6 frames precede the first keyframe"))
    try Self.compare(
      run.path, with: clip, turns: [UInt8](repeating: 0, count: 40), frames: Array(10..<40),
      in: scratch)
  }

  @Test("H.264 whose parameter sets are only in the session description")
  func parameterSets() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(.h264)
    let sets = EncodedFrame.units(clip.frames[0].bytes).filter { [7, 8].contains($0[0] & 31) }
    let text = sets.map { Data($0).base64EncodedString() }.joined(separator: ",")
    var fixture = JanusFixture(
      "v", "h264",
      more: ", \"f\": \"packetization-mode=1; sprop-parameter-sets=\(text);level=1\"")
    var sender = RTPSender(.h264)
    for (index, frame) in clip.frames.enumerated() {
      let units = EncodedFrame.units(frame.bytes).filter { ![7, 8].contains($0[0] & 31) }
      let bare = EncodedFrame(bytes: units.flatMap { [0, 0, 0, 1] + $0 }, isKey: frame.isKey)
      fixture.packets += sender.packets(bare, ticks: index * 3000).map { (index * 33, $0) }
    }
    let run = try Transcoded(
      Self.write(fixture, "call.mjr", in: scratch), to: scratch.path("out.y4m"))
    #expect(run.result.warnings == [])
    try Self.compare(
      run.path, with: clip, turns: [UInt8](repeating: 0, count: 40), in: scratch)
  }

  // MARK: - Audio

  /// Returns a recording of the file's audio as packets of Opus (20 ms) or G.711.
  static func audio(
    _ codec: String, of path: String, written: Int, from start: Double = 0, in scratch: Scratch
  ) throws -> JanusFixture {
    var fixture = JanusFixture("a", codec, written: written)
    var sender = RTPSender(.plain)
    sender.payloadType = codec == "opus" ? 111 : codec == "pcma" ? 8 : 0
    sender.timestamp = .max - 20_000
    let frames: [EncodedFrame]
    let step: Int
    if codec == "opus" {
      let file = scratch.path("audio.ogg")
      try FFmpegTool.run([
        "-i", path, "-vn", "-c:a", "libopus", "-ar", "48000", "-ac", "2", "-frame_duration", "20",
        "-page_duration", "20000", file,
      ])
      frames = EncodedFrame.ogg(try Data(contentsOf: URL(fileURLWithPath: file)))
      step = 960
    } else {
      let file = scratch.path("audio.raw")
      let law = codec == "pcma" ? "alaw" : "mulaw"
      try FFmpegTool.run([
        "-i", path, "-vn", "-c:a", "pcm_\(law)", "-ar", "8000", "-ac", "1", "-f", law, file,
      ])
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
      frames = stride(from: 0, to: bytes.count, by: 160).map {
        EncodedFrame(bytes: Array(bytes[$0..<min($0 + 160, bytes.count)]), isKey: true)
      }
      step = 160
    }
    let skipped = Int((start * 50).rounded())
    for (index, frame) in frames.enumerated().dropFirst(skipped) {
      let packets = sender.packets(frame, ticks: index * step)
      fixture.packets += packets.map { ((index - skipped) * 20, $0) }
    }
    return fixture
  }

  struct Pair: CustomTestStringConvertible {
    let codec: String
    let output: String
    /// The seconds by which the audio recording begins after the video recording.
    let late: Double
    let copied: String
    var testDescription: String { "\(codec) \(late) s late into \(output)" }
  }

  @Test(
    "Video and audio of two recordings are in sync within one audio frame", .long,
    arguments: Loop.cases(
      [
        Pair(codec: "opus", output: "mkv", late: 0.4, copied: "opus"),
        Pair(codec: "pcma", output: "mkv", late: -0.5, copied: "pcm_alaw"),
        Pair(codec: "opus", output: "mp4", late: 0, copied: "opus"),
        Pair(codec: "opus", output: "mov", late: -0.5, copied: "aac"),
        Pair(codec: "pcmu", output: "mp4", late: 0.4, copied: "aac"),
      ], test: 2))
  func audio(_ pair: Pair) throws {
    let scratch = try Scratch()
    let source = Samples.withAudio
    let clip = try SentClip(
      .h264, count: 150, interval: 30, source: ["-i", source, "-an", "-vf", "scale=320:180"])
    #expect(clip.frames.count == 150)
    let truth = try FlashAndBeep(path: source)
    let written = 1_700_000_000_000_000
    // In the recording that begins earlier, the same moment has a later position.
    let (early, late) = (max(0, -pair.late), max(0, pair.late))
    var pictures = Self.recording(clip, RTPSender(.h264))
    pictures.header = JanusFixture("v", "h264", written: written).header
    let fixture = try Self.audio(
      pair.codec, of: source, written: written + Int(late * 1e6), from: late, in: scratch)
    let input: String
    if early > 0 {
      // The video recording begins later, without its first half second.
      let first = Int((early * 30).rounded())
      var sender = RTPSender(.h264)
      var cut = JanusFixture("v", "h264", written: written + first * 1_000_000 / 30)
      for (index, frame) in clip.frames.enumerated().dropFirst(first) {
        cut.packets += sender.packets(frame, ticks: index * 3000).map { ((index - first) * 33, $0) }
      }
      input = try Self.write(cut, "call.mjr", in: scratch)
    } else {
      input = try Self.write(pictures, "call.mjr", in: scratch)
    }
    let audio = try Self.write(fixture, "call-audio.mjr", in: scratch)
    let run = try Transcoded(input, to: scratch.path("out.\(pair.output)")) {
      $0.quick()
      $0.audio = audio
    }
    if early == 0 { #expect(run.result.warnings == []) }
    #expect(try FFmpegTool.streams(run.path, "audio").first?["codec_name"].string == pair.copied)
    let found = try FlashAndBeep(path: run.path)
    // The last flash and beep are in a shortened clip too.
    let expected = try #require(truth.offsets.last)
    let measured = try #require(
      found.beeps.last.flatMap { beep in found.flashes.last.map { beep - $0 } })
    figure("Janus \(pair.testDescription): beep was at \(expected), is at \(measured)")
    #expect(abs(measured - expected) <= 0.0214, "was \(expected), is \(measured)")
  }

  @Test("Opus is copied into WebM")
  func webm() throws {
    let scratch = try Scratch()
    let clip = try Self.clip(.vp8)
    let input = try Self.write(Self.recording(clip, RTPSender(.vp8)), "call.mjr", in: scratch)
    let audio = try Self.write(
      Self.audio("opus", of: Samples.withAudio, written: 1_700_000_000_000_000, in: scratch),
      "call-audio.mjr", in: scratch)
    let run = try Transcoded(input, to: scratch.path("out.webm")) {
      $0.audio = audio
      $0.speed = "8"
    }
    #expect(try FFmpegTool.streams(run.path, "audio").first?["codec_name"].string == "opus")
    let sent = try FFmpegTool.packets(run.path, "a:0")
    #expect(sent.count > 200)
    let steps = zip(sent.dropFirst(), sent).compactMap { next, last in
      next.time.flatMap { time in last.time.map { time - $0 } }
    }
    #expect(steps.allSatisfy { abs($0 - 0.02) < 0.0011 })
  }
}
