internal import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

extension Probe {
  /// The result as lines of text: the input, its streams, and the changes of the signals.
  public var lines: [String] {
    var lines = ["\(input): \(format)"]
    lines += streams.map { "  \($0)" }
    lines += signals.map { "  \($0)" }
    lines += telemetry.map { "  \($0)" }
    if videoStream == nil {
      lines.append("  no video stream")
    } else if !signals.contains(where: { $0.signal != nil }) {
      lines.append("  no orientation signal")
    }
    return lines
  }
}

extension Probe.Stream: CustomStringConvertible {
  /// The stream as a line of text.
  public var description: String {
    var text = "stream \(index)  \(kind.rawValue) " + (codec == "none" ? codecTag : codec)
    if let video {
      text += " \(video.size)"
      if video.sampleAspectRatio != .one { text += " SAR \(video.sampleAspectRatio)" }
      if video.shownSize != video.size { text += ", shown \(video.shownSize)" }
    }
    if let audio { text += " \(audio.sampleRate) Hz, \(audio.channels) channels" }
    return text
  }
}

extension Probe.Signal: CustomStringConvertible {
  /// The change as a line of text.
  public var description: String {
    let start = "at \(seconds.rounded(toPlaces: 3)) s, frame \(frame): "
    switch content {
    case .begins(let signal, let isApplied):
      return start
        + "\(signal.source.rawValue) is \(signal.orientation.name): \(Self.instruction(signal))"
        + (isApplied ? "" : " (not applied: a signal of higher precedence is present)")
    case .ends(let source): return start + "\(source.rawValue) ends"
    case .size(let size): return start + "frame size \(size)"
    }
  }

  /// Returns how frames must be turned according to the signal.
  private static func instruction(_ signal: OrientationSignal) -> String {
    let isMirrored = signal.orientation.isMirrored
    guard signal.isExact else {
      return (isMirrored ? "mirror, then " : "")
        + "turn \(signal.degrees.rounded(toPlaces: 2)) degrees clockwise, rounded to a quarter turn"
    }
    let degrees = signal.orientation.clockwiseDegrees
    if degrees == 0 { return isMirrored ? "mirror left and right" : "no turn" }
    return (isMirrored ? "mirror left and right, then " : "")
      + "turn \(degrees) degrees clockwise"
  }
}
