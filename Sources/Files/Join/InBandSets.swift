internal import OrientationSignals
internal import UprightContainers
internal import UprightMediaIO

/// What a stream's packets say that its container does not, collected while they are read: parameter
/// sets, and how deep its pictures are reordered.
struct InBandSets: Sendable {
  /// Nil for codecs without parameter sets.
  private(set) var parameterSets: StreamParameterSets?
  /// Pictures that precede another in decoding order and follow it in presentation order, at most; nil
  /// before a picture with a time.
  private(set) var reordering: Int?
  /// The latest times so far, rising. No decoder reorders more pictures.
  private var latest: [Int64] = []

  private static let depth = 17

  init(_ video: StreamInfo) {
    parameterSets = DisplayOrientationTracker.Codec(named: video.codecName).map {
      StreamParameterSets(codec: $0, configuration: video.parameters.extradata)
    }
  }

  /// Looks at one packet of the stream, in decoding order.
  mutating func note(_ packet: borrowing Packet) {
    unsafe packet.withBytes { bytes in unsafe parameterSets?.note(bytes) }
    guard let pts = packet.pts else { return }
    let place = latest.firstIndex { $0 > pts } ?? latest.count
    reordering = max(reordering ?? 0, latest.count - place)
    latest.insert(pts, at: place)
    if latest.count > Self.depth { latest.removeFirst() }
  }
}
