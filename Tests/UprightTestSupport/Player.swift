import Foundation

/// The players in `Tests/Players`. Each is a script that decodes a file and prints the result as JSON.
package enum Player: String, Sendable, CaseIterable {
  case ffmpeg = "ffmpeg_play"
  case gstreamer = "gst_play"
  case chromium = "chromium_play"
  /// A player for the desktop, which is named first: what is on the screen is read there.
  case screen = "screen_play"
  /// Measures how far Chromium is behind a live stream.
  case chromiumLatency = "hls_latency"

  private static let python = ExternalTool("python3")

  private var script: String {
    Fixtures.packageRoot.appendingPathComponent("Tests/Players/\(rawValue).py").path
  }

  /// Whether the player is installed.
  package var isHere: Bool {
    guard Self.python.isHere else { return false }
    return switch self {
    case .ffmpeg: ExternalTool("ffmpeg").isHere
    case .gstreamer: ExternalTool("gst-launch-1.0").isHere
    case .screen: ["vlc", "Xvfb", "openbox"].allSatisfy { ExternalTool($0).isHere }
    case .chromium, .chromiumLatency:
      ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
        .contains { ExternalTool($0).isHere }
    }
  }

  /// Plays a file. Returns the script's JSON output and its exit code, which is 0 if the file played to the
  /// end.
  package func play(
    _ arguments: [String], timeout: Double = 150
  ) throws -> (status: Int, said: JSON) {
    let outcome = try Self.python.outcome([script] + arguments, timeout: timeout)
    guard let said = try? JSONDecoder().decode(JSON.self, from: outcome.output) else {
      throw ExternalTool.Failure(
        description: "\(rawValue) \(arguments): \(outcome.status): \(outcome.errors.suffix(1000))")
    }
    return (outcome.status, said)
  }

  /// A wheel that contains hls.js, downloaded beside the build; `nil` if pip can't download it.
  package static let wheelOfHLSJS: String? = {
    let folder = Fixtures.packageRoot.appendingPathComponent(".build/players").path
    func found() -> String? {
      (try? FileManager.default.contentsOfDirectory(atPath: folder))?
        .first { $0.hasPrefix("gradio-") && $0.hasSuffix(".whl") }.map { "\(folder)/\($0)" }
    }
    if let wheel = found() { return wheel }
    _ = try? python.run(
      ["-m", "pip", "download", "-q", "--no-deps", "-d", folder, "gradio==6.31.0"])
    return found()
  }()
}
