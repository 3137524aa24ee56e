package import UprightOrientation
package import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

extension EncodeOptions {
  /// Reads how a packet session encodes, by the names of the command line where it has them.
  ///
  /// - Throws: `usage` for an invalid value, or two that contradict each other.
  package init(_ reader: inout OptionReader) throws(UprightError) {
    self.init()
    codec = try reader.word("codec") ?? codec
    rate = try VideoEncoder.RateControl(&reader) ?? rate
    speed = try reader.text("speed")
    encoderOptions =
      try reader.parsed("encoder-options", TranscodeOptions.encoderOptions(parsing:)) ?? [:]
    keyframeSeconds =
      try reader.number("keyframe-seconds", in: 0.1...3600) ?? keyframeSeconds
    if let rate = try reader.number("frame-rate", in: 1...1000) {
      frameRate = Rational(Int(clamping: (rate * 1000).rounded()), 1000)
    }
  }
}
