import Foundation
import Testing
import UprightTestSupport

@Suite("Signals that make no sense, or that a mark cannot overrule")
struct SignalWarningTests {
  private static let words = "display orientation message"

  @Test(
    "A SEI message cut short: probe and transcode say so once, and go on", .long, arguments: [1, 2])
  func cutShort(damaged: Int) throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 6, gop: 6, bFrames: 0)
    // The header, the type and the size of a message whose payload is not there.
    for picture in 0..<damaged { clip.insert(nal: [6, 47, 3, 0x80], atShown: picture) }
    let path = scratch.path("clip.mp4")
    try clip.movie.write(to: path)
    let runs = [
      try Upright.run(["probe", path]),
      try Upright.run(["transcode", path, "-o", scratch.path("out.mp4"), "--reencode", "always"]),
    ]
    for run in runs {
      #expect(run.status == 0)
      let warnings = run.warnings.filter { $0.contains(Self.words) }
      #expect(warnings.count == 1 && warnings[0].contains("\(damaged) "), "\(run.errors)")
    }
    #expect(try frames(scratch.path("out.mp4")) == 6)
  }

  @Test("A whole message, and other messages cut short, are no cause")
  func whole() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 3, gop: 3, bFrames: 0)
    // A quarter turn, until the next message.
    clip.insert(nal: [6, 47, 3, 0x08, 0x00, 0x09, 0x80], atShown: 0)
    // User data that claims more than there is.
    clip.insert(nal: [6, 5, 40, 1, 2, 3, 0x80], atShown: 1)
    let path = scratch.path("clip.mp4")
    try clip.movie.write(to: path)
    #expect(try Upright.run(["probe", path]).warnings.isEmpty)
  }

  @Test("tag: EXIF in Motion JPEG that goes on saying something else is told of, once", .long)
  func exif() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.mjpeg, frames: 3, gop: 3, bFrames: 0)
    let plain = scratch.path("plain.mov")
    try clip.movie.write(to: plain)
    // "left".
    clip.insert(exif: 8)
    let path = scratch.path("exif.mov")
    try clip.movie.write(to: path)
    for (input, orientation, isTold) in [
      (path, "right", true), (path, "up", true), (path, "left", false), (plain, "right", false),
    ] {
      let output = scratch.path("out.mov")
      let run = try Upright.run(["tag", input, "-o", output, "-y", "--orientation", orientation])
      #expect(run.status == 0)
      let warnings = run.warnings.filter { $0.contains("EXIF") }
      #expect(warnings.count == (isTold ? 1 : 0), "\(orientation): \(run.errors)")
      // The warning tells the truth: what is in the pictures is what stands.
      let first = try Upright.run(["probe", output, "--json"]).json["signals"][0]
      #expect(first["orientation"].string == (input == path ? "left" : "right"))
    }
  }
}
