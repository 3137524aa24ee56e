import Foundation
import Testing
import UprightOrientation
import UprightTestSupport

/// Frames that the readings of a camera's motion sensors turn. Costs eight seconds.
@Suite("Gravity from files", .enabled(if: FFmpegTool.isHere, "needs ffmpeg"))
struct GravityTests {
  /// How the camera writes gravity.
  enum Form: String, CaseIterable, Sendable {
    /// GoPro's gravity, the same while the image is levelled by half, and its acceleration.
    case gravity, stabilised, acceleration
    /// Android's acceleration.
    case camm
  }

  /// Writes a clip of `seconds` whose horizon is turned clockwise by `roll`, in degrees, at each time.
  ///
  /// - Parameters:
  ///   - payloads: The number of readings of gravity in each sample, 25 a second; `nil` for a second each.
  ///   - others: Whether a track without motion comes before, and another device says something else.
  private static func clip(
    _ form: Form, seconds: Int, in scratch: Scratch, matrix: [Int32] = [1, 0, 0, 1],
    payloads: [Int]? = nil, others: Bool = false, filter: String, roll: (Double) -> Double
  ) throws -> String {
    let size = PixelSize(320, 180)
    let encoded = try EncodedClip(
      .h264, frames: 25 * seconds, gop: 25, bFrames: 0, size: size,
      picture:
        "color=white:s=640x360:r=25,drawbox=y=180:h=180:color=black:t=fill,\(filter),crop=320:180")
    var movie = encoded.movie
    movie.tracks[0].matrix = matrix
    func words(_ values: [Double]) -> [Int] { values.map { Int(($0 * 16384).rounded()) } }
    func radians(_ time: Double) -> Double { roll(time) * .pi / 180 }
    var starts = [0]
    for count in payloads ?? [] { starts.append(starts.last.map { $0 + count } ?? 0) }
    let samples: [[UInt8]] =
      switch form {
      case .gravity where payloads != nil:
        zip(starts, starts.dropFirst()).map { start, end in
          func gravity(_ angles: [Double]) -> [UInt8] {
            GPMFWriter.stream(
              scale: [16384], "GRAV", angles.map { words([sin($0), cos($0), 0]) })
          }
          let device = GPMFWriter.device([
            gravity((start..<end).map { radians(Double($0) / 25) })
          ])
          return device + (others ? GPMFWriter.device([gravity([1.5, 1.5])]) : [])
        }
      case .camm:
        (0..<seconds * 100).map { index in
          let a = radians(Double(index) / 100)
          let values = [9.80665 * sin(a), 9.80665 * cos(a), 0]
          return [0, 0, 3, 0]
            + values.flatMap { value in
              let bits = Float(value).bitPattern
              return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
            }
        }
      case .acceleration:
        (0..<seconds).map { second in
          // The order of the first cameras: Z, X, Y.
          let readings = (0..<200).map { index in
            let a = radians(Double(second) + Double(index) / 200)
            return [9.80665 * cos(a), -9.80665 * sin(a), 0].map { Int(($0 * 1000).rounded()) }
          }
          return GPMFWriter.device([GPMFWriter.stream(scale: [1000], "ACCL", readings)])
        }
      case .gravity, .stabilised:
        (0..<seconds).map { second in
          let angles = (0..<25).map { radians(Double(second) + Double($0) / 25) }
          // The camera stands twice as oblique as the image.
          let times = form == .stabilised ? 2.0 : 1
          var streams = [
            GPMFWriter.stream(
              scale: [16384], "GRAV", angles.map { words([sin(times * $0), cos(times * $0), 0]) })
          ]
          if form == .stabilised {
            streams.append(
              GPMFWriter.stream(
                scale: [16384], "IORI", angles.map { words([cos($0 / 2), 0, 0, sin($0 / 2)]) }))
          }
          return GPMFWriter.device(streams)
        }
      }
    let entry = MovieWriter.box(
      form == .camm ? "camm" : "gpmd", MovieWriter.be(0, 6) + MovieWriter.be(1, 2))
    if others {
      let still = GPMFWriter.device([GPMFWriter.stream(scale: [1], "TMPC", [[21]])])
      movie.tracks.append(
        MovieWriter.Track(handler: "meta", entry: entry, samples: [.init(still, dts: 0)]))
    }
    var telemetry = MovieWriter.Track(
      handler: "meta", entry: entry,
      samples: samples.enumerated().map { index, bytes in
        let start =
          payloads == nil
          ? index * encoded.timescale * seconds / samples.count
          : starts[index] * encoded.timescale / 25
        return .init(bytes, dts: start)
      })
    telemetry.lastDuration = payloads?.last.map { $0 * encoded.timescale / 25 }
    movie.tracks.append(telemetry)
    let path = scratch.path("take.mp4")
    try movie.write(to: path)
    return path
  }

