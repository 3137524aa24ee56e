import Foundation
import Orientation
import Upright
import UprightTestSupport

/// The clip that every output that follows is shown with: 300 numbered pictures and a tone, upright
/// first, lying from picture 100 on, upright again from 200 on.
enum Show {
  enum Clip: Sendable {
    /// 30 pictures a second.
    case constant
    /// Every picture up to 23 ms late; ticks of 1/30000, three B-frames.
    case variable

    /// Where it is, made once.
    func path() throws -> String {
      try (self == .constant ? Show.constant : Show.variable).get().path("clip.mp4")
    }
  }

  private static let constant = made([])
  private static let variable = made(["setpts=PTS+mod(N*373\\,700)"])

  private static func made(_ filters: [String]) -> Result<Scratch, any Error> {
    Result {
      let scratch = try Scratch()
      try FFmpegTool.run([
        "-i", Samples.turning, "-f", "lavfi", "-i", "sine=f=440:r=48000:d=10", "-vf",
        (filters + ["scale=640:360"]).joined(separator: ","), "-fps_mode", "passthrough",
        "-enc_time_base", "1:30000", "-c:v", "libx264", "-preset", "veryfast", "-crf", "12", "-bf",
        "3", "-video_track_timescale", "30000", "-c:a", "aac", scratch.path("clip.mp4"),
      ])
      return scratch
    }
  }
}
