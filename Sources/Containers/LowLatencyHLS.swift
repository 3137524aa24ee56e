package import UprightOrientation

/// Low-latency HLS: the duration of parts, and the origin that an HTTP server answers from.
public struct LowLatencyHLS: Sendable {
  /// The longest duration of a part, in seconds: 0.1 to 2.
  public var partSeconds: Double
  /// Where playlists and parts are published. Sessions don't share one.
  public let origin: HLSOrigin

  /// Creates the settings. Parts of a third of a second are usual.
  public init(partSeconds: Double = 0.334, origin: HLSOrigin = HLSOrigin()) {
    self.partSeconds = partSeconds
    self.origin = origin
  }

  /// `partSeconds`, as it is written in playlists.
  var partDuration: MediaTime { MediaTime(seconds: partSeconds, Rational(1, 1_000_000)) }

  /// The longest time between two frames with which the durations of parts are regular.
  package var longestFrame: MediaTime { SegmentCutter.longestFrame(inPartsOf: partDuration) }

  /// - Throws: `usage` for parts that are too short or too long.
  package func check() throws(UprightError) {
    guard partSeconds.isFinite, (0.1...2).contains(partSeconds) else {
      throw UprightError(
        .usage, "parts of \(partSeconds) s", at: "--part", remedy: "use 0.1 to 2")
    }
  }
}
