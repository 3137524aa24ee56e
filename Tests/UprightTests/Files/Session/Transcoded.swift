import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// One transcode in this process, and its report decoded from JSON.
struct Transcoded {
  let path: String
  let result: TranscodeReport
  let report: JSON

  /// Runs a session until it ends.
  ///
  /// - Parameters:
  ///   - format: The container, if the output's name doesn't determine it.
  ///   - policy: The name of a built-in policy.
  ///   - text: A policy document to use instead of `policy`.
  ///   - events: Events in JSON Lines. `nil` uses the stream's own signals.
  init(
    _ input: String, to output: String, format: String? = nil, policy: String = "phone",
    document text: String? = nil, events: String? = nil,
    options configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws {
    QuietLibraries.install()
    var options = TranscodeOptions()
    configure(&options)
    let document = try #require(
      try text.map { try PolicyDocument(json: Array($0.utf8)) } ?? .builtIn(policy),
      "no policy \(policy)")
    let source: EventSource =
      if let events { .list(try RotationEvent.parse(jsonLines: Array(events.utf8))) } else { .none }
    let session = try TranscodeSession(
      input: input, output: output, outputFormat: format, options: options, policy: document,
      events: source)
    result = try session.run()
    path = output
    report = try JSONDecoder().decode(JSON.self, from: Data(result.json.compact.utf8))
  }

  /// Returns the rectangle that the stored frame of `size` covers by the transform of format `index`.
  func rectangle(_ index: Int, of size: PixelSize) throws -> PixelRect {
    let t = report["formats"][index]["transform"].doubles
    try #require(t.count == 6, "format \(index) has no transform")
    func map(_ x: Double, _ y: Double) -> (Double, Double) {
      (t[0] * x + t[2] * y + t[4], t[1] * x + t[3] * y + t[5])
    }
    let (x0, y0) = map(0, 0)
    let (x1, y1) = map(Double(size.width), Double(size.height))
    return PixelRect(
      x: Int(min(x0, x1).rounded()), y: Int(min(y0, y1).rounded()),
      width: Int(abs(x1 - x0).rounded()), height: Int(abs(y1 - y0).rounded()))
  }
}

/// The sample clips and their reference frames.
enum Samples {
  static func path(_ name: String) -> String {
    Fixtures.packageRoot.appendingPathComponent("Samples/clips/\(name)").path
  }

  static let turning = path("turning-sensor.mp4")
  static let withAudio = path("with-sound.mp4")
  static let displayMatrix = path("display-matrix.mp4")

  /// The events of `turning`.
  static func turningEvents() throws -> String {
    try String(contentsOfFile: path("turning-sensor.jsonl"), encoding: .utf8)
  }

  /// The three upright parts of `turning` before H.264 encoding, made once and kept in the build folder.
  static let truth: Result<[String], any Error> = Result {
    let script = Fixtures.packageRoot.appendingPathComponent("Samples/make-samples.sh")
    let names = ["000-099-portrait", "100-199-landscape", "200-299-portrait"]
    let key = try Data(contentsOf: script).reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    let build = Fixtures.packageRoot.appendingPathComponent(".build")
    let folder = build.appendingPathComponent("samples-truth-\(String(key, radix: 16))")
    if !FileManager.default.fileExists(atPath: folder.path) {
      try FileManager.default.createDirectory(at: build, withIntermediateDirectories: true)
      // Written under a temporary name and renamed, so that an interrupted run leaves no incomplete files.
      let fresh = build.appendingPathComponent("samples-truth-\(UUID().uuidString)")
      try ExternalTool("bash").run([script.path, "--truth", fresh.path])
      if rename(fresh.path, folder.path) != 0 { try FileManager.default.removeItem(at: fresh) }
    }
    return names.map { folder.appendingPathComponent("turning-truth-\($0).nut").path }
  }
}

/// Prints a measured figure if `UPRIGHT_FIGURES` is set.
func figure(_ text: @autoclosure () -> String) {
  if ProcessInfo.processInfo.environment["UPRIGHT_FIGURES"] != nil { print("figure: \(text())") }
}

/// The programs that tests need.
enum Needs {
  static let ffmpeg = FFmpegTool.isHere
  static let python = ExternalTool("python3").isHere
  static let bash = ExternalTool("bash").isHere
}

extension TranscodeOptions {
  /// Treats frames as raw frames of the sample's back camera.
  mutating func sensor() { frames = .sensor(Camera()) }

  /// Uses a fast encoder preset, for tests that don't check the quality.
  mutating func quick() { speed = "ultrafast" }
}
