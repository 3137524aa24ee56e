public import UprightOrientation
internal import UprightKernels
public import UprightPolicy
package import UprightFrames
package import UprightMediaIO

extension TranscodeOptions {
  /// Reads options by the names of the command line's long options, without the dashes:
  /// `{"frames": "sensor", "size": "720p", "overlay": ["logo.png@top"], "strict": true}`. Numbers may be written as
  /// texts. Options that are left out have their defaults, which are those of the command line.
  ///
  /// - Throws: `UprightError` `usage`, with the option's name as its location, if `json` isn't an object, for an option
  ///   that doesn't exist, an invalid value, or two that contradict each other.
  public init(json: JSONValue) throws(UprightError) {
    do throws(UprightError) {
      var reader = try OptionReader(json)
      try self.init(&reader)
      try reader.finish()
    } catch { throw error.namingOptions() }
  }

  /// Reads the options of a transcode by the names of the command line, which has the same defaults.
  ///
  /// - Throws: `usage` for an invalid value, or two that contradict each other.
  package init(_ reader: inout OptionReader) throws(UprightError) {
    self.init()
    for option in TranscodeOption.all { try option.read(&reader, &self) }
  }

  /// The maximum of `threads`. Each thread of a decoder or an encoder holds frames in memory.
  package static let maxThreads = 64

  /// The range of `chunkDuration`.
  package static let chunkDurations = 1.0...86400

  /// Sets the size from `WxH`, `source`, or the name of a preset, which has a bitrate too.
  ///
  /// - Throws: `usage` for anything else.
  package mutating func setSize(_ text: String) throws(UprightError) {
    if text.lowercased() == "source" {
      size = .source
    } else if let preset = StreamPreset.named(text) {
      size = .pair(preset.size)
      rate = .bitrate(preset.bitsPerSecond)
    } else {
      size = .pair(try PixelSize(encoding: text))
    }
  }

  /// Sets the encoder, and so the codec, from `NAME` or `NAME@DEVICE`.
  ///
  /// - Throws: `usage` for anything else, and if `codec` is another one.
  mutating func setEncoder(_ text: String) throws(UprightError) {
    let encoder = try NamedEncoder(parsing: text)
    if let codec, codec != encoder.codec {
      throw UprightError(
        .usage, "\(encoder.name) encodes \(encoder.codec.rawValue), --codec is \(codec.rawValue)",
        at: "--encoder", remedy: "give one of the two")
    }
    self.encoder = encoder
  }

  /// Parses `key=value:key=value`.
  ///
  /// - Throws: `usage` for anything else.
  package static func encoderOptions(parsing text: String) throws(UprightError) -> [String: String]
  {
    var pairs: [String: String] = [:]
    for part in text.split(separator: ":") {
      let sides = part.split(separator: "=", maxSplits: 1)
      guard sides.count == 2 else {
        throw UprightError(
          .usage, "\(part) is not key=value", at: "--encoder-options", remedy: "write k=v:k=v")
      }
      pairs[String(sides[0])] = String(sides[1])
    }
    return pairs
  }
}

/// `--latency`.
package enum Latency: String, CaseIterable {
  /// A packet for every frame, without delay.
  case live
  /// Lookahead and B-frames.
  case file
}

extension VideoEncoder.RateControl {
  /// Reads `crf` or `bitrate`; `nil` if neither is given.
  ///
  /// - Throws: `usage` for an invalid value, and if both are given.
  package init?(_ reader: inout OptionReader) throws(UprightError) {
    try self.init(crf: reader.number("crf"), bitrate: reader.text("bitrate"))
  }

  /// The rate control of `--crf` and `--bitrate`; `nil` if neither is given.
  ///
  /// - Throws: `usage` for an invalid value, and if both are given.
  package init?(crf: Double?, bitrate: String?) throws(UprightError) {
    if crf != nil && bitrate != nil {
      throw UprightError(
        .usage, "--crf and --bitrate exclude each other", at: "--crf", remedy: "give one of them")
    }
    if let crf {
      guard crf.isFinite, crf >= 0 else {
        throw UprightError(
          .usage, "\(crf) is not a quality", at: "--crf", remedy: "use 0 to 51 with h264")
      }
      self = .constantQuality(crf)
    } else if let bitrate {
      guard let bits = Self.bits(bitrate) else {
        throw UprightError(
          .usage, "\(bitrate) is not a bitrate", at: "--bitrate", remedy: "write 1500k or 2M")
      }
      self = .bitrate(bits)
    } else {
      return nil
    }
  }

  private static func bits(_ text: String) -> Int? {
    var digits = Substring(text)
    var factor = 1.0
    switch digits.last {
    case "k", "K": factor = 1000
    case "m", "M": factor = 1_000_000
    default: break
    }
    if factor > 1 { digits.removeLast() }
    guard let value = Double(digits), value.isFinite, value > 0, value * factor >= 1000,
      value * factor <= 1e9
    else { return nil }
    return Int(value * factor)
  }
}
