import Foundation
import Testing
import UprightTestSupport

@Suite("Janus recordings on the command line", .enabled(if: FFmpegTool.isHere, "needs ffmpeg"))
struct JanusCommandTests {
  private static let clip = Result { try SentClip(.vp8, size: "96x64", count: 20, interval: 5) }

  private static func recording() throws -> JanusFixture {
    var fixture = JanusFixture("v", "vp8", extensions: [(4, "urn:3gpp:video-orientation")])
    var sender = RTPSender(.vp8)
    for (index, frame) in try clip.get().frames.enumerated() {
      fixture.packets += sender.packets(frame, ticks: index * 3000, cvo: index < 8 ? 0 : 1).map {
        (index * 33, $0)
      }
    }
    return fixture
  }

  private static var audio: JanusFixture {
    var fixture = JanusFixture("a", "pcmu")
    var sender = RTPSender(.plain)
    for index in 0..<30 {
      let bytes = [UInt8](repeating: 0xFF, count: 160)
      fixture.packets += sender.packets(EncodedFrame(bytes: bytes, isKey: true), ticks: index * 160)
        .map { (index * 20, $0) }
    }
    return fixture
  }

  @Test("A recording is detected by its first bytes, with any name; probe lists its CVO by frame")
  func recognised() throws {
    let scratch = try Scratch()
    let input = try scratch.file("call.bin", Self.recording().bytes)
    let output = scratch.path("out.mp4")
    let run = try Upright.run(["transcode", input, "-o", output, "--speed", "ultrafast"])
    #expect(run.status == 0 && run.warnings.isEmpty, "\(run.errors)")
    #expect(try frames(output) == 20)
    let probe = try Upright.run(["probe", input, "--json"])
    let signals = probe.json["signals"].array
    #expect(signals.map { $0["source"].string } == ["cvo", "cvo"])
    #expect(signals.map { $0["frame"].int } == [0, 8])
    #expect(signals.map { $0["degrees"].int } == [0, 90])
    #expect(probe.json["streams"][0]["codec"].string == "vp8")
    #expect(probe.json["streams"][0]["width"].int == 96)
    #expect(try Upright.run(["probe", input]).text.contains("mjr"))
  }

  @Test("From standard input, a file or a pipe")
  func standardInput() throws {
    let scratch = try Scratch()
    let bytes = try Self.recording().bytes
    let output = scratch.path("out.mp4")
    let run = try Upright.run(
      ["transcode", "-", "--input-format", "mjr", "-o", output, "--speed", "ultrafast"],
      input: .pipe(bytes))
    #expect(run.status == 0, "\(run.errors)")
    #expect(try frames(output) == 20)
  }

  @Test("Audio and video")
  func withAudio() throws {
    let scratch = try Scratch()
    let input = try scratch.file("call.mjr", Self.recording().bytes)
    let audio = try scratch.file("call-audio.mjr", Self.audio.bytes)
    let output = scratch.path("out.mp4")
    let run = try Upright.run([
      "transcode", input, "--audio", audio, "-o", output, "--speed", "ultrafast",
    ])
    #expect(run.status == 0 && run.warnings.isEmpty, "\(run.errors)")
    #expect(try FFmpegTool.streams(output, "audio").first?["codec_name"].string == "aac")
  }

