import Foundation
import Testing
import UprightFiles
import UprightMedia
import UprightMediaIO
import UprightOrientation
import UprightPolicy
import UprightTestSupport

@testable import UprightLive

/// Decisions about a frame depend on the size that is shown.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct ShapeTests {
  private static let part = PixelRect(x: 16, y: 8, width: 120, height: 80)

  static let clips: [ShapeClip] = [
    ShapeClip(scale: (1, 1.3333), orientation: .right),
    ShapeClip(ratio: Rational(1, 1), vui: Rational(4, 3)),
    ShapeClip(container: .mkv, source: .display, crop: part),
    ShapeClip(container: .ts, source: .bitstream, ratio: Rational(1, 2)),
    ShapeClip(container: .mov, source: .aperture, ratio: Rational(4, 3)),
    ShapeClip(source: .track, ratio: Rational(3, 2), orientation: .left),
    ShapeClip(ratio: Rational(4, 5), crop: part, orientation: .right),
    ShapeClip(ratio: Rational(2, 5), vui: Rational(2, 1)),
    ShapeClip(container: .mov, ratio: Rational(2, 5), orientation: .down, format: "yuv420p10le"),
    ShapeClip(ratio: Rational(3, 2), scale: (0.5, 1), orientation: .left),
    ShapeClip(ratio: Rational(4, 3), scale: (1.5, 1.5), orientation: .downMirrored),
    ShapeClip(container: .mkv, source: .display, ratio: Rational(1, 1), vui: Rational(4, 3)),
    ShapeClip(
      container: .mkv, source: .display, ratio: Rational(1, 2), vui: Rational(4, 3), crop: part),
    ShapeClip(container: .mkv, source: .bitstream, ratio: Rational(3, 2)),
    ShapeClip(source: .bitstream, ratio: Rational(1, 2), orientation: .right, codec: "libx265"),
    ShapeClip(
      ratio: Rational(8, 5), crop: PixelRect(x: 33, y: 17, width: 100, height: 70),
      orientation: .leftMirrored),
    ShapeClip(
      container: .mov, source: .aperture, ratio: Rational(1, 2), crop: part, orientation: .right,
      codec: "libx265", format: "yuv420p10le"),
    ShapeClip(scale: (0.75, 1.5), orientation: .rightMirrored, format: "yuv444p"),
  ]

  @Test(
    "The disc of a clip is round, upright and whole, and its size is the shown one",
    arguments: Loop.cases(clips, check: 4, test: 18))
  func shown(_ clip: ShapeClip) throws {
    let scratch = try Scratch()
    let input = try clip.write(scratch)
    let size = clip.shownSize
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    let picture = try Y4M(path: run.path)
    // Even numbers, rounded down.
    #expect(abs(Double(picture.width) - size.width) <= 2, "\(picture.width) \(size)")
    #expect(abs(Double(picture.height) - size.height) <= 2, "\(picture.height) \(size)")
    let found = ShownDisc(picture, frame: 1)
    let disc = clip.shown(ShapeClip.disc, ShapeClip.disc)
    #expect(abs(Double(found.disc.width) - disc.width) <= 3, "\(found.disc) \(disc)")
    #expect(abs(Double(found.disc.height) - disc.height) <= 3, "\(found.disc) \(disc)")
    // The square is in the corner that the top left corner of the stored frame becomes.
    let corner = Point(x: 0, y: 0)
      .applying(AffineMatrix(clip.orientation, size: PixelSize(1, 1)))
    let square = clip.shown(ShapeClip.corner, ShapeClip.corner)
    let left = corner.x == 0 ? found.corner.x : picture.width - found.corner.x - found.corner.width
    let top = corner.y == 0 ? found.corner.y : picture.height - found.corner.y - found.corner.height
    #expect(left <= 2 && top <= 2, "\(found.corner)")
    #expect(abs(Double(found.corner.width) - square.width) <= 3, "\(found.corner) \(square)")
    #expect(abs(Double(found.corner.height) - square.height) <= 3, "\(found.corner) \(square)")
    // The report, the probe and the policy agree.
    let upright = run.result.input.size
    #expect(clip.orientation.applied(to: upright).isLandscape == (size.width >= size.height))
    let video = try #require(try Probe(input: input).streams.first?.video)
    #expect(video.shownSize == upright && video.size == ShapeClip.stored)
    let format = try #require(run.result.formats.first)
    #expect(format.format.appOrientation.isLandscape == (size.width >= size.height))
    #expect(run.result.formats.count == 1)
  }

  @Test("An anamorphic frame decides the canvas by its shown size", arguments: ["mp4", "m3u8"])
  func policy(_ name: String) throws {
    let scratch = try Scratch()
    let input = try ShapeClip(container: .ts, source: .bitstream, ratio: Rational(1, 2))
      .write(scratch)
    let run = try Transcoded(input, to: scratch.path("out.\(name)")) {
      $0.canvas = .follow
      $0.quick()
    }
    let format = try #require(run.result.formats.first?.format)
    #expect(format.appOrientation == .portrait)
    #expect(!format.encodeResolution.isLandscape)
    if name == "mp4" { #expect(format.encodeResolution == PixelSize(80, 96)) }
  }

  @Test("A copy doesn't show what the container crops, and one of wide pixels keeps their shape")
  func copies() throws {
    let scratch = try Scratch()
    let cropped = try ShapeClip(crop: Self.part).write(scratch)
    let run = try Transcoded(cropped, to: scratch.path("out.mp4")) { $0.quick() }
    #expect(run.result.output.copiedFrames == 0 && run.result.output.sizes == [Self.part.size])
    let refused = #expect(throws: UprightError.self) {
      try Transcoded(cropped, to: scratch.path("no.mp4")) { $0.upright = .metadata }
    }
    #expect(refused?.code == .usage)
    let wide = try ShapeClip(ratio: Rational(2, 1), vui: Rational(1, 1), orientation: .right)
      .write(scratch)
    let copy = try Transcoded(wide, to: scratch.path("copy.mov")) { $0.upright = .metadata }
    #expect(copy.result.output.copiedFrames == 3)
    let video = try #require(try Probe(input: copy.path).streams.first?.video)
    #expect(video.shownSize == PixelSize(320, 96))
  }

  @Test("A ratio that changes in mid-stream changes the shape from its frame on")
  func changes() throws {
    let scratch = try Scratch()
    // 2:1 makes 64x48 landscape, 1:2 makes it portrait.
    for (name, ratio) in [("a", "2/1"), ("b", "1/2")] {
      try FFmpegTool.run(
        "-f lavfi -i testsrc2=s=64x48:r=25,setsar=\(ratio) -frames:v 10 -pix_fmt yuv420p -c:v libx264 -bf 0",
        [scratch.path("\(name).ts")])
    }
    let joined = scratch.path("joined.ts")
    let bytes = try ["a", "b"].map {
      try Data(contentsOf: URL(fileURLWithPath: scratch.path("\($0).ts")))
    }
    try (bytes[0] + bytes[1]).write(to: URL(fileURLWithPath: joined))
    let run = try Transcoded(joined, to: scratch.path("out.mkv")) {
      $0.canvas = .landscape
      $0.quick()
    }
    #expect(run.result.formats.map(\.format.appOrientation.isLandscape) == [true, false])
    #expect(run.result.formats.last?.firstFrame == 10)
  }

  @Test("Live: the shown size decides too", .realTime)
  func live() throws {
    let scratch = try Scratch()
    let path = try ShapeClip(container: .ts, source: .bitstream, ratio: Rational(1, 2))
      .write(scratch, frames: 12)
    let stage = try LiveTestSession(
      [.hls(folder: scratch.path("hls"))], input: .file(path: path)
    ) {
      $0.options.canvas = .follow
      $0.options.size = .source
    }
    #expect(stage.session.join(timeout: 30))
    let format = try #require(stage.formats.first?.format)
    #expect(format.appOrientation == .portrait && stage.formats.count == 1)
    #expect(format.encodeResolution == PixelSize(80, 96))
  }

  @Test("Implausible numbers are ignored")
  func implausible() throws {
    let scratch = try Scratch()
    let clip = ShapeClip(
      ratio: Rational(1 << 30, 1), crop: PixelRect(x: 0, y: 0, width: 4000, height: 16),
      scale: (400, 0.01))
    let run = try Transcoded(try clip.write(scratch), to: scratch.path("out.y4m"))
    #expect(run.result.output.sizes == [ShapeClip.stored])
  }
}