  /// Returns the turn of the horizon in each frame, in degrees clockwise, from two columns.
  private static func horizons(_ path: String, _ size: PixelSize, _ scratch: Scratch) throws
    -> [Double]
  {
    let raw = scratch.path("frames.gray")
    try FFmpegTool.run(["-i", path, "-pix_fmt", "gray", "-f", "rawvideo", raw])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    let (width, height) = (size.width, size.height)
    return (0..<bytes.count / (width * height)).map { frame in
      func border(_ x: Int) -> Double {
        // Where white ends, to the fraction of a line.
        (0..<height).reduce(0.0) { $0 + Double(bytes[(frame * height + $1) * width + x]) } / 255
      }
      let (left, right) = (width / 4, width * 3 / 4)
      return atan2(border(right) - border(left), Double(right - left)) * 180 / .pi
    }
  }

  @Test("--level keeps the horizon level in every frame", arguments: Form.allCases)
  func level(_ form: Form) throws {
    let scratch = try Scratch()
    // An acceleration is smoothed, which must not flatten a fast roll.
    let (most, rate) = [.acceleration, .camm].contains(form) ? (20.0, 0.6) : (12, 0.4)
    let input = try Self.clip(
      form, seconds: 3, in: scratch, filter: "rotate=a=\(most)*PI/180*sin(2*PI*\(rate)*t)"
    ) { most * sin(2 * .pi * rate * $0) }
    let before = try Self.horizons(input, PixelSize(320, 180), scratch)
    #expect(before.map { abs($0) }.max() ?? 0 > 8)
    let output = scratch.path("level.mp4")
    let run = try Upright.run(["transcode", input, "-o", output, "--level", "--fit", "fill"])
    #expect(run.status == 0, "\(run.errors)")
    let after = try Self.horizons(output, PixelSize(320, 180), scratch)
    #expect(after.count == 75)
    let worst = after.map { abs($0) }.max() ?? 0
    #expect(worst <= 0.5)
  }

  @Test(
    "Samples of any length, another device and another track",
    arguments: [[75], [25, 25, 15, 10], [8, 25, 25, 17]])
  func samples(_ payloads: [Int]) throws {
    let scratch = try Scratch()
    let input = try Self.clip(
      .gravity, seconds: 3, in: scratch, payloads: payloads, others: true,
      filter: "rotate=a=12*PI/180*sin(2*PI*0.4*t)", roll: { 12 * sin(2 * .pi * 0.4 * $0) })
    let output = scratch.path("level.mp4")
    let run = try Upright.run(["transcode", input, "-o", output, "--level", "--fit", "fill"])
    #expect(run.status == 0, "\(run.errors)")
    let after = try Self.horizons(output, PixelSize(320, 180), scratch)
    #expect(after.count == 75 && after.allSatisfy { abs($0) <= 0.5 }, "\(after)")
  }

