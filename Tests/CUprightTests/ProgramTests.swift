import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

/// C programs: the samples, and those of Tests/C.
@Suite("C programs", .tags(.lengthy))
struct ProgramTests {
  private static func clip(_ name: String) -> String {
    Fixtures.packageRoot.appendingPathComponent("Samples/clips/\(name)").path
  }

  private static let events = clip("turning-sensor.jsonl")

  /// Valgrind has tests of its own. It takes longer, most of all to read the symbols of FFmpeg's libraries.
  private static let quick: [Runner] = [.plain, .leakSanitizer]

  @Test("The sample policy.c decides without video", arguments: quick)
  func policy(_ runner: Runner) throws { try checkPolicy(runner) }

  @Test("The sample policy.c has no error under valgrind", .long, .valgrind)
  func policyChecked() throws { try checkPolicy(.valgrind) }

  private func checkPolicy(_ runner: Runner) throws {
    let scratch = try Scratch()
    let lines = try runner.run("Samples/c/policy.c", .policy, ["phone", Self.events], in: scratch)
    #expect(
      lines.prefix(5) == [
        "at 0 s: encode 720x1280", "at 3 s: encode 720x1280", "at 6 s: encode 1280x720",
        "at 9 s: encode 720x1280", "{",
      ])
    #expect(lines.filter { $0.contains("\"decision\": \"rotate\"") }.count == 2)
  }

  @Test("The sample frames.c writes a file of upright frames for each format", arguments: quick)
  func frames(_ runner: Runner) throws { try checkFrames(runner) }

  @Test("The sample frames.c has no error under valgrind", .long, .valgrind)
  func framesChecked() throws { try checkFrames(.valgrind) }

  private func checkFrames(_ runner: Runner) throws {
    let scratch = try Scratch()
    let (input, output, events) = (
      scratch.path("in.y4m"), scratch.path("out"), scratch.path("events.jsonl")
    )
    try FFmpegTool.run(["-f", "lavfi", "-i", DecodedFrames.source, "-frames:v", "10", "-y", input])
    try #"{"at": 0.2, "device": "landscapeLeft"}"#.write(
      toFile: events, atomically: true, encoding: .utf8)
    let lines = try runner.run("Samples/c/frames.c", .policy, [input, events, output], in: scratch)
    #expect(lines.prefix(2) == ["frame 0: 360x640", "frame 6: 640x360"])
    for (name, count, size, corner) in [
      ("out-0.y4m", 6, PixelSize(360, 640), "tr"), ("out-1.y4m", 4, PixelSize(640, 360), "tl"),
    ] {
      let decoded = try DecodedFrames(scratch.path(name), scratch)
      #expect(decoded.sizes == Array(repeating: size, count: count))
      #expect(Set(decoded.corners) == [corner])
    }
  }

  @Test("The sample packets.c writes a stream of upright frames for each format", arguments: quick)
  func packets(_ runner: Runner) throws { try checkPackets(runner) }

  @Test(
    "The sample packets.c has no error under valgrind", .slow("valgrind takes a minute"), .valgrind)
  func packetsChecked() throws { try checkPackets(.valgrind) }

  private func checkPackets(_ runner: Runner) throws {
    let scratch = try Scratch()
    let clip = try SentClip(
      .h264, count: 60, interval: 15, source: ["-f", "lavfi", "-i", DecodedFrames.source])
    let lines = try runner.run(
      "Samples/c/packets.c", .all, [clip.path, scratch.path("out")], in: scratch)
    #expect(
      lines.filter { !$0.hasPrefix("{") } == [
        "packet 0: 360x640", "packet 45: 640x360", "60 packets in 2 files",
      ])
    for (name, count, size, corner) in [
      ("out-0.h264", 45, PixelSize(360, 640), "tr"), ("out-1.h264", 15, PixelSize(640, 360), "tl"),
    ] {
      let decoded = try DecodedFrames(scratch.path(name), scratch)
      #expect(decoded.sizes == Array(repeating: size, count: count))
      #expect(Set(decoded.corners) == [corner])
    }
  }

  /// Costs a second.
  @Test("RTP packets from C: each format begins at its frame; misuse is a status", arguments: quick)
  func rtp(_ runner: Runner) throws {
    let scratch = try Scratch()
    let input = scratch.path("packets")
    try Self.writeRTP(to: input)
    #expect(
      try runner.run("Tests/C/rtp.c", .all, [input], in: scratch)
        == ["packet 0: 180x320", "packet 45: 320x180", "60 packets"])
  }

  /// Writes RTP packets of 60 frames, each packet after its length (RFC 4571). The frames from 45 on are stored upright.
  static func writeRTP(to path: String) throws {
    let clip = try SentClip(
      .h264, count: 60, interval: 15, source: ["-f", "lavfi", "-i", DecodedFrames.source])
    let cvo = clip.coordination((0..<60).map { $0 < 45 ? 1 : 0 })
    var (sender, file) = (RTPSender(.h264), Data())
    for (index, frame) in clip.frames.enumerated() {
      for packet in sender.packets(frame, ticks: index * 3000, cvo: cvo[index]) {
        file += [UInt8(packet.count >> 8), UInt8(packet.count & 255)] + packet
      }
    }
    try file.write(to: URL(fileURLWithPath: path))
  }

  /// Costs 3 s: a file at its own speed.
  @Test(
    "Live sessions, descriptors, segments, tags and playlists from C", .realTime, arguments: quick)
  func live(_ runner: Runner) throws {
    let scratch = try Scratch()
    let packets = scratch.path("packets")
    try Self.writeRTP(to: packets)
    #expect(
      try runner.run(
        "Tests/C/live.c", .all, [Self.clip("display-matrix.mp4"), scratch.folder.path, packets],
        in: scratch) == ["clean"])
  }

  @Test("The sample transcode.c writes an upright file, and tells how far it is", arguments: quick)
  func transcode(_ runner: Runner) throws { try checkTranscode(runner) }

  @Test(
    "The sample transcode.c has no error under valgrind", .slow("valgrind takes a minute"),
    .valgrind)
  func transcodeChecked() throws { try checkTranscode(.valgrind) }

  private func checkTranscode(_ runner: Runner) throws {
    let scratch = try Scratch()
    let (input, output, events) = (
      scratch.path("in.mp4"), scratch.path("out.mp4"), scratch.path("events.jsonl")
    )
    try FFmpegTool.run([
      "-f", "lavfi", "-i", DecodedFrames.source, "-frames:v", "30", "-c:v", "libx264", "-y", input,
    ])
    try #"{"at": 0.5, "device": "landscapeLeft"}"#.write(
      toFile: events, atomically: true, encoding: .utf8)
    let lines = try runner.run("Samples/c/transcode.c", .all, [input, events, output], in: scratch)
    #expect(lines.contains("30 frames"))
    #expect(lines.contains { $0.contains(#""decision":"rotate""#) })
    let decoded = try DecodedFrames(output, scratch)
    #expect(decoded.sizes == Array(repeating: PixelSize(320, 180), count: 30))
    #expect(decoded.corners[15...].allSatisfy { $0 == "tl" })
    #expect(decoded.corners[..<15].allSatisfy { $0 != "tl" })
  }

  @Test("The sample reader.c prints each format of a file's frames", arguments: quick)
  func reader(_ runner: Runner) throws { try checkReader(runner) }

  @Test(
    "The sample reader.c has no error under valgrind", .slow("valgrind takes a minute"), .valgrind)
  func readerChecked() throws { try checkReader(.valgrind) }

  private func checkReader(_ runner: Runner) throws {
    let scratch = try Scratch()
    // The upright frame has a red square in its top left corner.
    let lines = try runner.run(
      "Samples/c/reader.c", .all, [Self.clip("display-matrix.mp4")], in: scratch)
    #expect(lines.count == 1 && lines[0].hasPrefix("0.000 s: 360x640, turned 6, green "))
    let green = try #require(lines[0].split(separator: " ").last.flatMap { Int($0) })
    #expect(green < 90)
  }

  @Test("Each misuse is a status with a message", arguments: quick)
  func misuse(_ runner: Runner) throws { try checkMisuse(runner) }

  @Test("Misuse causes no error under valgrind", .slow("valgrind takes a minute"), .valgrind)
  func misuseChecked() throws { try checkMisuse(.valgrind) }

  private func checkMisuse(_ runner: Runner) throws {
    let scratch = try Scratch()
    let lines = try runner.run(
      "Tests/C/misuse.c", .all, [Self.clip("display-matrix.mp4"), scratch.folder.path], in: scratch)
    #expect(lines == ["clean"])
  }

  @Test(
    "Messages of a damaged input go to its own callback, and none to standard error",
    arguments: quick)
  func logs(_ runner: Runner) throws {
    let scratch = try Scratch()
    let clip = Self.clip("display-matrix.mp4")
    let damaged = try (0..<2).map { index in
      let path = scratch.path("damaged-\(index).mp4")
      try DamagedClip.write(clip, seed: UInt64(index), to: path)
      return path
    }
    #expect(try runner.run("Tests/C/logs.c", .all, damaged + [clip], in: scratch) == ["clean"])
  }

  @Test("Frames of every format are turned exactly, without an allocation")
  func formats() throws {
    let scratch = try Scratch()
    #expect(try Runner.plain.run("Tests/C/formats.c", .policy, [], in: scratch) == ["clean"])
  }
}

extension Trait where Self == ConditionTrait {
  /// Requires valgrind.
  fileprivate static var valgrind: Self {
    .enabled(if: ExternalTool("valgrind").isHere, "needs valgrind")
  }
}
