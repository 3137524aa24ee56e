import Foundation
import UprightOrientation
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightFiles

/// Edit lists that hide frames, and streams that begin in the middle of a group of pictures.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct EditListTests {
  /// 68 frames with audio. The edit list begins at 0.349 s, and the first keyframe in the index is at 1 s.
  private static func late(_ scratch: Scratch) throws -> String {
    let path = scratch.path("late.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=30:d=2.266 -f lavfi -i sine=d=2.266 -c:v libx264 -g 30 -c:a aac"
        + " -video_track_timescale 30000", [path])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func number(_ at: Int) -> UInt32 { bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    func set(_ value: UInt32, _ at: Int) {
      for index in 0..<4 { bytes[at + index] = UInt8(value >> (24 - 8 * UInt32(index)) & 255) }
    }
    func place(_ box: String) throws -> Int {
      try #require(bytes.indices.dropLast(4).first { bytes[$0..<$0 + 4].elementsEqual(box.utf8) })
    }
    // In the first track: version and flags, the count, then duration, media time and rate of the only
    // entry.
    let edit = try place("elst")
    set(number(edit + 12) - 349, edit + 12)
    set(number(edit + 16) + 10470, edit + 16)
    // Of the three keyframes, the first is omitted and the last is listed twice.
    let keys = try place("stss")
    #expect(number(keys + 8) == 3)
    set(number(keys + 16), keys + 12)
    set(number(keys + 20), keys + 16)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  private static func shown(_ path: String) throws -> [String] {
    let output = try FFmpegTool.run([
      "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-copyts", "-f", "framemd5", "-",
    ])
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { String($0.split(separator: " ").last ?? "") }
  }

  @Test("tag keeps the edit list: hidden frames stay hidden, and audio stays in sync")
  func tagged() throws {
    let scratch = try Scratch()
    let source = try Self.late(scratch)
    let truth = try Self.shown(source)
    #expect(truth.count == 57)
    let output = scratch.path("tagged.mp4")
    let result = try TagSession(
      input: source, output: output, options: TagSession.Options(orientation: .up)
    ).run()
    #expect(result.output.frames == 68 && result.warnings.isEmpty)
    #expect(try Self.shown(output) == truth)
    for kind in ["v:0", "a:0"] {
      let times = try [source, output].map { try FFmpegTool.packets($0, kind).first?.pts }
      #expect(times[0] == times[1], "\(kind): \(times)")
    }
    // Matroska has no edit lists.
    let shown = try TagSession(
      input: source, output: scratch.path("tagged.mkv"),
      options: TagSession.Options(orientation: .up)
    ).run()
    #expect(shown.output.frames == 68 && shown.warnings.contains { $0.contains("are shown") })
  }

  @Test("--upright metadata copies the edit list, and encoding outputs only the shown frames")
  func copied() throws {
    let scratch = try Scratch()
    let source = try Self.late(scratch)
    let turned = scratch.path("turned.mp4")
    _ = try TagSession(
      input: source, output: turned, options: TagSession.Options(orientation: .right)
    ).run()
    let copy = try Transcoded(turned, to: scratch.path("copy.mp4")) { $0.upright = .metadata }
    #expect(copy.result.output.frames == 57 && copy.report["output"]["encoded_frames"].int == 0)
    #expect(copy.result.warnings == ["11 frames stay hidden by the edit list"])
    #expect(try Self.shown(copy.path) == Self.shown(turned))
    let pixels = try Transcoded(turned, to: scratch.path("pixels.y4m"))
    #expect(try Self.shown(pixels.path) == Self.shown(turned))
  }

  @Test(
    "Leading frames that refer to missing frames are dropped with a warning"
  )
  func leading() throws {
    let scratch = try Scratch()
    let (whole, cut) = (scratch.path("whole.ts"), scratch.path("cut.ts"))
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=30:d=2 -c:v libx264 -g 15 -bf 2 -x264-params open-gop=1:scenecut=0",
      [whole])
    // Starts at the second group of pictures: its keyframe, then two frames that are shown before it.
    let packets = try FFmpegTool.packets(whole, "v:0")
    let second = try #require(packets.indices.dropFirst().first { packets[$0].isKey })
    let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
    var (kept, frames) = (Data(), -1)
    for start in stride(from: 0, to: bytes.count, by: 188) {
      let packet = bytes[start..<start + 188]
      let isVideo = (Int(packet[start + 1] & 31) << 8 | Int(packet[start + 2])) == 256
      if isVideo, packet[start + 1] & 0x40 != 0 { frames += 1 }
      if !isVideo || frames >= second { kept.append(packet) }
    }
    try kept.write(to: URL(fileURLWithPath: cut))
    let key = try #require(packets[second].pts)
    let leading = packets[second...].count { ($0.pts ?? key) < key }
    #expect(leading > 0)
    let truth = Array(try Self.shown(whole).dropFirst(second + leading))
    let copy = try Transcoded(cut, to: scratch.path("copy.mkv"))
    #expect(copy.report["output"]["copied_frames"].int == truth.count)
    #expect(
      copy.result.warnings == [
        "\(leading) frames that refer to frames before the input are left out"
      ])
    #expect(try Self.shown(copy.path) == truth)
    let pixels = try Transcoded(cut, to: scratch.path("out.y4m"))
    #expect(pixels.result.warnings == ["the input is damaged: \(leading) packets gave no frame"])
    #expect(try Self.shown(pixels.path) == truth)
  }

  @Test("A variable frame rate causes a warning for YUV4MPEG2, which has only one frame rate")
  func rates() throws {
    let scratch = try Scratch()
    let (steady, uneven) = (scratch.path("steady.mkv"), scratch.path("uneven.mkv"))
    try FFmpegTool.run("-f lavfi -i testsrc2=s=64x48:r=30000/1001:d=1 -c:v libx264", [steady])
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=30:d=1 -vf select=not(eq(mod(n\\,5)\\,3)) -fps_mode passthrough"
        + " -c:v libx264", [uneven])
    let told = try [steady, uneven].map {
      try Transcoded($0, to: scratch.path("out.y4m")) { $0.overwrites = true }.result.warnings
    }
    #expect(told[0].isEmpty && told[1].contains { $0.contains("frame rate varies") }, "\(told)")
  }
}
