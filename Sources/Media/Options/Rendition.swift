package import UprightOrientation
package import UprightPolicy
package import UprightFrames
package import UprightMediaIO

/// One encode of an output: a canvas, a size, and the rate control of `TranscodeOptions.rate(of:)`. Two canvases,
/// a ladder, and both together are lists of renditions.
package struct Rendition: Sendable, Hashable {
  /// The index of the canvas in `TranscodeOptions.fixedCanvases`; 0 if there is one.
  package let canvas: Int
  /// The index of the rung in the ladder; 0 if there is none.
  package let rung: Int
  /// The name in file names and playlists, such as `portrait-720p`; empty for the only rendition.
  package let name: String
}

extension TranscodeOptions {
  /// The canvases of `dual`, portrait first; empty for all others.
  package var fixedCanvases: [FrameCanvas] { canvas == .dual ? [.portrait, .landscape] : [] }

  /// The renditions of an output, all those of a canvas in a row, the largest first.
  package var renditions: [Rendition] {
    let canvases = canvas == .dual ? ["portrait", "landscape"] : [""]
    let rungs = ladder.isEmpty ? [""] : ladder.map(\.name)
    return canvases.indices.flatMap { canvas in
      rungs.indices.map { rung in
        let words = [canvases[canvas], rungs[rung]].filter { !$0.isEmpty }
        return Rendition(canvas: canvas, rung: rung, name: words.joined(separator: "-"))
      }
    }
  }

  /// Returns how frames are fitted into a canvas.
  package func fit(on frameCanvas: FrameCanvas) -> Fit {
    guard canvas == .dual else { return fit ?? .fit }
    let own = frameCanvas == .landscape ? landscapeFit : portraitFit
    return own ?? fit ?? .blur
  }

  /// Whether a canvas crops frames, so that `focus` events have an effect.
  package var fills: Bool {
    let canvases = canvas == .dual ? fixedCanvases : [.follow]
    return canvases.contains { fit(on: $0) == .fill }
  }

  /// How the focus moves.
  package var focusRule: FocusRule { FocusRule(start: Point(anchor), ease: focusEase) }

  /// The rate control of the largest rendition.
  package var firstRate: VideoEncoder.RateControl { ladder.first.map(rate(of:)) ?? rate }

  /// Returns the rate control of a rung: its own; else the quality of all; else its share of the bit rate, which
  /// is that of the largest rung. By default the bit rate is that of the preset with its size.
  package func rate(of rung: Rung) -> VideoEncoder.RateControl {
    if let own = rung.rate { return own }
    switch rate {
    case .constantQuality(.some): return rate
    case .constantQuality(nil): return .bitrate(Int(clamping: rung.usualBits.rounded()))
    case .bitrate(let bits):
      let share = rung.usualBits / (ladder.first?.usualBits ?? rung.usualBits)
      return .bitrate(max(1000, Int(clamping: (Double(bits) * share).rounded())))
    }
  }

  /// - Throws: `usage` for options of two canvases or of a ladder that contradict each other or the others.
  package func checkRenditions() throws(UprightError) {
    try Rung.check(ladder)
    guard FocusRule.durations.contains(focusEase) else {
      throw UprightError(
        .usage, "\(focusEase) is not a duration", at: "--focus-ease", remedy: "use 0 to 60")
    }
    if !ladder.isEmpty, size != nil {
      throw UprightError(
        .usage, "the rungs are the sizes", at: "--size", remedy: "remove --size or --ladder")
    }
    guard canvas == .dual else {
      for (isGiven, option) in [
        (portraitFit != nil, "--portrait-fit"), (landscapeFit != nil, "--landscape-fit"),
        (landscapeOutput != nil, "--landscape-output"),
        (hasCommonPlaylist, "--common-playlist"),
      ] where isGiven {
        throw UprightError(
          .usage, "there is one canvas", at: option, remedy: "add --canvas dual")
      }
      return
    }
    if splits {
      throw UprightError(
        .usage, "the formats of two canvases never change", at: "--split", remedy: "remove it")
    }
    let sizes = ladder.map(\.size) + (size?.fixed.map { [$0] } ?? [])
    if let square = sizes.first(where: { $0.width == $0.height }) { try Self.check(dual: square) }
  }

  /// - Throws: `usage` for a square, which has no portrait and no landscape shape.
  package static func check(dual size: PixelSize) throws(UprightError) {
    guard size.width == size.height else { return }
    throw UprightError(
      .usage, "portrait and landscape are the same in \(size)", at: "--canvas dual",
      remedy: "use a size that is not square")
  }
}

extension SizeRule {
  /// The size, if it is known in advance.
  fileprivate var fixed: PixelSize? { if case .pair(let size) = self { size } else { nil } }
}
