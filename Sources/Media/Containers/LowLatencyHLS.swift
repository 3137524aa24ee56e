package import UprightOrientation

/// Low-latency HLS: the duration of parts, and the origin that an HTTP server answers from.
public struct LowLatencyHLS: Sendable {
  /// The duration of a part, in seconds: 0.1 to 2. No part is longer, or below 0.223 s, for which the frames of 30 a second
  /// are too coarse, 6 % longer.
  public var partSeconds: Double
  /// Where playlists and parts are published. Sessions don't share one.
  public let origin: HLSOrigin

  /// Creates the settings. Parts of a third of a second are usual.
  public init(partSeconds: Double = 0.334, origin: HLSOrigin = HLSOrigin()) {
    self.partSeconds = partSeconds
    self.origin = origin
  }

  /// The longest duration of a part, as it is written in playlists.
  var partDuration: MediaTime {
    MediaTime(seconds: partSeconds * (partSeconds < 0.223 ? 1.06 : 1), Rational(1, 1_000_000))
  }

  /// Returns after which time without a frame the last one is repeated, and how much later than it, so that parts keep the
  /// rules (RFC 8216bis, 4.4.3.7): 85 to 100 % of the longest duration.
  ///
  /// Where frames are so far apart that most patterns of them break the rules, regular frames may still fill parts: six
  /// of a thirtieth of a second fill one of 0.2.
  ///
  /// - Parameter usual: The usual time between two frames.
  package func repeats(usual: MediaTime) -> (after: MediaTime, by: MediaTime) {
    let always = SegmentCutter.longestFrame(inPartsOf: partDuration)
    guard usual > always, usual < partDuration else { return (always, always) }
    var end = usual
    while end < partDuration - always { end = end + usual }
    // Timestamps are often in milliseconds.
    let slack = partDuration - end
    return slack < MediaTime(1, Rational(1, 2000)) ? (always, always) : (usual + slack, usual)
  }

  /// - Throws: `usage` for parts that are too short or too long.
  package func check() throws(UprightError) {
    guard partSeconds.isFinite, (0.1...2).contains(partSeconds) else {
      throw UprightError(
        .usage, "parts of \(partSeconds) s", at: "--part", remedy: "use 0.1 to 2")
    }
  }
}
