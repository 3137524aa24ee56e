import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// The titles, languages and dispositions of tracks, and the tags of files.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct TrackTagTests {
  /// Encodes three audio tracks, of which the second is the default.
  private static func source(_ scratch: Scratch, _ name: String) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.4", "-f", "lavfi", "-i", "sine=d=0.4",
      "-map", "0", "-map", "1", "-map", "1", "-map", "1", "-c:v", "libx264", "-preset",
      "ultrafast", "-c:a", "aac",
      "-metadata:s:a:0", "language=eng", "-metadata:s:a:0", "title=Director",
      "-metadata:s:a:1", "language=fra", "-metadata:s:a:1", "title=Le film",
      "-metadata:s:a:2", "language=\(name.hasSuffix("mov") ? "ger" : "deu")", "-disposition:a:0",
      "comment", "-disposition:a:1",
      "default", "-disposition:a:2", "forced", "-metadata",
      "creation_time=2024-05-06T07:08:09.123456Z", path,
    ])
    return path
  }

  @Test(
    "Languages, titles and dispositions of several audio tracks", .long,
    arguments: ["in.mkv", "in.mp4", "in.mov"], ["out.mkv", "out.mp4", "out.mov"])
  func tracks(_ input: String, _ output: String) throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, input)
    let run = try Transcoded(source, to: scratch.path(output)) {
      $0.size = .pair(PixelSize(48, 48))
      $0.quick()
    }
    let (before, after) = (
      try FFmpegTool.streams(source, "audio"), try FFmpegTool.streams(run.path, "audio")
    )
    #expect(after.count == 3)
    // QuickTime's table has only one of a language's two codes.
    let languages = after.map { $0["tags"]["language"].string ?? "none" }
    #expect(
      languages.prefix(2) == ["eng", "fra"] && ["deu", "ger"].contains(languages[2]), "\(languages)"
    )
    // The source's dispositions that the container supports. MP4 stores the default track.
    for mark in output == "out.mkv" ? ["default", "forced", "comment"] : ["default"] {
      #expect(
        after.map { $0["disposition"][mark].int } == before.map { $0["disposition"][mark].int },
        "\(mark)")
    }
    if input == "in.mkv" {
      let names = after.map {
        $0["tags"]["title"].string ?? $0["tags"]["handler_name"].string ?? ""
      }
      #expect(names[0] == "Director" && names[1] == "Le film", "\(names)")
    }
    let format = try FFmpegTool.probe(run.path, ["-show_format"])["format"]["tags"]
    // QuickTime and MP4 have a resolution of one second.
    #expect(format["creation_time"].string?.hasPrefix("2024-05-06T07:08:09") == true)
    if input == "in.mkv", output == "out.mkv" {
      let was = try FFmpegTool.probe(source, ["-show_format"])["format"]["tags"]["creation_time"]
      #expect(format["creation_time"].string == was.string)
    }
  }

  @Test(
    "A tag is kept or reported as dropped", .long,
    arguments: ["out.mp4", "out.mov", "out.mkv", "out.flv", "out.ts", "out.y4m"], [true, false])
  func tags(_ output: String, _ isTitled: Bool) throws {
    let scratch = try Scratch()
    let source = scratch.path("in.mkv")
    var tags = [
      "com.android.version": "14", "com.apple.quicktime.make": "Maker", "make": "Maker",
      "performer": "Nobody",
    ]
    if isTitled { tags.merge(["title": "A walk", "composer": "Me", "lyrics": "La"]) { $1 } }
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.2", "-c:v", "libx264"]
        + tags.flatMap { ["-metadata", "\($0.key)=\($0.value)"] } + [source])
    let run = try Transcoded(source, to: scratch.path(output)) {
      $0.size = .pair(PixelSize(48, 48))
      $0.quick()
      if output == "out.y4m" { $0.speed = nil }
    }
    let found = try FFmpegTool.probe(run.path, ["-show_format"])["format"]["tags"].object.keys
      .map { $0.lowercased() }
    let dropped =
      run.report["output"]["dropped"].array.compactMap(\.string)
      .first { $0.hasPrefix("tags that ") }?.split(separator: ": ").last?
      .split(separator: ", ").map { $0.lowercased() } ?? []
    for tag in tags.keys {
      #expect(found.contains(tag) != dropped.contains(tag), "\(tag): \(found); \(dropped)")
    }
    switch output {
    case "out.mkv", "out.flv": #expect(dropped.isEmpty)
    // A title is written where players look for it. Without a title, nothing is lost.
    case "out.mp4", "out.mov": #expect(dropped.isEmpty == (!isTitled && output == "out.mp4"))
    default: #expect(dropped.count == tags.count)
    }
  }
}
