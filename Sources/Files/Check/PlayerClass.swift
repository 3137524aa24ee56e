internal import UprightOrientation
package import UprightMedia

/// Players that honour the same orientation signals. `docs/check.md` has the test or the source of each answer.
public enum PlayerClass: String, Sendable, CaseIterable {
  /// Players of the file itself: `<video src>` of browsers, AVPlayer, FFmpeg in software.
  case file
  /// Players of HLS in MPEG-TS that was made by copying packets.
  case hls
  /// Decoders whose frames stay on the GPU.
  case hardware
  /// Players of the file itself that honour SEI messages too.
  case sei

  /// How a class shows a file.
  public enum Verdict: String, Sendable, CaseIterable {
    /// All frames are upright.
    case upright
    /// Some frames aren't.
    case wrong
    /// Neither was measured, and no source says it.
    case unknown
  }

  /// Whether the class honours a signal; `nil` if that is unknown.
  package func honours(_ signal: OrientationSignal) -> Bool? {
    switch self {
    // Copying to MPEG-TS leaves out what a container says. Browsers ignore SEI.
    case .hls, .hardware: false
    case .file: Self.file(honours: signal)
    case .sei: signal.source == .sei ? true : Self.file(honours: signal)
    }
  }

  private static func file(honours signal: OrientationSignal) -> Bool? {
    switch signal.source {
    // Other angles are honoured by FFmpeg, and ignored by Chromium.
    case .trackMatrix, .projection: signal.isExact ? true : nil
    // Chromium ignores messages, FFmpeg turns only the frames that have one.
    case .sei: false
    case .mebx, .flv, .rotateTag, .gravity: false
    // A browser has no player for these files.
    case .frameMatrix, .cvo: nil
    }
  }

  /// Returns how the class shows frames with these signals.
  ///
  /// - Parameter signals: All signals of a frame, strongest first. The first one makes it upright.
  package func verdict(on signals: [OrientationSignal]) -> Verdict {
    let none = DisplayTurn(.up)
    let upright = signals.first?.turn ?? none
    for signal in signals {
      switch honours(signal) {
      case true?: return signal.turn == upright ? .upright : .wrong
      case false?: continue
      case nil: return signals.allSatisfy { $0.turn == none } ? .upright : .unknown
      }
    }
    return upright == none ? .upright : .wrong
  }
}
