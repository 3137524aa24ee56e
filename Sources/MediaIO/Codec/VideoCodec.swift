internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

/// A video codec to encode to.
public enum VideoCodec: String, Sendable, CaseIterable {
  /// H.264 (AVC), encoded by libx264.
  case h264
  /// H.265 (HEVC), encoded by libx265.
  case hevc
  /// AV1, encoded by SVT-AV1 for a file, and by libaom for a live stream and for several canvases or sizes.
  case av1
  /// VP9, encoded by libvpx.
  case vp9
  /// Uncompressed frames, for Y4M.
  case raw

  /// FFmpeg's name of the encoder.
  ///
  /// - Parameter amongOthers: Whether encoders of other sessions, canvases or sizes must be able to work at the
  ///   same time; see `encodesInParallel`.
  package func encoderName(amongOthers: Bool = false) -> String {
    switch self {
    case .h264: "libx264"
    case .hevc: "libx265"
    case .av1: amongOthers ? "libaom-av1" : "libsvtav1"
    case .vp9: "libvpx-vp9"
    // FFmpeg's Y4M muxer takes whole frames and rejects raw video.
    case .raw: "wrapped_avframe"
    }
  }

  /// Whether several encoders of a process can encode files at the same time; if not, one waits for the other.
  ///
  /// SVT-AV1 has tables that all of its encoders use, and writes them whenever one is opened. One that works then
  /// may crash or hang (seen in 1.4; in later releases too if the settings differ).
  package var encodesInParallel: Bool { self != .av1 }

  func find(_ name: String) throws(UprightError) -> UnsafePointer<AVCodec> {
    guard let codec = avcodec_find_encoder_by_name(name) else {
      throw UprightError(
        .unavailable, "the linked FFmpeg has no \(name)", at: "--codec \(rawValue)",
        remedy: "use an FFmpeg that has it, or another --codec")
    }
    return codec
  }

  /// Whether the encoder is linked.
  package var isLinked: Bool { avcodec_find_encoder_by_name(encoderName()) != nil }

  /// Checks that the encoder is linked, and its settings before it is opened. libx264 would write to standard error itself. A
  /// hardware encoder's device isn't opened.
  ///
  /// - Throws: `unavailable` if the encoder isn't linked, `usage` if it doesn't know a value. The error lists the
  ///   known ones.
  package func check(
    speed: String?, rate: VideoEncoder.RateControl, options: [String: String],
    amongOthers: Bool = false, encoder named: NamedEncoder? = nil
  ) throws(UprightError) {
    if let named, let family = named.family {
      return try named.checkHardware(family, speed: speed, rate: rate, options: options)
    }
    if amongOthers { try named?.checkAmongOthers() }
    let encoderName = encoderName(amongOthers: amongOthers)
    let encoder = try find(encoderName)
    if case .constantQuality(let crf?) = rate, self != .raw {
      guard (0...coarsest).contains(crf) else {
        throw UprightError(
          .usage, "\(crf) is not a quality of \(encoderName)", at: "--crf",
          remedy: "use 0 (best) to \(Int(coarsest))")
      }
    }
    let words = words(amongOthers: amongOthers)
    if let speed { try Self.check(speed, "preset", among: words, of: encoderName, at: "--speed") }
    guard !options.isEmpty else { return }
    var context = QuietContext.codec(encoder)
    defer { avcodec_free_context(&context) }
    for (key, value) in options.sorted(by: { $0.key < $1.key }) {
      guard av_opt_find(context, key, nil, 0, AV_OPT_SEARCH_CHILDREN) != nil else {
        throw VideoEncoder.noOption(key, of: encoderName)
      }
      try Self.check(value, key, among: words, of: encoderName, at: "--encoder-options")
    }
  }

  /// The end of the encoder's scale of constant qualities.
  private var coarsest: Double { self == .h264 || self == .hevc ? 51 : 63 }

  private static func check(
    _ value: String, _ key: String, among words: [String: [String]], of encoder: String,
    at location: String
  ) throws(UprightError) {
    guard let known = words[key] else { return }
    // There may be several tunes.
    let parts = key == "tune" ? value.split(separator: ",").map(String.init) : [value]
    for part in parts where !known.contains(part) {
      throw UprightError(
        .usage, "\(encoder) has no \(key) called \(part)", at: location,
        remedy: "use "
          + (known.count > 20
            ? "\(known[0]) to \(known[known.count - 1])" : known.joined(separator: ", ")))
    }
  }

