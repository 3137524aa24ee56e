import Foundation
import UprightOrientation
import Testing
import UprightFrames
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// Overlays and blurred backgrounds.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg")) struct OverlayTests {
  /// Makes a 12x8 opaque image: red where x < 6, white elsewhere, blue in the bottom two rows.
  private static func logo(_ scratch: Scratch) throws -> String {
    let path = scratch.path("logo.png")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "color=s=12x8,format=rgba", "-vf",
      "geq=r='if(lt(Y,6),255,0)':g='if(lt(Y,6)*gte(X,6),255,0)':b='if(lt(Y,6)*lt(X,6),0,255)':a=255",
      "-frames:v", "1", path,
    ])
    return path
  }

  private static let red = [81, 90, 240]
  private static let white = [235, 128, 128]
  private static let blue = [41, 240, 110]
  private static let grey = [110, 128, 128]

  private static func isNear(_ pixel: [Int], _ colour: [Int], by: Int = 6) -> Bool {
    zip(pixel, colour).allSatisfy { abs($0 - $1) <= by }
  }

  /// Whether the logo's red, white and blue are at these points.
  private static func shows(
    _ video: Y4M, _ frame: Int, red: (Int, Int), white: (Int, Int), blue: (Int, Int)
  ) -> Bool {
    [(red, Self.red), (white, Self.white), (blue, Self.blue)].allSatisfy { place, colour in
      isNear(video.pixel(frame: frame, x: place.0, y: place.1), colour)
    }
  }

  private static func run(
    _ scratch: Scratch, _ overlay: String, canvas: CanvasRule = .portrait,
    policy: String = "{}", format: String = "yuv444p", reference: Reference? = nil
  ) throws -> Y4M {
    let ten = format.hasSuffix("10le") ? 4 : 1
    let overlay = try Overlay(parsing: logo(scratch) + overlay)
    return try TransitionTests.run(
      TransitionTests.clip(
        scratch, "\(110 * ten)", cb: "\(128 * ten)", cr: "\(128 * ten)", format: format, count: 20),
      scratch, policy: policy, canvas: canvas
    ) {
      $0.overlays = [overlay]
      $0.fit = .stretch
      $0.reference = reference
    }
  }

  @Test("An overlay is at its anchor, upright, on every frame")
  func anchored() throws {
    let scratch = try Scratch()
    let video = try Self.run(scratch, "@topTrailing:4")
    #expect((video.width, video.height) == (36, 64))
    // 12x8 with a margin of 4 at the right and the top: from (20, 4) to (32, 12).
    for frame in [0, 9, 10, 19] {
      #expect(Self.shows(video, frame, red: (22, 6), white: (30, 6), blue: (26, 11)), "\(frame)")
      for (x, y) in [(18, 8), (34, 8), (26, 2), (26, 14), (2, 60)] {
        #expect(Self.isNear(video.pixel(frame: frame, x: x, y: y), Self.grey, by: 2))
      }
    }
    let wide = try Self.run(scratch, "@bottomLeading:2:6x20", canvas: .landscape)
    // Fitted into 6x20 it is 6x4: from (2, 30) to (8, 34).
    #expect((wide.width, wide.height) == (64, 36))
    #expect(Self.isNear(wide.pixel(frame: 3, x: 3, y: 31), Self.red, by: 30))
    #expect(Self.isNear(wide.pixel(frame: 3, x: 7, y: 31), Self.white, by: 30))
    #expect(Self.isNear(wide.pixel(frame: 3, x: 10, y: 32), Self.grey, by: 2))
  }

  @Test("An overlay with window attachment keeps its position on the device's screen")
  func window() throws {
    let scratch = try Scratch()
    // In landscapeLeft the home button is on the right, so the screen's top points left. The top right
    // corner in portrait is the top left corner of the frame, and its right side is the top.
    for reference in [Reference.interface, .gravity] {
      let video = try Self.run(scratch, "@topTrailing:4:window", reference: reference)
      #expect(Self.shows(video, 9, red: (22, 6), white: (30, 6), blue: (26, 11)))
      // 8x12 at (4, 4), rotated a quarter turn counter-clockwise: white above red, blue on the right.
      #expect(
        Self.shows(video, 10, red: (6, 14), white: (6, 6), blue: (11, 10)), "\(reference)")
      #expect(Self.isNear(video.pixel(frame: 10, x: 26, y: 8), Self.grey, by: 2))
    }
    let wide = try Self.run(scratch, "@topTrailing:4:window", canvas: .landscape)
    #expect(Self.shows(wide, 10, red: (6, 14), white: (6, 6), blue: (11, 10)))
  }

  @Test(
    "During a transition, an overlay with window attachment doesn't move", .long,
    arguments: ["spin", "hold"])
  func windowInTurn(_ style: String) throws {
    let scratch = try Scratch()
    for reference in [Reference.interface, .gravity] {
      let video = try Self.run(
        scratch, "@topTrailing:4:window", policy: TransitionTests.policy(style, 0.5),
        reference: reference)
      for frame in 9..<15 {
        #expect(Self.shows(video, frame, red: (22, 6), white: (30, 6), blue: (26, 11)), "\(frame)")
      }
      #expect(Self.shows(video, 15, red: (6, 14), white: (6, 6), blue: (11, 10)))
    }
  }

  @Test(
    "Transparent, half transparent and opaque, in the canvas's pixel format", .long,
    arguments: ["yuv420p", "yuv422p", "yuv444p", "gray", "yuv420p10le", "yuv444p10le"])
  func alpha(_ format: String) throws {
    let scratch = try Scratch()
    let logo = scratch.path("alpha.png")
    // Three stripes of 8: transparent (green, which must not be visible), half transparent white, white.
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "color=s=24x16,format=rgba", "-vf",
      "geq=r='if(lt(X,8),0,255)':g=255:b='if(lt(X,8),0,255)':a='if(lt(X,8),0,if(lt(X,16),128,255))'",
      "-frames:v", "1", logo,
    ])
    let ten = format.hasSuffix("10le") ? 4 : 1
    let video = try TransitionTests.run(
      TransitionTests.clip(
        scratch, "\(60 * ten)", cb: "\(100 * ten)", cr: "\(180 * ten)", format: format, count: 3),
      scratch, policy: "{}"
    ) {
      $0.overlays = [Overlay(path: logo, anchor: .topLeading, margin: 6)]
    }
    for (x, alpha) in [(3, 0.0), (8, 0), (12, 0), (18, 0.502), (24, 1), (28, 1), (32, 0)] {
      let pixel = video.pixel(frame: 1, x: x, y: 14)
      // FFmpeg's gray is full range.
      let white = format == "gray" ? 255.0 : 235
      for (plane, ends) in [(60.0, white), (100, 128), (180, 128)].enumerated()
      where plane < video.planes.count {
        let expected = Double(ten) * (ends.0 + (ends.1 - ends.0) * alpha)
        #expect(
          abs(Double(pixel[plane]) - expected) <= 3 * Double(ten),
          "\(format) x \(x), plane \(plane): \(pixel[plane]), not \(expected)")
      }
    }
  }

  @Test("A palette image, and a JPEG that is larger than the canvas")
  func kinds() throws {
    let scratch = try Scratch()
    let palette = scratch.path("palette.png")
    try FFmpegTool.run([
      "-i", try Self.logo(scratch), "-vf",
      "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none",
      palette,
    ])
    let large = scratch.path("large.jpg")
    try FFmpegTool.run(
      "-f lavfi -i color=c=white:s=400x200 -frames:v 1 -q:v 1 -pix_fmt yuvj420p", [large])
    func run(_ overlay: Overlay) throws -> Y4M {
      try TransitionTests.run(
        TransitionTests.clip(scratch, "110", format: "yuv444p", count: 2), scratch, policy: "{}"
      ) { $0.overlays = [overlay] }
    }
    let logo = try run(Overlay(path: palette, anchor: .topLeading))
    #expect(Self.shows(logo, 0, red: (2, 2), white: (10, 2), blue: (5, 7)))
    // 400x200 with a margin of 2 on each side in 36x64 becomes 32x16, in the centre.
    let whole = try run(Overlay(path: large, anchor: .center, margin: 2))
    #expect(Self.isNear(whole.pixel(frame: 0, x: 3, y: 32), Self.white))
    #expect(Self.isNear(whole.pixel(frame: 0, x: 33, y: 25), Self.white))
    #expect(Self.isNear(whole.pixel(frame: 0, x: 18, y: 21), Self.grey, by: 2))
    #expect(Self.isNear(whole.pixel(frame: 0, x: 0, y: 32), Self.grey, by: 2))
  }

  @Test("Valid and invalid overlay descriptions")
  func reading() throws {
    let good: [(String, Overlay)] = [
      ("logo.png@topTrailing:24", Overlay(path: "logo.png", anchor: .topTrailing, margin: 24)),
      ("a@b.png@CENTER", Overlay(path: "a@b.png", anchor: .center)),
      (
        "c:/x.png@bottom:3:40X20:window",
        Overlay(
          path: "c:/x.png", anchor: .bottom, margin: 3, size: PixelSize(40, 20),
          attachment: .window)
      ),
      ("x@leading:window", Overlay(path: "x", anchor: .leading, attachment: .window)),
      ("x@top:10x20:0", Overlay(path: "x", anchor: .top, size: PixelSize(10, 20))),
    ]
    for (text, overlay) in good { #expect(try Overlay(parsing: text) == overlay, "\(text)") }
    for text in [
      "", "logo.png", "@top", "logo.png@", "logo.png@middle", "logo.png@top:", "logo.png@top:-1",
      "logo.png@top:1:2", "logo.png@top:window:window", "logo.png@top:1x", "logo.png@top:0x5",
      "logo.png@top:99999999999999999999", "logo.png@top:1.5", "logo.png@top:1x2x3",
      "logo.png@top:20000", "logo.png@top:１",
    ] {
      let error = #expect(throws: UprightError.self, "\(text)") { try Overlay(parsing: text) }
      #expect(error?.code == .usage)
      #expect(error?.remedy.contains("topTrailing") == true)
    }
  }

  // MARK: - Blur

  @Test(
    "blur: the frame as with fit, surrounded by a blurred copy without edges",
    arguments: ["yuv420p", "yuv444p", "yuv420p10le", "gray"])
  func blur(_ format: String) throws {
    let scratch = try Scratch()
    let ten = format.hasSuffix("10le") ? 4 : 1
    // Brighter to the right, with stripes that the blur must remove. The stripes move one pixel per frame.
    let input = try TransitionTests.clip(
      scratch, "\(ten)*(60+X+30*mod(X+N,2))", cb: "\(ten)*90", cr: "\(ten)*170", format: format,
      size: "96x54", count: 6)
    func run(_ fit: Fit) throws -> Y4M {
      try TransitionTests.run(input, scratch, policy: "{}", events: "") {
        $0.frames = .upright
        $0.size = .pair(PixelSize(54, 96))
        $0.fit = fit
      }
    }
    let (blurred, fitted) = (try run(.blur), try run(.fit))
    // 96x54 in 54x96: 30 rows in the centre.
    func isPicture(_ y: Int) -> Bool { fitted.sample(frame: 0, plane: 0, x: 27, y: y) > 20 * ten }
    let top = (0..<96).first(where: isPicture) ?? 0
    let bottom = (0..<96).last(where: isPicture) ?? 0
    #expect(top > 25 && bottom < 70 && bottom > top)
    var changed = 0
    for y in top...max(top, bottom) {
      for x in 0..<54 {
        let (mine, theirs) = (
          blurred.sample(frame: 0, plane: 0, x: x, y: y),
          fitted.sample(frame: 0, plane: 0, x: x, y: y)
        )
        if mine != theirs { changed += 1 }
      }
    }
    #expect(changed == 0)
    var steepest = 0
    var flicker = 0
    for y in [2, 12, 20, 75, 93] {
      for x in 0..<54 {
        let value = blurred.sample(frame: 0, plane: 0, x: x, y: y)
        // With fill: the centre 54 of 170 columns of the enlarged frame, with a mean of 60 + X + 15.
        let expected = 60 + 15 + 48 + (Double(x) - 26.5) * 54 / 96
        #expect(abs(Double(value) / Double(ten) - expected) < 8, "x \(x), y \(y): \(value)")
        if x > 0 {
          steepest = max(
            steepest, abs(value - blurred.sample(frame: 0, plane: 0, x: x - 1, y: y)))
        }
        for frame in 1..<6 {
          flicker = max(
            flicker, abs(value - blurred.sample(frame: frame, plane: 0, x: x, y: y)))
        }
      }
    }
    #expect(
      steepest <= 4 * ten && flicker <= 4 * ten, "steps of \(steepest), flicker of \(flicker)")
    if blurred.planes.count > 1 {
      let pixel = blurred.pixel(frame: 0, x: 20, y: 5)
      #expect(abs(pixel[1] - 90 * ten) <= ten && abs(pixel[2] - 170 * ten) <= ten)
    }
  }

  @Test("blur behind a frame that covers the canvas, and behind a spin")
  func blurElsewhere() throws {
    let scratch = try Scratch()
    let input = try TransitionTests.clip(scratch, "120", count: 20)
    let video = try TransitionTests.run(
      input, scratch, policy: TransitionTests.policy("spin", 0.5)
    ) { $0.fit = .blur }
    // The frame and its blurred copy are the same grey, so no other value may be visible.
    for frame in 0..<20 {
      #expect(video.plane(0, frame: frame).allSatisfy { abs(Int($0) - 120) <= 1 }, "\(frame)")
    }
  }
}
