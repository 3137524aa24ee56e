import Foundation
import Testing
import UprightTestSupport

/// The clip for tests of outputs that follow: 300 numbered frames and a tone. It is upright up to frame 99,
/// rotated from frame 100 on, and upright again from frame 200 on.
enum NumberedClip {
  enum Clip: Sendable {
    /// 30 frames per second.
    case constant
    /// Every frame is up to 23 ms late. Ticks of 1/30000, three B-frames.
    case variable

    /// Returns the path of the clip, which is encoded once and kept in the build folder.
    func path() throws -> String {
      try (self == .constant ? NumberedClip.constant : NumberedClip.variable).get()
    }
  }

  private static let constant = made("constant", [])
  private static let variable = made("variable", ["setpts=PTS+mod(N*373\\,700)"])

  private static func made(_ name: String, _ filters: [String]) -> Result<String, any Error> {
    Result {
      let recipe = [
        "-lavfi",
        "sine=f=440:r=48000:d=10[a];[0:v]\((filters + ["scale=640:360"]).joined(separator: ","))[v]",
        "-map", "[v]", "-map", "[a]", "-fps_mode", "passthrough", "-enc_time_base", "1:30000",
        "-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-bf", "3",
        "-video_track_timescale", "30000", "-c:a", "aac",
      ]
      let key = try (Data(contentsOf: URL(fileURLWithPath: Samples.turning)) + recipe.joined().utf8)
        .reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
      let build = Fixtures.packageRoot.appendingPathComponent(".build")
      let path = build.appendingPathComponent("show-\(name)-\(String(key, radix: 16)).mp4").path
      if !FileManager.default.fileExists(atPath: path) {
        // Written under a temporary name and renamed, so that an interrupted run leaves no incomplete file.
        let fresh = build.appendingPathComponent("show-\(UUID().uuidString).mp4").path
        try FFmpegTool.run(["-i", Samples.turning] + recipe + [fresh])
        try #require(rename(fresh, path) == 0)
      }
      return path
    }
  }
}
