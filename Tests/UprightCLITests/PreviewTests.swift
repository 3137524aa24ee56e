import Foundation
import Testing
import UprightTestSupport

@Suite("upright preview, explain --svg")
struct PreviewCommandTests {
  @Test("A sheet as PNG, the timeline as SVG, to a file or standard output", .long)
  func kinds() throws {
    let scratch = try Scratch()
    let (png, svg) = (scratch.path("s.png"), scratch.path("s.svg"))
    let run = try Upright.run(["preview", Clip.lying, "-o", png])
    #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)")
    #expect(run.errors.contains("s.png"), "\(run.errors)")
    let stream = try FFmpegTool.streams(png, "video")[0]
    #expect(stream["codec_name"].string == "png")
    #expect((900...2400).contains(stream["width"].int ?? 0))
    #expect(try Upright.run(["preview", Clip.lying, "-o", svg]).status == 0)
    #expect(try String(contentsOfFile: svg, encoding: .utf8).hasPrefix("<svg "))
    let piped = try Upright.run(
      ["preview", "-", "-o", "-", "--format", "png"], input: .pipe(try bytes(Clip.lying)))
    #expect(piped.status == 0, "\(piped.errors)")
    #expect(piped.output.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
    #expect(scratch.names == ["s.png", "s.svg"])
  }

  @Test("explain --svg draws the decisions")
  func explain() throws {
    let scratch = try Scratch()
    let path = scratch.path("t.svg")
    let run = try Upright.run(["explain", "--events", Clip.turns, "--svg", path])
    #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)")
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains(">landscapeRight<"))
    let piped = try Upright.run(["explain", "--events", Clip.turns, "--svg", "-"])
    #expect(piped.text.hasPrefix("<svg "))
  }

  @Test("Invalid arguments are refused", .long)
  func refusals() throws {
    let scratch = try folderWithOutput()
    let new = scratch.path("new.png")
    try refuse(64, ["preview", Clip.lying], "--output", in: scratch)
    try refuse(64, ["preview", Clip.lying, "-o", scratch.path("new.jpg")], "png", in: scratch)
    try refuse(64, ["preview", Clip.lying, "-o", "-"], "--format png", in: scratch)
    try refuse(64, ["preview", Clip.lying, "-o", ""], "-o", in: scratch)
    try refuse(64, ["preview", Clip.lying, "-o", new, "--crf", "x"], "--crf", in: scratch)
    try refuse(66, ["preview", scratch.path("gone.mp4"), "-o", new], "gone.mp4", in: scratch)
    try refuse(65, ["preview", scratch.path("out.mp4"), "-o", new], "out.mp4", in: scratch)
    try refuse(
      73, ["preview", Clip.lying, "-o", scratch.path("none/a.png")], "make it first", in: scratch)
    let there = try scratch.file("there.png", "there")
    try refuse(73, ["preview", Clip.lying, "-o", there], "already exists", in: scratch)
    let events = try scratch.copy(Clip.turns, as: "e.svg")
    try refuse(64, ["explain", "--events", events, "--svg", events], "--svg", in: scratch)
    try refuse(
      64, ["preview", Clip.lying, "--events", events, "-o", events, "-y"], "-o", in: scratch)
  }

  @Test("Copying: --dry-run prints what is copied, and why")
  func dryRun() throws {
    let scratch = try Scratch()
    let out = scratch.path("out.mp4")
    let turned = try Upright.run(["transcode", Clip.lying, "-o", out, "--dry-run"])
    #expect(turned.text.contains("re-encoded") && turned.text.contains("right"))
    let tagged = try Upright.run([
      "transcode", Clip.lying, "-o", out, "--upright", "metadata", "--dry-run",
    ])
    #expect(tagged.text.contains("copied"), "\(tagged.text)\(tagged.errors)")
    try refuse(
      64, ["transcode", Clip.lying, "-o", out, "--upright", "metadata", "--size", "720p"], "--size",
      in: scratch)
    try refuse(
      64, ["transcode", Clip.lying, "-o", out, "--reencode", "never"], "--reencode never",
      in: scratch)
  }
}