  @Test("Truncated: all complete frames and one warning, or 65 if there are none", .long)
  func cut() throws {
    let scratch = try Scratch()
    let fixture = try Self.recording()
    let whole = fixture.bytes
    // The end of each packet, and whether it is the last one of its frame.
    var ends: [(end: Int, isLast: Bool)] = []
    var place = 10 + fixture.header.utf8.count
    for packet in fixture.packets {
      place += 10 + packet.bytes.count
      ends.append((place, packet.bytes[1] & 0x80 != 0))
    }
    for percent in [0, 1, 3, 5, 10, 20, 33, 50, 66, 80, 90, 95, 99] {
      let size = whole.count * percent / 100
      let input = try scratch.file("cut.mjr", whole.prefix(size))
      let output = scratch.path("out.y4m")
      try? FileManager.default.removeItem(atPath: output)
      let complete = ends.filter { $0.isLast && $0.end <= size }.count
      let run = try Upright.run(["transcode", input, "-o", output])
      guard complete > 0 else {
        #expect([0, 65].contains(run.status), "\(percent) %: \(run.errors)")
        if run.status == 65 { #expect(!scratch.names.contains("out.y4m")) }
        continue
      }
      #expect(run.status == 0, "\(percent) %: \(run.errors)")
      // The incomplete frame may be decoded with concealed errors.
      let count = try Y4M(path: output).count
      #expect((complete...complete + 1).contains(count), "\(percent) %: \(count) of \(complete)")
      if ends.contains(where: { $0.end == size && $0.isLast }) { continue }
      #expect(run.problems.count == 1, "\(percent) %: \(run.errors)")
      let strict = try Scratch()
      try refuse(
        65, ["transcode", input, "-o", strict.path("out.y4m"), "--strict"], input, in: strict)
    }
    #expect(scratch.leftovers.isEmpty)
  }

  @Test("65: the errors of invalid recordings have their reason", .long)
  func refused() throws {
    let scratch = try folderWithOutput()
    let out = ["-o", scratch.path("out.mp4"), "-y"]
    let good = try Self.recording()
    func variant(_ header: String) -> Data {
      var fixture = good
      fixture.header = header
      return fixture.bytes
    }
    var empty = good
    empty.packets = []
    var deltas = good
    deltas.packets = good.packets.filter { $0.ms >= 33 && $0.ms < 160 }
    var noise = good
    noise.packets = (0..<50).map { ($0, [UInt8](repeating: UInt8($0), count: 40)) }
    let rows: [(String, Data, [String])] = [
      ("json.mjr", variant("{\"t\": \"v\", "), ["not JSON"]),
      ("list.mjr", variant("[1]"), ["no kind (t)"]),
      ("kind.mjr", variant("{\"c\": \"vp8\"}"), ["no kind (t)"]),
      ("data.mjr", variant("{\"t\": \"d\", \"c\": \"text\"}"), ["a recording of data"]),
      ("number.mjr", variant("{\"t\": \"v\", \"c\": 3}"), ["no codec (c)"]),
      (
        "av1.mjr", variant("{\"t\": \"v\", \"c\": \"av1\"}"),
        ["recordings of av1 are not supported", "h264, vp8, vp9, opus, pcmu, pcma"]
      ),
      ("cross.mjr", variant("{\"t\": \"v\", \"c\": \"opus\"}"), ["recordings of opus"]),
      (
        "secret.mjr", variant("{\"t\": \"v\", \"c\": \"vp8\", \"e\": true}"),
        ["end-to-end encrypted"]
      ),
      ("empty.mjr", empty.bytes, ["no packet"]),
      ("header.mjr", good.bytes.prefix(30), ["cut off within its header"]),
      ("magic.mjr", good.bytes.prefix(8), ["cut off within its header"]),
      ("deltas.mjr", deltas.bytes, ["no keyframe"]),
      ("noise.mjr", noise.bytes, ["no keyframe"]),
      ("wrong.mjr", variant("{\"t\": \"v\", \"c\": \"h264\"}"), ["no keyframe"]),
      ("audio.mjr", Self.audio.bytes, ["no video stream"]),
    ]
    for (name, data, words) in rows {
      let input = try scratch.file(name, data)
      for word in words {
        try refuse(65, ["transcode", input] + out, word, name, in: scratch)
      }
    }
  }

  @Test("--audio needs a recording of audio, and an input that is a recording of video", .long)
  func wrongAudio() throws {
    let scratch = try folderWithOutput()
    let out = ["-o", scratch.path("out.mp4"), "-y"]
    let input = try scratch.file("call.mjr", Self.recording().bytes)
    let audio = try scratch.file("audio.mjr", Self.audio.bytes)
    let other = try scratch.file("other.mjr", Self.recording().bytes)
    var late = Self.audio
    late.header = JanusFixture("a", "pcmu", written: 1_800_000_000_000_000).header
    let later = try scratch.file("later.mjr", late.bytes)
    try refuse(
      65, ["transcode", input, "--audio", other] + out, "expected a recording of audio", other,
      in: scratch)
    try refuse(
      65, ["transcode", audio, "--audio", input] + out, "expected a recording of video", in: scratch
    )
    try refuse(65, ["transcode", input, "--audio", later] + out, "the same call", in: scratch)
    try refuse(
      65, ["transcode", input, "--audio", Clip.withAudio] + out, "not a Janus recording",
      in: scratch)
    try refuse(
      66, ["transcode", input, "--audio", scratch.path("none.mjr")] + out, "no such file",
      in: scratch)
    try refuse(
      64, ["transcode", Clip.withAudio, "--audio", audio] + out, "not a Janus recording",
      in: scratch)
    try refuse(64, ["transcode", input, "--audio", "-"] + out, "standard input", in: scratch)
    try refuse(
      73, ["transcode", input, "--audio", audio, "-o", audio, "--format", "mp4", "-y"],
      "the output is the input", in: scratch)
    try refuse(
      64, ["transcode", input, "--audio", audio, "--report", audio] + out, "the audio", in: scratch)
  }

  @Test("Damaged bytes: exit status 0 or 65, never a crash", .long)
  func flipped() throws {
    let scratch = try Scratch()
    let whole = try Self.recording().bytes
    for seed in 1...12 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var damaged = whole
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      let input = try scratch.file("damaged.mjr", damaged)
      let output = scratch.path("out\(seed).y4m")
      let run = try Upright.run(["transcode", input, "-o", output])
      #expect([0, 65].contains(run.status), "seed \(seed): \(run.errors)")
      #expect(run.lines.allSatisfy { $0.hasPrefix("upright: ") }, "\(run.errors)")
    }
    #expect(scratch.leftovers.isEmpty)
  }
}
