internal import OrientationSignals
internal import UprightContainers
internal import UprightMediaIO

/// Data that is in the packets of a stream but not in its container, collected while reading: parameter sets,
/// and the reordering depth.
struct InBandParameterSets: Sendable {
  /// `nil` for codecs without parameter sets.
  private(set) var parameterSets: StreamParameterSets?
  /// The maximum number of frames that precede another frame in decoding order and follow it in presentation
  /// order; `nil` before the first frame with a timestamp.
  private(set) var reordering: Int?
  /// The latest timestamps so far, ascending. No decoder reorders more frames.
  private var latest: [Int64] = []

  private static let depth = 17

  init(_ video: StreamInfo) {
    parameterSets = DisplayOrientationTracker.Codec(named: video.codecName).map {
      StreamParameterSets(codec: $0, configuration: video.parameters.extradata)
    }
  }

  /// Processes one packet of the stream, in decoding order.
  mutating func note(_ packet: borrowing Packet) {
    unsafe packet.withBytes { bytes in unsafe parameterSets?.note(bytes) }
    guard let pts = packet.pts else { return }
    let place = latest.firstIndex { $0 > pts } ?? latest.count
    reordering = max(reordering ?? 0, latest.count - place)
    latest.insert(pts, at: place)
    if latest.count > Self.depth { latest.removeFirst() }
  }
}
