import Foundation
import Testing
import UprightTestSupport

@Suite("Warnings about invalid signals, and signals that tag can't override")
struct SignalWarningTests {
  private static let words = "display orientation message"

  @Test(
    "A truncated SEI message: probe and transcode continue with one warning", .long,
    arguments: [1, 2])
  func cutShort(damaged: Int) throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 6, gop: 6, bFrames: 0)
    // The header, the type and the size of a message without its payload.
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

  @Test("No warning about complete messages, or about other truncated messages")
  func whole() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.h264, frames: 3, gop: 3, bFrames: 0)
    // A quarter turn that persists until the next message.
    clip.insert(nal: [6, 47, 3, 0x08, 0x00, 0x09, 0x80], atShown: 0)
    // User data whose size is larger than its data.
    clip.insert(nal: [6, 5, 40, 1, 2, 3, 0x80], atShown: 1)
    let path = scratch.path("clip.mp4")
    try clip.movie.write(to: path)
    #expect(try Upright.run(["probe", path]).warnings.isEmpty)
  }

  @Test("tag changes the EXIF data in frames of Motion JPEG", .long)
  func exif() throws {
    let scratch = try Scratch()
    var clip = try EncodedClip(.mjpeg, frames: 3, gop: 3, bFrames: 0)
    let plain = scratch.path("plain.mov")
    try clip.movie.write(to: plain)
    // "left".
    clip.insert(exif: 8)
    let path = scratch.path("exif.mov")
    try clip.movie.write(to: path)
    for (input, orientation) in [(path, "right"), (path, "up"), (path, "left"), (plain, "right")] {
      let output = scratch.path("out.mov")
      let run = try Upright.run(["tag", input, "-o", output, "-y", "--orientation", orientation])
      #expect(run.status == 0 && run.warnings.isEmpty, "\(run.errors)")
      let signals = try Upright.run(["probe", output, "--json"]).json["signals"].array
      #expect(signals.allSatisfy { $0["orientation"].string == orientation }, "\(signals)")
      #expect(orientation == "up" || !signals.isEmpty)
    }
  }
}
