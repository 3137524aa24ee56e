import Foundation

/// An encoded clip: its frames, and the file from which FFmpeg decodes the same frames.
package struct SentClip: Sendable {
  package let frames: [EncodedFrame]
  /// The file that FFmpeg decodes as the reference.
  package let path: String
  private let scratch: Scratch

  /// Encodes FFmpeg's test pattern without reordered or hidden frames, with a keyframe every `interval`
  /// frames.
  package init(
    _ codec: RTPSender.Codec, size: String = "96x96", count: Int = 40, interval: Int = 10,
    source: [String]? = nil
  ) throws {
    scratch = try Scratch()
    path = scratch.path(codec == .h264 ? "clip.h264" : "clip.ivf")
    let coding =
      switch codec {
      case .h264: "-c:v libx264 -preset ultrafast -bf 0 -aud 1 -crf 20 -sc_threshold 0 -f h264"
      case .vp8:
        "-c:v libvpx -deadline realtime -cpu-used 8 -auto-alt-ref 0 -lag-in-frames 0 -b:v 2M"
      default:
        "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -auto-alt-ref 0 -lag-in-frames 0 -b:v 2M"
      }
    let input = source ?? ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=30"]
    try FFmpegTool.run(
      input
        + "-frames:v \(count) -pix_fmt yuv420p -g \(interval) -keyint_min \(interval) \(coding)"
        .words + [path])
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    frames = codec == .h264 ? EncodedFrame.annexB(data) : EncodedFrame.ivf(data)
  }

  /// Returns the CVO bytes that libwebrtc sends for the CVO values in `turns`: with each keyframe, and with
  /// each frame whose value changed or isn't 0.
  package func coordination(_ turns: [UInt8]) -> [UInt8?] {
    turns.enumerated().map { index, turn in
      let changed = index > 0 && turns[index - 1] != turn
      return frames[index].isKey || changed || turn & 0xF7 != 0 ? turn : nil
    }
  }
}
