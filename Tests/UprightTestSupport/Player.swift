import Foundation

/// The players of `Tests/Players`, each a script that decodes a file and tells what came out as JSON.
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

  /// What the player says of a file, and its exit code: 0 where it played to the end.
  package func play(_ arguments: [String]) throws -> (status: Int, said: JSON) {
    let outcome = try Self.python.outcome([script] + arguments, timeout: 150)
    guard let said = try? JSONDecoder().decode(JSON.self, from: outcome.output) else {
      throw ExternalTool.Failure(
        description: "\(rawValue) \(arguments): \(outcome.status): \(outcome.errors.suffix(1000))")
    }
    return (outcome.status, said)
  }
}
