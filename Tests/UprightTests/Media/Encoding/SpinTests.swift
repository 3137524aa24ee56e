import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFrames
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// The spin transition, compared with a separate computation of a rotating sheet.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg")) struct SpinTests {
  /// A sheet of 128x72 as stored by the sensor: grey, with a disc of a different colour near each corner.
  private static let discs: [(x: Double, y: Double, cb: Int, cr: Int)] = [
    (16, 16, 60, 60), (112, 16, 60, 200), (16, 56, 200, 60), (112, 56, 200, 200),
  ]

  private static func sheet(
    _ scratch: Scratch, count: Int = 30, format: String = "yuv444p", times: String = "N"
  ) throws -> String {
    func chroma(_ pick: (Int) -> Int) -> String {
      discs.indices.reduce("128") { rest, index in
        let disc = discs[index]
        return "if(lte(hypot(X+0.5-\(disc.x),Y+0.5-\(disc.y)),9),\(pick(index)),\(rest))"
      }
    }
    return try TransitionTests.clip(
      scratch, "150", cb: chroma { discs[$0].cb }, cr: chroma { discs[$0].cr }, format: format,
      size: "128x72", count: count, times: times, isFine: true)
  }

  /// Returns UIKit's ease-in-out, by Newton's method: x(t) = 3(1-t)^2 t 0.42 + 3(1-t) t^2 0.58 + t^3, y =
  /// 3t^2 - 2t^3.
  private static func eased(_ time: Double) -> Double {
    var t = time
    for _ in 0..<50 {
      let x = 1.26 * (1 - t) * (1 - t) * t + 1.74 * (1 - t) * t * t + t * t * t
      let slope =
        1.26 * ((1 - t) * (1 - t) - 2 * t * (1 - t)) + 1.74 * (2 * t * (1 - t) - t * t) + 3 * t * t
      t -= (x - time) / slope
    }
    return 3 * t * t - 2 * t * t * t
  }

  /// A spin by its start and end: the frame's scale and angle on a canvas, around the centre.
  private struct Sheet {
    let canvas: (width: Double, height: Double)
    /// Canvas pixels per stored pixel, before and after.
    let scales: (Double, Double)
    /// The clockwise rotation of the stored frame in degrees, before and after.
    let degrees: (Double, Double)

    func place(_ x: Double, _ y: Double, _ fraction: Double) -> (x: Double, y: Double) {
      let scale = scales.0 + (scales.1 - scales.0) * fraction
      let angle = (degrees.0 + (degrees.1 - degrees.0) * fraction) * .pi / 180
      let (dx, dy) = ((x - 64) * scale, (y - 36) * scale)
      return (
        canvas.width / 2 + dx * cos(angle) - dy * sin(angle),
        canvas.height / 2 + dx * sin(angle) + dy * cos(angle)
      )
    }
  }

  /// Checks that each disc is at the computed position, and that there is only background just outside the
  /// sheet. Returns the number of discs on the canvas.
  private static func check(_ video: Y4M, _ frame: Int, _ sheet: Sheet, _ fraction: Double) -> Int {
    var seen = 0
    func isInside(_ place: (x: Double, y: Double)) -> Bool {
      place.x >= 2 && place.y >= 2 && place.x < Double(video.width) - 2
        && place.y < Double(video.height) - 2
    }
    for disc in discs {
      let place = sheet.place(disc.x, disc.y, fraction)
      guard isInside(place) else { continue }
      seen += 1
      let pixel = video.pixel(frame: frame, x: Int(place.x), y: Int(place.y))
      #expect(
        abs(pixel[1] - disc.cb) <= 8 && abs(pixel[2] - disc.cr) <= 8,
        "frame \(frame), disc at \(place): \(pixel)")
    }
    for (x, y) in stride(from: 4.0, to: 128, by: 8).flatMap({ [($0, -3.0), ($0, 75)] })
      + stride(from: 4.0, to: 72, by: 8).flatMap({ [(-3.0, $0), (131, $0)] })
    {
      let scale = sheet.scales.0 + (sheet.scales.1 - sheet.scales.0) * fraction
      // Two canvas pixels outside the edge, and two inside.
      func at(_ beyond: Double) -> (x: Double, y: Double) {
        sheet.place(
          x < 0 ? -beyond / scale : x > 128 ? 128 + beyond / scale : x,
          y < 0 ? -beyond / scale : y > 72 ? 72 + beyond / scale : y, fraction)
      }
      let (out, inside) = (at(2), at(-2))
      if isInside(out) {
        let luma = video.pixel(frame: frame, x: Int(out.x), y: Int(out.y))[0]
        #expect(abs(luma - 16) <= 2, "frame \(frame), beyond the edge at \(out): \(luma)")
      }
      if isInside(inside) {
        let luma = video.pixel(frame: frame, x: Int(inside.x), y: Int(inside.y))[0]
        #expect(abs(luma - 150) <= 2, "frame \(frame), inside the edge at \(inside): \(luma)")
      }
    }
    return seen
  }

  private static func run(
    _ input: String, _ scratch: Scratch, canvas: CanvasRule = .portrait,
    events: String = TransitionTests.turn, _ configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Y4M {
    try TransitionTests.run(
      input, scratch, policy: TransitionTests.policy("spin", 1), events: events, canvas: canvas
    ) {
      $0.size = .pair(PixelSize(72, 128))
      configure(&$0)
    }
  }

  @Test("The corners match a rotating sheet at every frame, with 45 degrees halfway", .long)
  func corners() throws {
    let scratch = try Scratch()
    // In subsampled chroma too: the discs are found by their chroma.
    for format in ["yuv444p", "yuv420p", "yuv422p"] {
      let video = try Self.run(Self.sheet(scratch, format: format), scratch)
      // Before the turn the frame fills 72x128. In the new layout it is 72x40 in the centre.
      let sheet = Sheet(canvas: (72, 128), scales: (1, 72.0 / 128), degrees: (90, 0))
      var seen = 0
      for frame in 10..<20 {
        let fraction = Self.eased(Double(frame - 10) / 10)
        seen += Self.check(video, frame, sheet, fraction)
      }
      #expect(seen >= 30, "\(format): \(seen)")
      #expect(Self.check(video, 15, sheet, 0.5) >= 2)
      // Before and after the spin, the frame has the plain layout. The spin's start equals it sample for
      // sample.
      #expect(Self.check(video, 9, sheet, 0) == 4)
      #expect(TransitionTests.same(9, 10, in: video))
      #expect(Self.check(video, 20, sheet, 1) == 4)
      #expect(TransitionTests.same(20, 29, in: video))
    }
  }

  @Test("The other direction, a front camera, a landscape canvas, fill")
  func ways() throws {
    let scratch = try Scratch()
    let input = try Self.sheet(scratch)
    let small = 72.0 / 128
    func check(
      _ sheet: Sheet, _ canvas: CanvasRule, to device: String, frames kind: FrameKind,
      _ configure: (inout TranscodeOptions) -> Void = { _ in }
    ) throws {
      let video = try Self.run(
        input, scratch, canvas: canvas, events: #"{"at": 1, "device": "\#(device)"}"#
      ) {
        $0.frames = kind
        configure(&$0)
      }
      for frame in [10, 12, 15, 17, 19] {
        _ = Self.check(video, frame, sheet, Self.eased(Double(frame - 10) / 10))
      }
      let seen = Self.check(video, 12, sheet, Self.eased(0.2))
      #expect(seen > 0, "\(device)")
    }
    // The shortest rotation: from 90 to 180 degrees clockwise.
    try check(
      Sheet(canvas: (72, 128), scales: (1, small), degrees: (90, 180)), .portrait,
      to: "landscapeRight", frames: .sensor(Camera()))
    // A front camera's frame rotates in the opposite direction to the interface.
    try check(
      Sheet(canvas: (72, 128), scales: (1, small), degrees: (90, 180)), .portrait,
      to: "landscapeLeft", frames: .sensor(Camera(position: .front)))
    try check(
      Sheet(canvas: (128, 72), scales: (small, 1), degrees: (90, 0)), .landscape,
      to: "landscapeLeft", frames: .sensor(Camera()))
    // With fill: the same scale before, a larger one after.
    try check(
      Sheet(canvas: (72, 128), scales: (1, 128.0 / 72), degrees: (90, 0)), .portrait,
      to: "landscapeLeft", frames: .sensor(Camera())
    ) { $0.fit = .fill }
  }

  @Test("Reference gravity and reference interface spin alike when both rotate")
  func references() throws {
    let scratch = try Scratch()
    let input = try Self.sheet(scratch)
    let byInterface = try Self.run(input, scratch) { $0.reference = .interface }
    let byGravity = try Self.run(input, scratch) { $0.reference = .gravity }
    #expect(byInterface.count == byGravity.count)
    #expect(byGravity.difference(from: byInterface) == nil)
    // The app rotates by itself. With reference gravity nothing spins, with reference interface the frame
    // does.
    let manual = #"{"at": 1, "rotate": "landscapeRight"}"#
    let upright = try Self.run(input, scratch, events: manual) { $0.reference = .gravity }
    for frame in 10..<30 { #expect(TransitionTests.same(9, frame, in: upright)) }
    let turned = try Self.run(input, scratch, events: manual) { $0.reference = .interface }
    #expect(turned.difference(from: byInterface) == nil)
  }

  @Test("Half a turn spins clockwise, there and back")
  func half() throws {
    let scratch = try Scratch()
    let input = try Self.sheet(scratch)
    let document =
      #"{"application": {"delegate": ["all"]}, "controllers": {"a": {"supported": ["all"]}}, "#
      + #""transition": {"style": "spin", "duration": 1}}"#
    // Half a turn goes clockwise in both directions.
    let events = """
      {"at": 0.5, "device": "portraitUpsideDown"}
      {"at": 1.6, "device": "portrait"}
      """
    let video = try TransitionTests.run(input, scratch, policy: document, events: events) {
      $0.size = .pair(PixelSize(72, 128))
    }
    let there = Sheet(canvas: (72, 128), scales: (1, 1), degrees: (90, 270))
    let back = Sheet(canvas: (72, 128), scales: (1, 1), degrees: (270, 450))
    for frame in [5, 7, 10, 12, 14] {
      _ = Self.check(video, frame, there, Self.eased(Double(frame - 5) / 10))
      _ = Self.check(video, frame + 11, back, Self.eased(Double(frame - 5) / 10))
    }
    #expect(Self.check(video, 7, there, Self.eased(0.2)) > 0)
  }

  @Test("A spin that waits for another begins where the first one ends")
  func interrupted() throws {
    let scratch = try Scratch()
    let events = """
      {"at": 0.5, "device": "landscapeLeft"}
      {"at": 0.8, "device": "portrait"}
      """
    let video = try Self.run(Self.sheet(scratch), scratch, events: events)
    let small = 72.0 / 128
    let there = Sheet(canvas: (72, 128), scales: (1, small), degrees: (90, 0))
    let back = Sheet(canvas: (72, 128), scales: (small, 1), degrees: (0, 90))
    for frame in 5..<15 { _ = Self.check(video, frame, there, Self.eased(Double(frame - 5) / 10)) }
    for frame in 15..<25 { _ = Self.check(video, frame, back, Self.eased(Double(frame - 15) / 10)) }
    #expect(Self.check(video, 15, back, 0) == 4 && Self.check(video, 25, back, 1) == 4)
  }

  @Test("Frames at irregular times spin by time")
  func variable() throws {
    let scratch = try Scratch()
    // Times are squares: 0, 0.1, 0.4, 0.9, 1.6, 2.5, 3.6.
    let input = try Self.sheet(scratch, count: 10, times: "N*N")
    let video = try Self.run(input, scratch)
    #expect(video.count == 10)
    let sheet = Sheet(canvas: (72, 128), scales: (1, 72.0 / 128), degrees: (90, 0))
    #expect(Self.check(video, 3, sheet, 0) == 4)
    #expect(Self.check(video, 4, sheet, Self.eased(0.6)) >= 2)
    #expect(Self.check(video, 5, sheet, 1) == 4)
  }

  @Test(
    "With canvas follow, it spins on the old canvas and the format changes at didRotate", .long
  )
  func follows() throws {
    let scratch = try Scratch()
    for name in ["out.mp4", "out.m3u8"] {
      let run = try Transcoded(
        Self.sheet(scratch), to: scratch.path(name), document: TransitionTests.policy("spin", 1),
        events: TransitionTests.turn
      ) {
        $0.sensor()
        $0.canvas = .follow
        $0.size = .pair(PixelSize(72, 128))
      }
      #expect(run.result.output.frames == 30)
      #expect(run.report["formats"].array.map { $0["first_frame"].int } == [0, 20])
      let frames = try FFmpegTool.frames(run.path)
      #expect(
        frames.map(\.width) == Array(repeating: 72, count: 20) + Array(repeating: 128, count: 10))
      let times = frames.compactMap(\.time)
      #expect(times.indices.allSatisfy { abs(times[$0] - times[0] - Double($0) / 10) < 1e-4 })
    }
  }

  @Test("Halfway, the frame is as sharp as the resampler allows")
  func sharpness() throws {
    let scratch = try Scratch()
    // A fine pattern in the stored frame. Halfway through the spin it is drawn at 0.78 of its size.
    let input = try TransitionTests.clip(
      scratch, "128+60*sin(X*0.9)*sin(Y*0.8)", size: "256x144", count: 20)
    let video = try Self.run(input, scratch) { $0.size = .pair(PixelSize(144, 256)) }
    let scale = (1 + 144.0 / 256) / 2
    let reference = scratch.path("reference.y4m")
    try FFmpegTool.run([
      "-i", input, "-vf",
      "scale=\(Int(256 * scale)):\(Int(144 * scale)):flags=bicubic+accurate_rnd", "-frames:v", "1",
      reference,
    ])
    let scaled = try Y4M(path: reference)
    func energy(_ video: Y4M, _ frame: Int) -> Double {
      var sum = 0.0
      var count = 0.0
      let (cx, cy) = (video.width / 2, video.height / 2)
      for y in cy - 35..<cy + 35 {
        for x in cx - 35..<cx + 35 where hypot(Double(x - cx), Double(y - cy)) < 35 {
          let here = video.sample(frame: frame, plane: 0, x: x, y: y)
          let right = video.sample(frame: frame, plane: 0, x: x + 1, y: y)
          let below = video.sample(frame: frame, plane: 0, x: x, y: y + 1)
          sum += Double((right - here) * (right - here) + (below - here) * (below - here))
          count += 1
        }
      }
      return sum / count
    }
    let ratio = energy(video, 15) / energy(scaled, 0)
    figure("spin at 45 degrees: gradient energy \(ratio) of the scaled frame's")
    #expect(ratio > 0.5 && ratio < 1.1)
  }

  @Test("The sample clip halfway through its first spin equals FFmpeg's rotate")
  func sample() throws {
    let scratch = try Scratch()
    let policy = Fixtures.packageRoot.appendingPathComponent("Samples/policies/spin.json")
    let run = try Transcoded(
      Samples.turning, to: scratch.path("out.y4m"),
      document: String(contentsOf: policy, encoding: .utf8), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.canvas = .portrait
      $0.size = .pair(PixelSize(192, 320))
      $0.start = 3.4
      $0.end = 3.6
    }
    // 320x180 rotated becomes 192x108, so halfway it is 256x144 in the centre. From 3.4 s on, frame 102 is
    // the first, and 106 is at 3.5333, half of 0.4 s after 3.3333.
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", Samples.turning, "-i", run.path],
      graph: "[0:v]select='eq(n,106)',scale=256:144:flags=bicubic,"
        + "rotate=PI/4:ow=192:oh=320:c=black,format=yuv420p,setsar=1[a];"
        + "[1:v]select='eq(n,4)',setsar=1[b]")
    figure("spin halfway against FFmpeg's rotate: \(ratios)")
    #expect(ratios.count == 1 && ratios.worst.luma > 27)
  }
}