  @Test("What the sensors can't do is said")
  func lack() throws {
    let scratch = try Scratch()
    let out = scratch.path("out.mp4")
    func warnings(
      _ input: String, _ pipe: Data? = nil, _ options: [String] = ["--level"]
    ) throws -> String {
      let run = try Upright.run(
        ["transcode", input, "-o", out, "-y", "--speed", "ultrafast"] + options,
        input: pipe.map { .pipe($0) } ?? .nothing)
      #expect(run.status == 0, "\(run.errors)")
      return run.errors
    }
    let plain = scratch.path("plain.ts")
    try FFmpegTool.run(["-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2", plain])
    #expect(try !warnings(plain).contains("gravity"))
    let still = try Self.clip(
      .gravity, seconds: 1, in: scratch, matrix: [-1, 0, 0, -1], payloads: [25], filter: "null",
      roll: { _ in 175 })
    #expect(try warnings(still).contains("the trackMatrix is followed: frames aren't levelled"))
    let mirrored = try Self.clip(
      .gravity, seconds: 1, in: scratch, matrix: [-1, 0, 0, 1], payloads: [25], filter: "null",
      roll: { _ in 0 })
    #expect(
      try !warnings(mirrored, nil, ["--frames", "gravity"]).contains("the camera's gravity"))
    let mute = try Self.clip(
      .gravity, seconds: 1, in: scratch, payloads: [], others: true, filter: "null",
      roll: { _ in 0 })
    #expect(try warnings(mute).contains("motion sensors don't say where gravity is"))
  }

  @Test(
    "--frames gravity and a policy turn at the frame that the classifier says",
    arguments: [["--frames", "gravity"], ["--policy", "phone"]])
  func turns(options: [String]) throws {
    let scratch = try Scratch()
    // The camera is turned to its side at once, so that the horizon stands upright.
    let roll = { (time: Double) in time < 1 ? 0.0 : -90 }
    let input = try Self.clip(.gravity, seconds: 3, in: scratch, filter: "null", roll: roll)
    var classifier = GravityClassifier()
    var expected: [Int] = []
    for frame in 0..<75 {
      let a = roll(Double(frame) / 25) * .pi / 180
      let pose = try classifier.classify(
        Gravity(x: -sin(a), y: -cos(a), z: 0), at: Double(frame) / 25)
      if pose != .portrait { expected.append(frame) }
    }
    let report = scratch.path("report.json")
    let run = try Upright.run(
      [
        "transcode", input, "-o", scratch.path("out.mp4"), "--canvas", "follow", "--report", report,
      ] + options)
    #expect(run.status == 0, "\(run.errors)")
    let formats = try JSONDecoder().decode(
      JSON.self, from: Data(contentsOf: URL(fileURLWithPath: report)))["formats"].array
    #expect(formats.count == 2)
    // Nothing is turned by it that wasn't asked for.
    for more in [[], ["--policy", "phone", "--frames", "metadata"]] {
      let plain = try Upright.run(
        ["transcode", input, "-o", scratch.path("plain.mp4"), "--dry-run"] + more)
      #expect(plain.text.contains("every frame is already upright"), "\(plain.text)")
    }
    #expect(formats.last?["first_frame"].int == expected.first, "\(formats) \(expected.prefix(1))")
  }

  @Test("The track's matrix comes before gravity, with a warning")
  func precedence() throws {
    let scratch = try Scratch()
    let input = try Self.clip(
      .gravity, seconds: 1, in: scratch, matrix: [0, 1, -1, 0], filter: "null", roll: { _ in 0 })
    let run = try Upright.run([
      "transcode", input, "-o", scratch.path("out.mp4"), "--frames", "gravity",
    ])
    #expect(run.status == 0)
    #expect(
      run.errors.contains(
        "the trackMatrix says right, and the camera's gravity up: the trackMatrix is followed"),
      "\(run.errors)")
    let shown = try FFmpegTool.probe(scratch.path("out.mp4"), ["-show_streams"])
    #expect(shown["streams"][0]["width"].int == 180)
  }
}