  /// The known values of some options of the encoder.
  private func words(amongOthers: Bool) -> [String: [String]] {
    let speeds = [
      "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower",
      "veryslow", "placebo",
    ]
    return switch self {
    case .h264:
      [
        "preset": speeds,
        "tune": [
          "film", "animation", "grain", "stillimage", "psnr", "ssim", "fastdecode", "zerolatency",
        ],
        "profile": ["baseline", "main", "high", "high10", "high422", "high444"],
      ]
    case .hevc: ["preset": speeds]
    case .av1: ["preset": (0...(amongOthers ? 8 : 13)).map { "\($0)" }]
    case .vp9: ["preset": (-8...8).map { "\($0)" }]
    case .raw: [:]
    }
  }

  /// Returns whether the encoder supports `format`. Frames are converted to a supported format.
  package func supports(_ format: PixelFormat) -> Bool {
    guard let codec = avcodec_find_encoder_by_name(encoderName()),
      let list = upright_codec_pixel_formats(codec)
    else { return true }
    var index = 0
    while list[index] != AV_PIX_FMT_NONE {
      if PixelFormat(list[index]) == format { return true }
      index += 1
    }
    return false
  }

  /// Whether fields can be kept. H.264 can code them, and Y4M's header can declare them.
  package var carriesFields: Bool { self == .h264 || self == .raw }

  /// Whether a linked encoder writes closed captions that frames carry.
  static func carriesCaptions(_ encoderName: String) -> Bool {
    guard var options = avcodec_find_encoder_by_name(encoderName)?.pointee.priv_class else {
      return false
    }
    return av_opt_find(&options, "a53cc", nil, 0, AV_OPT_SEARCH_FAKE_OBJ) != nil
  }

  /// Whether HDR10 metadata can be carried. VP9 leaves it to the container, and Y4M has no place for it.
  package var carriesHDR: Bool { self != .raw }

  /// Returns the format to encode frames of `source` in: 4:2:0, with 10 bits if the source has more than 8
  /// and the codec is one that players decode with 10.
  package func encodingFormat(for source: PixelFormat) -> PixelFormat {
    if self == .raw { return source.y4mFormat }
    return source.bitDepth > 8 && keepsDepth ? .yuv420p10 : .yuv420p
  }

  /// Whether more than 8 bits are encoded. Few players support such H.264.
  package var keepsDepth: Bool { self != .h264 && supports(.yuv420p10) }

  /// Returns the options that the encoder is opened with: the defaults here, overridden by the user's.
  ///
  /// The defaults for a file favour quality, those for a live stream speed. Measured with foreman (CIF, 120
  /// frames), SSIM in dB, size in kB, CPU seconds: libx264 veryfast 23: 15.5, 147, 0.5; its own default
  /// medium 23: 17.7, 168, 1.1; veryfast 20: 17.3, 213, 0.5; faster 20: 18.5, 225, 0.7; fast 20: 19.0, 224,
  /// 1.0. `faster` is the fastest preset with a better quality than the default; the next one costs half as
  /// much again. libx265 veryfast 28: 13.4, 89, 1.3; veryfast 22: 16.3, 192, 1.8; fast 22: 16.6, 199, 2.1.
  func options(for settings: VideoEncoder.Settings) -> [(String, String)] {
    var options: [String: String] = [:]
    if let family = settings.encoder?.family {
      options = family.options(
        codec: self, rate: settings.rate, speed: settings.speed, isLive: settings.isLive)
      options.merge(settings.options) { $1 }
      return options.sorted { $0.key < $1.key }
    }
    let (isLive, parameters) = (settings.isLive, parameters(for: settings))
    /// Sets the constant quality, if there is one: by default a value for live streams, and one for files.
    func setQuality(_ live: Int, _ file: Int) {
      guard case .constantQuality(let quality) = settings.rate else { return }
      let value = (quality ?? Double(isLive ? live : file)) + Double(settings.coarser ?? 0)
      options["crf"] = "\(min(value, coarsest))"
    }
    switch self {
    case .h264:
      options["preset"] = settings.speed ?? (isLive ? "veryfast" : "faster")
      options["forced-idr"] = "1"
      if isLive { options["tune"] = "zerolatency" }
      setQuality(23, 20)
    case .hevc:
      options["preset"] = settings.speed ?? (isLive ? "veryfast" : "fast")
      options["forced-idr"] = "1"
      // Off unless it is set, other than in libx264.
      if Self.carriesCaptions(encoderName()) { options["a53cc"] = "1" }
      if isLive { options["tune"] = "zerolatency" }
      setQuality(28, 21)
    case .av1 where settings.isAmongOthers:
      options["usage"] = "realtime"
      options["cpu-used"] = settings.speed ?? (isLive ? "7" : "6")
      options["row-mt"] = "1"
      setQuality(35, 30)
    case .av1:
      options["preset"] = settings.speed ?? "10"
      setQuality(35, 35)
    case .vp9:
      options["deadline"] = "realtime"
      options["cpu-used"] = settings.speed ?? "6"
      options["row-mt"] = "1"
      if isLive { options["lag-in-frames"] = "0" }
      setQuality(32, 32)
    case .raw: break
    }
    if let name = parametersOption, !parameters.isEmpty {
      options[name] = parameters.joined(separator: ":")
    }
    for (key, value) in settings.options { merge(key, value, into: &options) }
    return options.sorted { $0.key < $1.key }
  }

