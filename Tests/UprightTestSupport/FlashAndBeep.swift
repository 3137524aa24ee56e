import Foundation

/// The start times of the flashes and beeps of `with-sound.mp4` in a file, in seconds on the file's
/// timeline.
package struct FlashAndBeep: Sendable {
  package let flashes: [Double]
  package let beeps: [Double]

  /// Finds the flashes and beeps in the file at `path`, whose frames are upright and 16:9.
  package init(path: String) throws {
    // The flash is a square right of the centre, 20 % of the frame's width.
    let luma = try FFmpegTool.run([
      "-i", path, "-map", "0:v:0", "-vf",
      "scale=640:360,crop=60:60:535:150,format=gray,scale=1:1:flags=area", "-fps_mode",
      "passthrough", "-f", "rawvideo", "-",
    ])
    let times = try FFmpegTool.frames(path).compactMap(\.time)
    var flashes: [Double] = []
    var wasOn = false
    for (value, time) in zip(luma, times) {
      if value > 128 && !wasOn { flashes.append(time) }
      wasOn = value > 128
    }
    self.flashes = flashes

    let first = try FFmpegTool.probe(
      path, ["-select_streams", "a:0", "-show_frames", "-read_intervals", "%+#200"])
    // The first packets may have no sound that is played.
    let start = first["frames"][0]["pts_time"].string.flatMap(Double.init) ?? .nan
    let rate = 48000.0
    let samples = try FFmpegTool.run([
      "-i", path, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "s16le", "-",
    ])
    var beeps: [Double] = []
    samples.withUnsafeBytes { bytes in
      let values = bytes.bindMemory(to: Int16.self)
      var lastLoud = -1_000_000
      for index in values.indices where values[index] > 3000 || values[index] < -3000 {
        if index - lastLoud > 4800 { beeps.append(start + Double(index) / rate) }
        lastLoud = index
      }
    }
    self.beeps = beeps
  }

  /// The delay of each beep after its flash, in seconds.
  package var offsets: [Double] { zip(beeps, flashes).map { $0 - $1 } }
}
