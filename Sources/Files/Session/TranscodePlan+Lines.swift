internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

extension TranscodePlan {
  /// The plan as lines of text.
  public var lines: [String] {
    let destination = destination.map { ["for     \($0)"] } ?? []
    var lines =
      [
        "input   \(input.path): \(input.codec) \(input.size), "
          + (input.duration.map { "\($0.rounded(toPlaces: 3)) s" } ?? "duration unknown"),
        "output  \(output.path): \(output.container.rawValue), \(output.codec)",
      ] + destination + [
        canvases.count > 1
          ? "canvas  portrait and landscape, fixed" : "canvas  \(canvas.text)"
      ]
    lines += renditions.map { "encode  \($0.name): \($0.rate.text), \($0.path)" }
    lines += frameLines
    if isToneMapped { lines.append("colour  HDR is tone-mapped to BT.709 in 8 bits") }
    lines += tracks.map { "track   stream \($0.stream): \($0.codec), \($0.action.rawValue)" }
    lines += dropped.map { "dropped \($0)" }
    lines += warnings.map { "warning \($0)" }
    return lines
  }

  /// Which frames are copied and encoded, and why. If all are encoded, for the same reason, the chunks are
  /// only counted.
  private var frameLines: [String] {
    if parts.contains(where: \.isCopied), parts.count > 1 {
      let counts = "\(copiedFrames ?? 0) copied, \(encodedFrames ?? 0) re-encoded"
      return ["frames  \(counts)"] + parts.map(\.line)
    }
    let work = parts[0].isCopied ? "copied" : "re-encoded"
    return ["frames  \(work): \(parts[0].reason)"]
      + (parts.count > 1 ? ["chunks  \(parts.count), \(concurrency) in parallel"] : [])
  }
}

extension TranscodePlan.Part {
  fileprivate var line: String {
    let end = end.map { "\($0.rounded(toPlaces: 3)) s" } ?? "the end"
    return "part    \(start.rounded(toPlaces: 3)) s to \(end): "
      + (isCopied ? "copied" : "re-encoded: \(reason)")
  }
}

extension FrameCanvas {
  fileprivate var text: String {
    switch self {
    case .follow: "follows the app orientation"
    case .fixed(let isLandscape): isLandscape ? "landscape, fixed" : "portrait, fixed"
    case .initial: "the shape at the first frame, fixed"
    case .frame: "each frame's own"
    }
  }
}

extension VideoEncoder.RateControl {
  fileprivate var text: String {
    switch self {
    case .bitrate(let bits): "\((bits + 500) / 1000) kbit/s"
    case .constantQuality(nil): "constant quality"
    case .constantQuality(let quality?): "constant quality \(quality)"
    }
  }
}
