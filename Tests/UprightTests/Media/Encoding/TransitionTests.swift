import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// Transitions, frame by frame: a phone that films at 10 frames per second and rotates at frame 10.
///
/// The sensor stores 64x36. Portrait is a quarter turn clockwise, landscapeLeft is none. Frame n has a luma
/// of 16 + 4n, which identifies the frame that is shown.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg")) struct TransitionTests {
  static let turn = #"{"at": 1, "device": "landscapeLeft"}"#

  static func policy(_ style: String, _ duration: Double, more: String = "") -> String {
    #"{"transition": {"style": "\#(style)", "duration": \#(duration)}\#(more)}"#
  }

  /// Encodes a lossless clip of `count` frames. `luma`, `cb` and `cr` are expressions of N, X and Y in the
  /// planes of `format`, or of 4:4:4 if `isFine`.
  static func clip(
    _ scratch: Scratch, _ luma: String = "16+4*N", cb: String = "128", cr: String = "128",
    format: String = "yuv420p", size: String = "64x36", count: Int = 40, times: String = "N",
    isFine: Bool = false
  ) throws -> String {
    let path = scratch.path("in-\(UUID().uuidString).mkv")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "nullsrc=s=\(size):r=10:d=\(Double(count) / 10)", "-vf",
      "format=\(isFine ? "yuv444p" : format),geq=lum='\(luma)':cb='\(cb)':cr='\(cr)',"
        + "scale=flags=bicubic,format=\(format),settb=1/1000,setpts='100*\(times)'",
      "-fps_mode", "passthrough", "-c:v", "ffv1", "-level", "3", path,
    ])
    return path
  }

  /// Transcodes the clip and reads the output's frames.
  static func run(
    _ input: String, _ scratch: Scratch, policy: String, events: String = turn,
    canvas: CanvasRule = .portrait, _ configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Y4M {
    let run = try Transcoded(
      input, to: scratch.path("out-\(UUID().uuidString).y4m"), document: policy, events: events
    ) {
      $0.sensor()
      $0.canvas = canvas
      $0.size = .pair(PixelSize(36, 64))
      configure(&$0)
    }
    return try Y4M(path: run.path)
  }

  /// Whether two frames are equal.
  static func same(_ a: Int, _ b: Int, in video: Y4M) -> Bool {
    video.planes.indices.allSatisfy { video.plane($0, frame: a) == video.plane($0, frame: b) }
  }

  static func centre(_ video: Y4M, _ frame: Int, plane: Int = 0) -> Int {
    video.pixel(frame: frame, x: video.width / 2, y: video.height / 2)[plane]
  }

  /// The index of the frame that is shown in the centre.
  static func number(_ video: Y4M, _ frame: Int) -> Int { (centre(video, frame) - 16) / 4 }

  // MARK: - Hold

  @Test("hold: the last frame before the rotation is shown until didRotate")
  func hold() throws {
    let scratch = try Scratch()
    let video = try Self.run(Self.clip(scratch), scratch, policy: Self.policy("hold", 0.5))
    #expect(video.count == 40)
    let expected = Array(0..<10) + [9, 9, 9, 9, 9] + Array(15..<40)
    #expect((0..<video.count).map { Self.number(video, $0) } == expected)
    for frame in 10...14 { #expect(Self.same(9, frame, in: video), "frame \(frame)") }
    // Until then it fills the canvas as before. After that the new layout is used.
    #expect(video.pixel(frame: 14, x: 18, y: 2)[0] == 16 + 4 * 9)
    #expect(video.pixel(frame: 15, x: 18, y: 2)[0] == 16)
  }

  @Test("hold with canvas follow: the old format until didRotate, and no frame lost")
  func holdFollows() throws {
    let scratch = try Scratch()
    let run = try Transcoded(
      Self.clip(scratch, "16+5*N"), to: scratch.path("out.mp4"),
      document: Self.policy("hold", 0.5), events: Self.turn
    ) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(36, 64))
      $0.rate = .constantQuality(1)
    }
    #expect(run.report["formats"].array.map { $0["first_frame"].int } == [0, 15])
    #expect(run.report["formats"].array.map { $0["turn"].string } == ["right", "up"])
    let frames = try FFmpegTool.frames(run.path)
    #expect(
      frames.map(\.width) == Array(repeating: 36, count: 15) + Array(repeating: 64, count: 25))
  }

  @Test("A rotation at the first frame holds that frame, in the new layout")
  func first() throws {
    let scratch = try Scratch()
    let video = try Self.run(
      Self.clip(scratch), scratch, policy: Self.policy("hold", 0.5),
      events: #"{"at": 0, "device": "landscapeLeft"}"#)
    #expect((0..<8).map { Self.number(video, $0) } == [0, 0, 0, 0, 0, 5, 6, 7])
    #expect(video.pixel(frame: 0, x: 18, y: 2)[0] == 16)
    let faded = try Self.run(
      Self.clip(scratch), scratch, policy: Self.policy("crossfade", 0.5),
      events: #"{"at": 0, "device": "landscapeLeft"}"#)
    #expect((0..<8).map { Self.number(faded, $0) } == Array(0..<8))
  }

  @Test(
    "A rotation at the last frame, which ends after it",
    arguments: ["hold", "crossfade", "spin"])
  func last(_ style: String) throws {
    let scratch = try Scratch()
    let video = try Self.run(
      Self.clip(scratch), scratch, policy: Self.policy(style, 0.5),
      events: #"{"at": 3.9, "device": "landscapeLeft"}"#)
    #expect(video.count == 40)
    #expect(Self.number(video, 38) == 38)
    // All three begin with the layout before: held, not blended yet, not rotated yet.
    #expect(Self.number(video, 39) == (style == "spin" ? 39 : 38))
    #expect(video.pixel(frame: 39, x: 18, y: 2)[0] == 16 + 4 * (style == "spin" ? 39 : 38))
  }

  @Test("A rotation that waits for another holds the last frame of the first")
  func interrupted() throws {
    let scratch = try Scratch()
    let events = """
      {"at": 1, "device": "landscapeLeft"}
      {"at": 1.2, "device": "portrait"}
      {"at": 1.3, "device": "landscapeRight"}
      """
    let held = try Self.run(
      Self.clip(scratch), scratch, policy: Self.policy("hold", 0.5), events: events)
    // Frame 9 is held through both rotations, because no frame was shown between them. New frames are shown
    // from 2.0 on.
    let expected = Array(0..<10) + Array(repeating: 9, count: 10) + Array(20..<40)
    #expect((0..<40).map { Self.number(held, $0) } == expected)
    let faded = try Self.run(
      Self.clip(scratch), scratch, policy: Self.policy("crossfade", 0.5), events: events)
    // The second blend begins with the last frame of the first.
    #expect(Self.number(faded, 15) == 14)
    #expect(faded.count == 40)
  }

  @Test("Frames at irregular times: the time decides, not the number of frames")
  func variable() throws {
    let scratch = try Scratch()
    // Times are squares: 0, 0.1, 0.4, 0.9, 1.6, 2.5, 3.6. The transition lasts from 1.0 to 2.6.
    let input = try Self.clip(scratch, count: 7, times: "N*N")
    let video = try Self.run(input, scratch, policy: Self.policy("hold", 1.6))
    #expect((0..<7).map { Self.number(video, $0) } == [0, 1, 2, 3, 3, 3, 6])
    let grain = try Self.run(
      input, scratch, policy: Self.policy("crossfade", 1.6),
      events: #"{"at": 0.901, "device": "landscapeLeft"}"#)
    // 0.9 is 1 ms before the event. It counts as part of the transition, at progress 0.
    #expect((0..<4).map { Self.number(grain, $0) } == [0, 1, 2, 2])
  }

  // MARK: - Crossfade

  @Test(
    "crossfade: each frame is blended by its progress, in every depth and subsampling", .long,
    arguments: [
      "yuv420p", "yuv422p", "yuv444p", "gray", "yuv420p10le", "yuv422p10le", "yuv444p12le",
    ])
  func crossfade(_ format: String) throws {
    let scratch = try Scratch()
    let depth = format.contains("10") ? 4 : format.contains("12") ? 16 : 1
    func step(_ from: Int, _ to: Int) -> String { "\(depth)*if(lt(N,10),\(from),\(to))" }
    let input = try Self.clip(
      scratch, step(50, 200), cb: step(90, 160), cr: step(200, 40), format: format, count: 20)
    let video = try Self.run(input, scratch, policy: Self.policy("crossfade", 0.5))
    #expect(video.count == 20)
    for (frame, share) in [(9, 0), (10, 0), (11, 0.2), (12, 0.4), (13, 0.6), (14, 0.8), (15, 1)] {
      for (plane, ends) in [(50.0, 200.0), (90, 160), (200, 40)].enumerated()
      where plane < video.planes.count {
        let value = Double(Self.centre(video, frame, plane: plane))
        let expected = Double(depth) * (ends.0 + (ends.1 - ends.0) * share)
        #expect(
          abs(value - expected) <= 1.5 * Double(depth),
          "frame \(frame), plane \(plane): \(value), not \(expected)")
      }
    }
    // Outside the new layout, the held frame fades to the background.
    #expect(video.pixel(frame: 13, x: 18, y: 2)[0] < Self.centre(video, 10))
    // FFmpeg's gray is full range.
    #expect(video.pixel(frame: 15, x: 18, y: 2)[0] == (format == "gray" ? 0 : 16 * depth))
  }

  @Test("The mean increases with every frame of a blend to a brighter frame")
  func monotonic() throws {
    let scratch = try Scratch()
    let input = try Self.clip(scratch, "if(lt(N,10),40,220)", count: 25)
    for canvas in [CanvasRule.portrait, .landscape] {
      let video = try Self.run(
        input, scratch, policy: Self.policy("crossfade", 1), canvas: canvas
      ) { $0.fit = .fill }
      let means = (0..<25).map { frame in
        let plane = video.plane(0, frame: frame)
        return Double(plane.reduce(0) { $0 + Int($1) }) / Double(plane.count)
      }
      for frame in 10..<20 { #expect(means[frame] < means[frame + 1], "frame \(frame)") }
      #expect(abs(means[15] - 130) < 1.5)
    }
  }

  // MARK: - The camera

  private static let portraitOnly =
    #", "controllers": {"a": {"captureEnabledIn": ["portrait"]}}"#

  @Test("captureEnabledIn: the last frame is held, placed on the new canvas without distortion")
  func capture() throws {
    let scratch = try Scratch()
    let events = """
      {"at": 1, "device": "landscapeLeft"}
      {"at": 2.5, "device": "portrait"}
      """
    let policy = Self.policy("cut", 0, more: Self.portraitOnly)
    let video = try Self.run(Self.clip(scratch), scratch, policy: policy, events: events)
    let expected = Array(0..<10) + Array(repeating: 9, count: 15) + Array(25..<40)
    #expect((0..<40).map { Self.number(video, $0) } == expected)
    for frame in 10..<25 { #expect(Self.same(9, frame, in: video)) }

    let follow = try Transcoded(
      Self.clip(scratch), to: scratch.path("out.mp4"), document: policy, events: events
    ) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(36, 64))
      $0.rate = .constantQuality(1)
    }
    #expect(follow.result.output.frames == 40)
    #expect(follow.report["formats"].array.map { $0["first_frame"].int } == [0, 10, 25])
    let pictures = try Scratch()
    try FFmpegTool.run([
      "-i", follow.path, "-vf", "select='eq(n,12)',format=yuv420p", "-noautoscale", "-frames:v",
      "1", pictures.path("held.y4m"),
    ])
    let held = try Y4M(path: pictures.path("held.y4m"))
    #expect(held.width == 64 && held.height == 36)
    // 36x64 in 64x36: 20 columns in the centre.
    let row = (0..<64).map { held.sample(frame: 0, plane: 0, x: $0, y: 18) }
    #expect(row.filter { abs($0 - 52) <= 4 }.count >= 18)
    #expect(abs(row[0] - 16) <= 3 && abs(row[63] - 16) <= 3)
  }

  @Test("Without any captured frame, the background is shown")
  func neverCaptured() throws {
    let scratch = try Scratch()
    let video = try Self.run(
      Self.clip(scratch, "200", count: 15), scratch,
      policy: #"{"controllers": {"a": {"captureEnabledIn": ["landscapeRight"]}}}"#,
      events: #"{"at": 1, "device": "landscapeLeft"}"#)
    #expect(Self.centre(video, 0) == 16 && Self.centre(video, 9) == 16)
    #expect(Self.centre(video, 10) == 200)
  }

  @Test("With crossfade, the camera blends in from the held frame")
  func captureBack() throws {
    let scratch = try Scratch()
    let video = try Self.run(
      Self.clip(scratch, "if(lt(N,15),40,240)", count: 40), scratch,
      policy: Self.policy("crossfade", 0.5, more: Self.portraitOnly),
      events: """
        {"at": 1, "device": "landscapeLeft"}
        {"at": 2, "device": "portrait"}
        """
    ) { $0.fit = .stretch }
    for (frame, luma) in [(9, 40), (10, 40), (19, 40), (20, 40), (21, 80), (24, 200), (25, 240)] {
      #expect(abs(Self.centre(video, frame) - luma) <= 1, "frame \(frame)")
    }
  }

  @Test("A slate is shown while capture is disabled: fitted, with its colours, in each format")
  func slate() throws {
    let scratch = try Scratch()
    let slate = scratch.path("slate.png")
    try FFmpegTool.run(
      "-f lavfi -i color=c=0x2040E0:s=30x30,format=rgb24 -frames:v 1", [slate])
    for format in ["yuv420p", "yuv444p10le"] {
      let ten = format.hasSuffix("10le") ? 4 : 1
      let video = try Self.run(
        Self.clip(
          scratch, "\(100 * ten)", cb: "\(128 * ten)", cr: "\(128 * ten)", format: format, count: 20
        ),
        scratch, policy: Self.policy("hold", 0.5, more: Self.portraitOnly)
      ) { $0.slate = slate }
      #expect(video.count == 20)
      #expect(abs(Self.centre(video, 9) - 100 * ten) <= ten)
      // BT.601 limited range, which is assumed for untagged input.
      let expected = [78, 203, 103].map { $0 * ten }
      for frame in [10, 14, 15, 19] {
        let pixel = video.pixel(frame: frame, x: 18, y: 32)
        #expect(
          zip(pixel, expected).allSatisfy { abs($0 - $1) <= 2 * ten }, "frame \(frame): \(pixel)")
        // 36x36 in 36x64: 14 rows of background above.
        #expect(video.pixel(frame: frame, x: 18, y: 10)[0] == 16 * ten)
        #expect(video.pixel(frame: frame, x: 18, y: 20)[0] == pixel[0])
      }
    }
  }

  @Test("A missing or invalid slate or overlay is rejected before anything is written")
  func badStills() throws {
    let scratch = try Scratch()
    let text = scratch.path("text.png")
    try "not a picture".write(toFile: text, atomically: true, encoding: .utf8)
    let cut = scratch.path("cut.png")
    try FFmpegTool.run("-f lavfi -i testsrc=s=64x64 -frames:v 1", [scratch.path("whole.png")])
    try Data(contentsOf: URL(fileURLWithPath: scratch.path("whole.png"))).prefix(60)
      .write(to: URL(fileURLWithPath: cut))
    for (path, code) in [
      (scratch.path("none.png"), UprightError.Code.noInput), (text, .badData), (cut, .badData),
    ] {
      for isSlate in [true, false] {
        let before = scratch.names
        let error = #expect(throws: UprightError.self) {
          try Transcoded(Samples.displayMatrix, to: scratch.path("out.mp4")) {
            if isSlate { $0.slate = path } else { $0.overlays = [Overlay(path: path)] }
          }
        }
        #expect(error?.code == code, "\(path): \(String(describing: error))")
        #expect(error?.location == path)
        #expect(scratch.names == before)
      }
    }
    let whole = scratch.path("whole.mp4")
    try FFmpegTool.run("-f lavfi -i testsrc=s=64x64 -frames:v 1", [whole])
    let error = #expect(throws: UprightError.self) {
      try Transcoded(Samples.displayMatrix, to: whole) {
        $0.slate = whole
        $0.overwrites = true
      }
    }
    #expect(error?.code == .cannotCreate)
  }
}
