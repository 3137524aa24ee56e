package import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// How frames are made upright (`--upright`).
public enum UprightRule: String, Sendable, CaseIterable {
  /// The pixels are turned.
  case pixels
  /// The frames are copied, and metadata in the output tells players how to turn them.
  case metadata
}

/// Whether frames that are already upright are encoded (`--reencode`).
public enum ReencodeRule: String, Sendable, CaseIterable {
  /// Frames that need no change are copied.
  case auto
  /// All frames are encoded.
  case always
  /// No frame is encoded. It is an error if pixels would have to change.
  case never
}

extension TranscodeOptions {
  /// Checks that no option contradicts `--upright metadata` or `--reencode never`.
  ///
  /// - Throws: `usage` if frames are to be copied and another option needs frames to be encoded.
  package func checkCopying() throws(UprightError) {
    let isByMetadata = upright == .metadata
    guard isByMetadata || reencode == .never else { return }
    let asked = isByMetadata ? "--upright metadata" : "--reencode never"
    let hasRate = if case .constantQuality(nil) = rate { false } else { true }
    var contradictions: [(Bool, String)] = []
    // A preset's size sets a rate too. Checking the size first names the option that was given.
    if isByMetadata {
      contradictions += [
        (reencode == .always, "--reencode always"), (size != nil, "--size"),
        (captureSize != nil, "--capture-size"), (encoder != nil, "--encoder"),
        (codec != nil, "--codec"),
        (canvas != .auto, "--canvas"), (fit ?? .fit != .fit, "--fit"),
        (anchor != .center, "--anchor"),
        (background != .black, "--background"), (!overlays.isEmpty, "--overlay"),
        (slate != nil, "--slate"), (levels, "--level"), (splits, "--split"),
      ]
    }
    contradictions += [
      (canvas == .dual, "--canvas dual"), (!ladder.isEmpty, "--ladder"),
      (hasRate, "--crf and --bitrate"), (speed != nil, "--speed"), (gop != nil, "--gop"),
      (encoder != nil, "--encoder"), (constantRate != nil, "--constant-rate"),
      (isLive, "--latency live"),
      (!encoderOptions.isEmpty, "--encoder-options"),
      (start != nil, "--start"), (end != nil, "--to"),
    ]
    for (isGiven, option) in contradictions where isGiven {
      throw UprightError(
        .usage, "\(asked) copies frames, but \(option) needs frames to be encoded", at: option,
        remedy: "remove one of the two")
    }
  }
}
