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
}
