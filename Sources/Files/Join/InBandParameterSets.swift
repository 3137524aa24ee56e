internal import UprightOrientation
internal import UprightSignals
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

  /// Creates what another one has found.
  ///
  /// - Parameters:
  ///   - units: The NAL units of the parameter sets.
  ///   - reordering: The reordering depth.
  /// - Throws: `badData` if a unit isn't a parameter set of the stream's codec.
  init(_ video: StreamInfo, units: [[UInt8]], reordering: Int?) throws(UprightError) {
    self.init(video)
    self.reordering = reordering
    for unit in units {
      guard parameterSets?.add(unit: unit) == true else {
        throw UprightError(.badData, "a parameter set can't be read")
      }
    }
  }

  /// Processes one packet of the stream, in decoding order.
  mutating func read(_ packet: borrowing Packet) {
    unsafe packet.withBytes { bytes in unsafe parameterSets?.read(bytes) }
    guard let pts = packet.pts else { return }
    let place = latest.firstIndex { $0 > pts } ?? latest.count
    reordering = max(reordering ?? 0, latest.count - place)
    latest.insert(pts, at: place)
    if latest.count > Self.depth { latest.removeFirst() }
  }
}
