import Foundation
import Testing
import UprightTestSupport

/// Encrypted tracks are refused by name, and nothing is written.
@Suite("Encrypted inputs", .serialized)
struct EncryptionTests {
  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    MovieWriter.box(type, content)
  }

  private static func clip(_ path: String, _ options: String = "") throws {
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=10:d=0.5 -f lavfi -i sine=d=0.5 -c:v libx264 -g 5 -bf 0 "
        + "-c:a aac \(options)", [path])
  }

  /// Marks track `track` as encrypted by `scheme`.
  private static func protect(_ track: Int, _ scheme: String, in path: String) throws {
    let info =
      box("frma", Array((track == 0 ? "avc1" : "mp4a").utf8))
      + box("schm", MovieWriter.be(0, 4) + Array(scheme.utf8) + MovieWriter.be(0x10000, 4))
    try MoviePatch.add(box("sinf", info), toEntryOf: track, in: path)
    try MoviePatch.rename(entryOf: track, to: track == 0 ? "encv" : "enca", in: path)
  }

  // 2 s for all.
  @Test(
    "A protected track of MP4 and MOV, by every scheme, ends with 65 and its name", .long,
    arguments: ["mp4", "mov"], ["cenc", "cbcs", "cens", "cbc1"])
  func schemes(_ container: String, _ scheme: String) throws {
    let scratch = try Scratch()
    for track in [0, 1] {
      let input = scratch.path("in\(track).\(container)")
      try Self.clip(input)
      try Self.protect(track, scheme, in: input)
      for arguments in [
        ["transcode", input, "-o", scratch.path("out.mp4")],
        ["transcode", input, "-o", scratch.path("out.m3u8")],
        ["transcode", input, "--upright", "metadata", "-o", scratch.path("out.mov")],
        ["tag", input, "--orientation", "right", "-o", scratch.path("out.mkv")],
        ["relay", input, scratch.path("out.ts")],
      ] {
        let run = try CommandLineProgram(arguments).wait(timeout: 60)
        #expect(run.status == 65, "\(arguments): \(run.errors)")
        #expect(run.errors.contains("is encrypted (\(scheme))"), "\(arguments): \(run.errors)")
      }
    }
    #expect(scratch.names == ["in0.\(container)", "in1.\(container)"])
  }

  @Test("Really encrypted files: fragmented or not, from standard input, Matroska")
  func real() throws {
    let scratch = try Scratch()
    let key =
      "-encryption_scheme cenc-aes-ctr -encryption_key 76a6c65c5ea762046bd749a2e632ccbb "
      + "-encryption_kid a7e61c373e219033c21091fa607bf3b8"
    for (name, options) in [
      ("whole.mp4", key), ("fragmented.mp4", key + " -movflags frag_keyframe+empty_moov"),
    ] {
      try Self.clip(scratch.path(name), options)
      let data = try Data(contentsOf: URL(fileURLWithPath: scratch.path(name)))
      let runs = [
        try CommandLineProgram(["transcode", scratch.path(name), "-o", scratch.path("out.mp4")])
          .wait(timeout: 60),
        try CommandLineProgram(
          ["transcode", "-", "-o", scratch.path("out.mp4"), "--input-format", "mp4"],
          input: .pipe(data)
        ).wait(timeout: 60),
      ]
      // FFmpeg 7.1 and later can't open the fragmented file, and a pipe is read only once.
      let words = [
        "is encrypted (cenc)",
        FFmpegTool.isAtLeast(7, 1) ? "not a readable media file" : "is encrypted (cenc)",
      ]
      for (run, word) in zip(runs, words).prefix(name == "whole.mp4" ? 1 : 2) {
        #expect(run.status == 65 && run.errors.contains(word), "\(run.errors)")
      }
    }
    let matroska = scratch.path("in.mkv")
    try Self.clip(matroska)
    let encryption = EBMLPatch.element(
      [0x50, 0x35], EBMLPatch.element([0x47, 0xE1], [5]))
    let encodings = EBMLPatch.element(
      [0x6D, 0x80],
      EBMLPatch.element([0x62, 0x40], EBMLPatch.element([0x50, 0x33], [1]) + encryption))
    try EBMLPatch.addToTrack(encodings, to: matroska)
    let run = try CommandLineProgram(["transcode", matroska, "-o", scratch.path("out.mkv")])
      .wait(timeout: 60)
    #expect(run.status == 65 && run.errors.contains("is encrypted (AES)"), "\(run.errors)")
    #expect(!scratch.names.contains { $0.hasPrefix("out") })
  }
}
