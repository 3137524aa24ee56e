internal import CUprightFFmpeg
public import UprightOrientation

/// An encoder that is chosen by FFmpeg's name, in place of the one that is usual for a codec.
public struct NamedEncoder: Sendable, Hashable {
  /// FFmpeg's name, such as `h264_vaapi`.
  public let name: String
  /// The codec of its packets.
  public let codec: VideoCodec
  /// The device of a hardware encoder: the path of a render node for VA-API and Quick Sync, a number for NVENC.
  /// `nil` for the first one, and for software.
  public let device: String?
  /// `nil` for software.
  let family: HardwareFamily?

  /// Whether a graphics processor encodes.
  package var isHardware: Bool { family != nil }

  /// The names that can be chosen, in alphabetical order.
  public static let names: [String] = all.keys.sorted()

  private static let software: [String: VideoCodec] = [
    "libx264": .h264, "libx265": .hevc, "libsvtav1": .av1, "libaom-av1": .av1, "libvpx-vp9": .vp9,
  ]

  private static let all: [String: (codec: VideoCodec, family: HardwareFamily?)] = {
    var all = software.mapValues { (codec: $0, family: HardwareFamily?.none) }
    for family in HardwareFamily.allCases {
      for codec in [VideoCodec.h264, .hevc] {
        all["\(codec.rawValue)_\(family.rawValue)"] = (codec, family)
      }
    }
    return all
  }()

  /// Reads `NAME` or `NAME@DEVICE`.
  ///
  /// - Throws: `usage` for a name that isn't in `names`, and for a device of an encoder that has none.
  public init(parsing text: String) throws(UprightError) {
    let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = parts.first.map(String.init), let known = Self.all[name] else {
      throw UprightError(
        .usage, "\(text) is not the name of an encoder that can be chosen", at: "--encoder",
        remedy: "use one of \(Self.names.joined(separator: ", "))")
    }
    (self.name, codec, family) = (name, known.codec, known.family)
    device = parts.count > 1 ? String(parts[1]) : nil
    if let device, device.isEmpty || family == nil {
      throw UprightError(
        .usage, family == nil ? "\(name) has no device" : "the name of the device is empty",
        at: "--encoder \(text)", remedy: "write --encoder \(name)")
    }
  }

  /// The text that `init(parsing:)` reads.
  public var text: String { device.map { "\(name)@\($0)" } ?? name }

  /// Whether it is the encoder of AV1 that works beside others in a process.
  package var worksAmongOthers: Bool { name == VideoCodec.av1.encoderName(amongOthers: true) }

  /// - Throws: `usage` if it can't work beside other encoders of the process; see `VideoCodec.encodesInParallel`.
  package func checkAmongOthers() throws(UprightError) {
    guard family == nil, !codec.encodesInParallel, !worksAmongOthers else { return }
    throw UprightError(
      .usage, "\(name) can't encode several streams at a time", at: "--encoder \(name)",
      remedy: "use --encoder \(codec.encoderName(amongOthers: true))")
  }
}

extension NamedEncoder {
  /// Checks that a hardware encoder is linked, and its settings. Its device isn't opened.
  ///
  /// - Throws: `unavailable` if the encoder isn't linked, `usage` if it doesn't know a value.
  func checkHardware(
    _ family: HardwareFamily, speed: String?, rate: VideoEncoder.RateControl,
    options: [String: String]
  ) throws(UprightError) {
    let encoder = try find()
    if case .constantQuality(let quality?) = rate, !(0...51).contains(quality) {
      throw UprightError(
        .usage, "\(quality) is not a quality of \(name)", at: "--crf",
        remedy: "use 0 (best) to 51")
    }
    var context = QuietContext.codec(encoder)
    defer { avcodec_free_context(&context) }
    var wanted = options.map { ($0.key, $0.value, "--encoder-options") }
    for isLive in [false, true] {
      wanted += family.options(codec: codec, rate: rate, speed: speed, isLive: isLive).map {
        ($0.key, $0.value, $0.key == family.speedOption ? "--speed" : "--encoder")
      }
    }
    for (key, value, location) in wanted.sorted(by: { $0 < $1 }) {
      guard av_opt_find(context, key, nil, 0, AV_OPT_SEARCH_CHILDREN) != nil else {
        throw VideoEncoder.noOption(key, of: name)
      }
      guard av_opt_set(context, key, value, AV_OPT_SEARCH_CHILDREN) >= 0 else {
        throw UprightError(
          .usage, "\(name) has no \(key) called \(value)", at: location,
          remedy: "see ffmpeg -h encoder=\(name)")
      }
    }
  }

  private func find() throws(UprightError) -> UnsafePointer<AVCodec> {
    guard let encoder = avcodec_find_encoder_by_name(name) else {
      throw UprightError(
        .unavailable, "the linked FFmpeg has no \(name)", at: "--encoder \(name)",
        remedy: "use --codec \(codec.rawValue), which a processor encodes")
    }
    return encoder
  }
}
