import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// The size of a fixed canvas, and what determines it.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct CanvasTests {
  private static func turning(
    _ name: String, _ scratch: Scratch, events: String,
    _ configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Transcoded {
    try Transcoded(Samples.turning, to: scratch.path(name), events: events) {
      $0.sensor()
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
      configure(&$0)
    }
  }

  private static func size(_ run: Transcoded) throws -> [Int] {
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    return [video["width"].int ?? 0, video["height"].int ?? 0]
  }

  @Test("majority takes the orientation that lasts longest, initial takes the first", .long)
  func majority() throws {
    let scratch = try Scratch()
    let mostlyPortrait = try Samples.turningEvents()
    let mostlyLandscape = """
      {"at": 0, "device": "portrait"}
      {"at": 2, "device": "landscapeLeft"}
      {"at": 8, "device": "portrait"}

      """
    func size(_ name: String, _ events: String, _ rule: CanvasRule) throws -> [Int] {
      try Self.size(Self.turning(name, scratch, events: events) { $0.canvas = rule })
    }
    #expect(try size("a.mp4", mostlyPortrait, .auto) == [90, 160])
    #expect(try size("b.mp4", mostlyLandscape, .auto) == [160, 90])
    #expect(try size("c.mkv", mostlyLandscape, .majority) == [160, 90])
    #expect(try size("d.mp4", mostlyLandscape, .initial) == [90, 160])
    #expect(try size("e.mp4", mostlyLandscape, .portrait) == [90, 160])
    #expect(try size("f.mp4", mostlyPortrait, .landscape) == [160, 90])
    // An offset moves the events, which changes the orientation that lasts longest.
    let moved = try Self.turning("g.mp4", scratch, events: mostlyLandscape) { $0.eventsOffset = 5 }
    #expect(try Self.size(moved) == [90, 160])
  }

  @Test("majority uses the file's signals, which are read ahead without decoding")
  func ownSignals() throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.displayMatrix, to: scratch.path("a.mp4")) { $0.quick() }
    #expect(try Self.size(run) == [360, 640])
    let locked = try Transcoded(
      Samples.displayMatrix, to: scratch.path("b.mp4"), policy: "landscape"
    ) { $0.quick() }
    // The app stays landscape, so the portrait frame is placed in a landscape canvas.
    #expect(try Self.size(locked) == [640, 360])
    #expect(locked.report["formats"].array.map { $0["turn"].string } == ["right"])
    let upright = try Transcoded(Samples.displayMatrix, to: scratch.path("c.mp4")) {
      $0.frames = .upright
      $0.quick()
    }
    #expect(try Self.size(upright) == [640, 360])
    #expect(upright.report["formats"].array.map { $0["turn"].string } == ["up"])
    #expect(upright.report["events"].array.isEmpty)
  }

  @Test("Capture and encode sizes are used, and reported separately")
  func sizes() throws {
    let scratch = try Scratch()
    let run = try Self.turning("a.m3u8", scratch, events: Samples.turningEvents()) {
      $0.captureSize = PixelSize(720, 1280)
    }
    let formats = run.report["formats"].array
    #expect(formats.map { $0["captureResolution"].string } == ["720x1280", "1280x720", "720x1280"])
    #expect(formats.map { $0["encodeResolution"].string } == ["90x160", "160x90", "90x160"])
    #expect(
      formats.map { $0["appOrientation"].string } == ["portrait", "landscapeRight", "portrait"])
    let error = #expect(throws: UprightError.self) {
      try Self.turning("b.mp4", scratch, events: "") { $0.captureSize = PixelSize(80, 160) }
    }
    #expect(error?.code == .usage)
  }

  @Test("A front camera, and cameras with another sensor orientation", .long)
  func cameras() throws {
    let scratch = try Scratch()
    let events = try Samples.turningEvents()
    func turns(_ name: String, _ camera: Camera) throws -> [String?] {
      let run = try Self.turning(name, scratch, events: events) {
        $0.canvas = .portrait
        $0.frames = .sensor(camera)
      }
      return run.report["formats"].array.map { $0["turn"].string }
    }
    // Front camera: sensorOrientation - d. For landscape left, d is 270.
    #expect(try turns("a.y4m", Camera(position: .front)) == ["right", "down", "right"])
    #expect(try turns("b.y4m", Camera(sensorOrientation: 270)) == ["left", "down", "left"])
    #expect(
      try turns("c.y4m", Camera(position: .front, mirrors: true))
        == ["leftMirrored", "downMirrored", "leftMirrored"])
  }

  @Test("Contradictory options are rejected before anything is written")
  func refused() throws {
    let scratch = try Scratch()
    let wrong: [(String, (inout TranscodeOptions) -> Void)] = [
      ("a.webm", { $0.codec = .h264 }), ("a.flv", { $0.codec = .hevc }),
      (
        "a.mp4",
        {
          $0.start = 3; $0.end = 2
        }
      ), ("a.mp4", { $0.start = -.infinity }),
      ("a.m3u8", { $0.segmentDuration = 0 }), ("a.m3u8", { $0.segmentDuration = .nan }),
      ("a.mkv", { $0.canvas = .follow }), ("a.mp4", { $0.size = .pair(PixelSize(0, 0)) }),
      ("a.mp4", { $0.size = .pair(PixelSize(91, 160)) }),
      ("a.mp4", { $0.encoderOptions = ["nosuch": "1"] }), ("a.mp4", { $0.speed = "nosuch" }),
      ("a.mp4", { $0.start = 100 }),
    ]
    for (index, (name, configure)) in wrong.enumerated() {
      let error = #expect(throws: UprightError.self, "case \(index)") {
        try Transcoded(Samples.displayMatrix, to: scratch.path(name), options: configure)
      }
      #expect(error?.code == .usage, "case \(index): \(String(describing: error))")
      #expect(scratch.names.isEmpty, "case \(index): \(scratch.names)")
    }
  }

  @Test("An existing output is kept unless overwriting is on, and the input is never overwritten")
  func overwriting() throws {
    let scratch = try Scratch()
    let path = scratch.path("out.mp4")
    try "precious".write(toFile: path, atomically: true, encoding: .utf8)
    func run(_ input: String, _ configure: (inout TranscodeOptions) -> Void) throws {
      _ = try Transcoded(input, to: path) {
        $0.quick()
        configure(&$0)
      }
    }
    let kept = #expect(throws: UprightError.self) { try run(Samples.displayMatrix) { _ in } }
    #expect(kept?.code == .cannotCreate)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    try run(Samples.displayMatrix) { $0.overwrites = true }
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    // The output path is the input, also under another name.
    let link = scratch.path("link.mp4")
    try FileManager.default.linkItem(atPath: path, toPath: link)
    for input in [path, link] {
      let error = #expect(throws: UprightError.self) { try run(input) { $0.overwrites = true } }
      #expect(error?.code == .cannotCreate)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == whole)
    #expect(scratch.names == ["link.mp4", "out.mp4"])
  }

  @Test("A run that fails leaves no output file")
  func halfWay() throws {
    let scratch = try Scratch()
    let text = scratch.path("text.mp4")
    try "no media at all".write(toFile: text, atomically: true, encoding: .utf8)
    let error = #expect(throws: UprightError.self) {
      try Transcoded(text, to: scratch.path("out.mp4"))
    }
    #expect(error?.code == .badData)
    #expect(scratch.names == ["text.mp4"])
  }

  @Test(
    "Stopping from another thread leaves a partial file that can be played",
    arguments: [
      "out.mp4", "out.m3u8", "out.mkv",
    ])
  func stopping(_ name: String) throws {
    let scratch = try Scratch()
    let session = try TranscodeSession(
      input: Samples.turning, output: scratch.path(name),
      events: .list([]))
    var seen = 0
    // Stopped at the first reported format, when most of the file is still unread.
    let result = try session.run { update in
      if case .format = update {
        seen += 1
        session.stop()
      }
    }
    #expect(seen == 1)
    #expect(result.output.frames > 0 && result.output.frames < 300)
    let partial = name.replacing("out.", with: "out.partial.")
    #expect(try FFmpegTool.frames(scratch.path(partial)).count == result.output.frames)
    #expect(result.isPartial && result.stopped?.at == result.output.duration)
    #expect(result.stopped?.duration == 10)
    #expect(result.output.path == scratch.path(partial))
    #expect(result.output.files == [scratch.path(partial)])
    #expect(scratch.names.allSatisfy { !$0.hasSuffix(".part") && $0 != name })
  }

  @Test("A stopped run keeps the output's name if that is asked for")
  func stoppingKeepsName() throws {
    let scratch = try Scratch()
    var options = TranscodeOptions()
    options.keepsPartial = true
    let session = try TranscodeSession(
      input: Samples.turning, output: scratch.path("out.mp4"), options: options,
      events: .list([]))
    let result = try session.run { if case .format = $0 { session.stop() } }
    #expect(result.stopped != nil && result.output.frames < 300)
    #expect(scratch.names == ["out.mp4"])
    #expect(try FFmpegTool.frames(scratch.path("out.mp4")).count == result.output.frames)
  }
}
