import Foundation
import Testing
import UprightFiles
import UprightOrientation
import UprightTestSupport

/// `tag` changes the bytes that say the orientation, in a copy or in the file itself.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct PatchTests {
  /// A file that ffmpeg writes, and its name.
  struct Variant: Sendable, CustomTestStringConvertible {
    let name: String
    let options: String
    var audio = true
    /// The turn of a matrix that the file has before.
    var before: ImageOrientation = .up
    var testDescription: String { name }
  }

  /// Containers, codecs, B-frames, aspect ratios, edit lists, depths, earlier rotations. One of each kind comes first.
  static let variants = [
    Variant(name: "bframes.mp4", options: "-c:v libx264 -bf 2"),
    Variant(name: "fragmented.mp4", options: "-c:v libx264 -movflags frag_keyframe+empty_moov"),
    Variant(name: "edits.mov", options: "-ss 0.3 -c:v libx264 -bf 2", before: .right),
    Variant(name: "hevc10.mp4", options: "-c:v libx265 -pix_fmt yuv420p10le -tag:v hvc1"),
    Variant(name: "sar.mov", options: "-vf setsar=4/3 -c:v libx264", before: .left),
    Variant(name: "fast.m4v", options: "-c:v libx264 -movflags +faststart", before: .down),
    Variant(name: "old.3gp", options: "-c:v h263 -s 128x96", audio: false),
    Variant(name: "prores.mov", options: "-c:v prores_ks"),
    Variant(name: "mpeg4.mp4", options: "-c:v mpeg4", before: .upMirrored),
    Variant(name: "timecode.mov", options: "-c:v libx264 -timecode 01:00:00:00"),
    Variant(name: "vp9.mp4", options: "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime"),
    Variant(name: "dash.mp4", options: "-c:v libx264 -movflags dash+delay_moov", before: .right),
    Variant(name: "late.mp4", options: "-c:v libx264 -bf 3 -output_ts_offset 0.4"),
  ]

  private static func write(_ variant: Variant, _ scratch: Scratch) throws -> String {
    let path = scratch.path(variant.name)
    var arguments = "-f lavfi -i testsrc2=s=64x48:r=24:d=0.7".words
    if variant.audio { arguments += "-f lavfi -i sine=d=0.7:r=48000".words }
    arguments += variant.options.words + "-g 12 -preset ultrafast".words
    if variant.options.contains("x265") { arguments += "-x265-params log-level=none".words }
    try FFmpegTool.run(arguments + [path])
    if variant.before != .up { try DisplayMatrixPatch.apply(variant.before, to: path) }
    return path
  }

  private static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Returns the MD5 of all frames as FFmpeg shows them.
  private static func frames(_ path: String, _ more: String...) throws -> String {
    let output = try FFmpegTool.run(
      more + ["-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"])
    return String(decoding: output, as: UTF8.self)
  }

  @Test(
    "36 bytes, the frames as asked, and back again", .long,
    arguments: Loop.cases(variants, test: 6))
  func variant(_ variant: Variant) throws {
    let scratch = try Scratch()
    let source = try Self.write(variant, scratch)
    let before = try Self.bytes(source)
    let turns: [ImageOrientation] = [.right, .downMirrored, .up]
    for orientation in turns {
      let output = scratch.path(
        "\(orientation.name)." + (variant.name.split(separator: ".").last ?? ""))
      _ = try TagSession(
        input: source, output: output, options: .init(orientation: orientation)
      ).run()
      let after = try Self.bytes(output)
      #expect(after.count == before.count)
      #expect(zip(before, after).count { $0 != $1 } <= 36)
      // FFmpeg's own filter on the frames as they are stored is the truth.
      let filter = ["right": "transpose=1", "downMirrored": "vflip", "up": "null"]
      let truth = try FFmpegTool.run([
        "-noautorotate", "-i", source, "-map", "0:v:0", "-vf", filter[orientation.name] ?? "",
        "-fps_mode", "passthrough", "-f", "framemd5", "-",
      ])
      let wanted = String(decoding: truth, as: UTF8.self).filter(isFrame)
      #expect(try Self.frames(output).filter(isFrame) == wanted, "\(orientation)")
      // In place, and back.
      let record = scratch.path("\(orientation.name).jsonl")
      let copy = scratch.path("copy.mp4")
      try? FileManager.default.removeItem(atPath: copy)
      try FileManager.default.copyItem(atPath: source, toPath: copy)
      var options = TagSession.Options(orientation: orientation)
      options.record = record
      options.keepsTime = true
      let old = Date(timeIntervalSince1970: 1_000_000_000)
      try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: copy)
      _ = try TagSession(inPlace: copy, options: options).run()
      #expect(try Self.bytes(copy) == after)
      let attributes = try FileManager.default.attributesOfItem(atPath: copy)
      #expect(attributes[.modificationDate] as? Date == old)
      guard after != before else { continue }
      var outcomes: [UprightError?] = []
      try TagUndo(record: record).run { outcomes.append($0.error) }
      #expect(outcomes.count == 1 && outcomes.allSatisfy { $0 == nil }, "\(outcomes)")
      #expect(try Self.bytes(copy) == before)
    }
  }
}

extension String {
  /// The lines of `framemd5` that are frames. The comments have the size of the stored frames.
  fileprivate func filter(_ isIncluded: (Substring) -> Bool) -> [Substring] {
    split(separator: "\n").filter(isIncluded)
  }
}

private func isFrame(_ line: Substring) -> Bool { !line.hasPrefix("#") }