  /// The name of the option with the encoder's own parameters; `nil` if it has none.
  private var parametersOption: String? {
    switch self {
    case .h264: "x264-params"
    case .hevc: "x265-params"
    case .av1: "svtav1-params"
    case .vp9, .raw: nil
    }
  }

  /// Returns the encoder's own parameters that libavcodec has no option for.
  private func parameters(for settings: VideoEncoder.Settings) -> [String] {
    var parameters: [String] = []
    let (mastering, light) = (settings.colour.hdr.mastering, settings.colour.hdr.light)
    switch self {
    case .h264:
      if settings.repeatsHeaders { parameters.append("repeat-headers=1") }
      // The parameter sets don't depend on the rate control, so that it can change within a stream.
      if settings.isLive || settings.coarser != nil { parameters.append("stitchable=1") }
      if settings.fields == .bottomFirst { parameters.append("bff=1") }
      if let instructions = Self.instructions(for: settings) { parameters.append(instructions) }
      if let mastering { parameters.append("mastering-display=\(mastering.inUnits)") }
      if let light { parameters.append("cll=\(light.text)") }
    case .hevc:
      parameters.append("log-level=none")
      if settings.repeatsHeaders { parameters.append("repeat-headers=1") }
      // libx265 3.5 writes past the end of a row of blocks that is shorter than its vectors.
      if settings.size.width < 128 { parameters.append("cutree=0") }
      if let mastering { parameters.append("master-display=\(mastering.inUnits)") }
      if let light { parameters.append("max-cll=\(light.text)") }
    case .av1 where !settings.isAmongOthers:
      if let mastering { parameters.append("mastering-display=\(mastering.inFractions)") }
      if let light { parameters.append("content-light=\(light.text)") }
    case .av1, .vp9, .raw: break
    }
    return parameters
  }

  /// Returns libx264's option for the instructions that it may use; `nil` for all of the CPU's.
  ///
  /// Its macroblock tree with AVX-512 (core 164) reads memory that was never written, if a row of macroblocks
  /// doesn't fill a vector. The same frames then give other bits, depending on what the memory held before. With
  /// AVX2 the bits are the same as on a CPU without AVX-512. The lookahead of live streams has no such tree.
  private static func instructions(for settings: VideoEncoder.Settings) -> String? {
    #if arch(x86_64)
    let isFilled = (settings.size.width + 15) / 16 % 16 == 0
    let hasAVX512 = av_get_cpu_flags() & AV_CPU_FLAG_AVX512 != 0
    return hasAVX512 && !settings.isLive && !isFilled ? "asm=AVX2,FMA3,BMI1,BMI2,LZCNT" : nil
    #else
    return nil
    #endif
  }

  /// Appends to the encoder's parameter string. Replaces any other option.
  private func merge(_ key: String, _ value: String, into options: inout [String: String]) {
    if key == parametersOption, let ours = options[key] {
      options[key] = "\(ours):\(value)"
    } else {
      options[key] = value
    }
  }
}

extension VideoCodec {
  /// The codecs that an option can name. Raw video is selected by the container, `.y4m`.
  package static let selectable: [VideoCodec] = [.h264, .hevc, .av1, .vp9]

  /// Other common names of codecs, and names of their encoders.
  private static let otherNames: [String: VideoCodec] = [
    "avc": .h264, "x264": .h264, "libx264": .h264, "h265": .hevc, "x265": .hevc,
    "libx265": .hevc, "libsvtav1": .av1, "libaom-av1": .av1, "libvpx-vp9": .vp9,
  ]

  /// Creates a codec from its name, or from a common name of the codec or its encoder, ignoring case. Returns `nil`
  /// for others.
  package init?(named text: String) {
    let name = text.lowercased()
    guard let codec = Self.otherNames[name] ?? Self.selectable.first(where: { $0.rawValue == name })
    else { return nil }
    self = codec
  }

  /// Creates a codec from its name, as an option has it.
  ///
  /// - Throws: `usage` for anything else.
  package init(parsing text: String) throws(UprightError) {
    guard let codec = VideoCodec(named: text) else {
      let names = Self.selectable.map(\.rawValue).joined(separator: ", ")
      throw UprightError(
        .usage, "\(text) is not valid", at: "--codec", remedy: "use one of \(names)")
    }
    self = codec
  }
}
