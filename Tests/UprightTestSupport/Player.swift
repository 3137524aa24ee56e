import Foundation

/// The players in `Tests/Players`. Each is a script that decodes a file and prints the result as JSON.
package enum Player: String, Sendable, CaseIterable {
  case ffmpeg = "ffmpeg_play"
  case gstreamer = "gst_play"
  case chromium = "chromium_play"

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
    case .chromium:
      ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
        .contains { ExternalTool($0).isHere }
    }
  }

  /// Plays a file. Returns the script's JSON output and its exit code, which is 0 if the file played to the
  /// end.
  package func play(_ arguments: [String]) throws -> (status: Int, said: JSON) {
    let outcome = try Self.python.outcome([script] + arguments, timeout: 150)
    guard let said = try? JSONDecoder().decode(JSON.self, from: outcome.output) else {
      throw ExternalTool.Failure(
        description: "\(rawValue) \(arguments): \(outcome.status): \(outcome.errors.suffix(1000))")
    }
    return (outcome.status, said)
  }
}
