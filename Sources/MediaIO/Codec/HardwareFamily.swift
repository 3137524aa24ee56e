internal import CUprightFFmpeg
internal import UprightOrientation

/// FFmpeg's encoders of one interface to graphics processors. The raw value ends their names.
enum HardwareFamily: String, Sendable, CaseIterable {
  /// VA-API: Intel and AMD, by Mesa's and Intel's drivers. It reads frames in the device's memory.
  case vaapi
  /// NVIDIA's encoder.
  case nvenc
  /// Intel's Quick Sync Video.
  case qsv

  /// The option for `--speed`.
  var speedOption: String { self == .vaapi ? "compression_level" : "preset" }

  /// Whether frames must be uploaded before they are encoded. The others upload by themselves.
  var readsSurfaces: Bool { self == .vaapi }

  /// Returns the layout in which frames of `format` are given to the encoder. It has the same samples.
  func input(for format: PixelFormat) -> PixelFormat {
    if format.bitDepth > 8 { return PixelFormat(AV_PIX_FMT_P010LE) }
    return self == .nvenc ? format : PixelFormat(AV_PIX_FMT_NV12)
  }

  /// Returns the options that an encoder is opened with: those that the encoder itself would choose otherwise.
  ///
  /// A keyframe that is forced is an IDR frame (VA-API has no other kind), and no frame is reordered, so that a
  /// change of format has no frames to wait for. The scale of a quality is that of the quantizer, 1 to 51.
  func options(
    codec: VideoCodec, rate: VideoEncoder.RateControl, speed: String?, isLive: Bool
  ) -> [String: String] {
    var options = ["bf": "0"]
    var quality: String?
    if case .constantQuality(let wanted) = rate {
      let usual = codec == .h264 ? (isLive ? 23 : 20) : (isLive ? 25 : 22)
      // 0 lets the encoders choose.
      quality = "\(max(1, wanted.map { Int(clamping: $0.rounded()) } ?? usual))"
    }
    switch self {
    case .vaapi:
      if let quality { (options["rc_mode"], options["qp"]) = ("CQP", quality) }
      options["compression_level"] = speed
      // Else a frame waits for the next one.
      if isLive { options["async_depth"] = "1" }
    case .nvenc:
      options["preset"] = speed ?? "p4"
      options["forced-idr"] = "1"
      // Its default bit rate of 2 Mbit/s would limit the quality.
      if let quality {
        (options["rc"], options["cq"], options["b"]) = ("vbr", quality, "0")
      } else {
        options["rc"] = isLive ? "cbr" : "vbr"
      }
      if isLive {
        (options["tune"], options["zerolatency"], options["delay"]) = ("ll", "1", "0")
      }
    case .qsv:
      options["preset"] = speed ?? (isLive ? "veryfast" : "medium")
      options["forced_idr"] = "1"
      options["global_quality"] = quality
      if isLive { options["async_depth"] = "1" }
    }
    return options
  }
}
