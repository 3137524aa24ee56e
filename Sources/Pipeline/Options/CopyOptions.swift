internal import Orientation
package import UprightMediaIO

/// How pictures come to stand upright (`--upright`).
public enum UprightRule: String, Sendable, CaseIterable {
  /// Their pixels are turned.
  case pixels
  /// They are copied, and the output says how they must be turned.
  case metadata
}

/// Whether pictures that are as they should be are encoded (`--reencode`).
public enum ReencodeRule: String, Sendable, CaseIterable {
  /// Where nothing has to change, they are copied.
  case auto
  /// All of them.
  case always
  /// None: where pixels would have to change, it is an error.
  case never
}

extension TranscodeOptions {
  /// Throws where copying was asked for and something that needs new pictures as well.
  package func checkCopying() throws(MediaError) {
    let isByMetadata = upright == .metadata
    guard isByMetadata || reencode == .never else { return }
    let asked = isByMetadata ? "--upright metadata" : "--reencode never"
    let hasRate = if case .constantQuality(nil) = rate { false } else { true }
    var contradictions: [(Bool, String)] = []
    // A preset's size brings a rate with it: the size is what was asked for.
    if isByMetadata {
      contradictions += [
        (reencode == .always, "--reencode always"), (size != nil, "--size"),
        (captureSize != nil, "--capture-size"), (codec != nil, "--codec"),
        (canvas != .auto, "--canvas"), (fit != .fit, "--fit"), (anchor != .center, "--anchor"),
        (background != .black, "--background"), (!overlays.isEmpty, "--overlay"),
        (slate != nil, "--slate"), (levels, "--level"), (splits, "--split"),
      ]
    }
    contradictions += [
      (hasRate, "--crf and --bitrate"), (speed != nil, "--speed"), (gop != nil, "--gop"),
      (isLive, "--latency live"), (!encoderOptions.isEmpty, "--encoder-options"),
      (start != nil, "--start"), (end != nil, "--to"),
    ]
    for (isGiven, option) in contradictions where isGiven {
      throw MediaError(
        .usage, "\(asked) copies pictures, \(option) needs new ones", at: option,
        remedy: "leave one of the two out")
    }
  }
}
