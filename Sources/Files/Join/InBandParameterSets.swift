internal import UprightOrientation
internal import UprightSignals
internal import UprightMedia
internal import UprightMediaIO

/// Data that is in the packets of a stream but not in its container, collected while reading: parameter sets,
/// and the reordering depth.
struct InBandParameterSets: Sendable {
  /// `nil` for codecs without parameter sets.
  private(set) var parameterSets: StreamParameterSets?
  /// A part of an HEVC stream with sets that don't change.
  struct Version: Sendable {
    /// The index of its first packet in decoding order.
    let firstPacket: Int
    fileprivate(set) var sets: StreamParameterSets
  }

  /// The parts of an HEVC stream whose sets change at keyframes that contain all of the new ones; empty if they
  /// change otherwise.
  private(set) var versions: [Version] = []
  private var packets = 0
  private let configuration: [UInt8]
  /// Whether the codec knows no fields.
  private let hasNoFields: Bool

  /// The most sample descriptions of a track that are written.
  private static let mostVersions = 255

  /// The maximum number of frames that precede another frame in decoding order and follow it in presentation
  /// order; `nil` before the first frame with a timestamp.
  private(set) var reordering: Int?
  /// The latest timestamps so far, ascending. No decoder reorders more frames.
  private var latest: [Int64] = []

  private static let depth = 17

  /// Whether no picture can be made of fields. `false` if that isn't known.
  var areProgressive: Bool { parameterSets?.areProgressive ?? hasNoFields }

  init(_ video: StreamInfo) {
    configuration = video.parameters.extradata
    hasNoFields = ["vp8", "vp9", "av1"].contains(video.codecName)
    parameterSets = DisplayOrientationTracker.Codec(named: video.codecName).map {
      StreamParameterSets(codec: $0, configuration: video.parameters.extradata)
    }
    if let parameterSets, video.codecName == "hevc" {
      versions = [Version(firstPacket: 0, sets: parameterSets)]
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
    addVersion(packet)
    guard let pts = packet.pts else { return }
    let place = latest.firstIndex { $0 > pts } ?? latest.count
    reordering = max(reordering ?? 0, latest.count - place)
    latest.insert(pts, at: place)
    if latest.count > Self.depth { latest.removeFirst() }
  }

  private mutating func addVersion(_ packet: borrowing Packet) {
    defer { packets += 1 }
    guard var last = versions.popLast() else { return }
    let before = last.sets
    unsafe packet.withBytes { bytes in unsafe last.sets.read(bytes) }
    guard last.sets.flaw == .changing else {
      versions.append(last)
      return
    }
    var own = StreamParameterSets(
      codec: .hevc, configuration: configuration, hasItsSets: false)
    unsafe packet.withBytes { bytes in unsafe own.read(bytes) }
    guard packet.isKey, own.isComplete, versions.count + 1 < Self.mostVersions else {
      versions = []
      return
    }
    last.sets = before
    // The sets of the configuration may be others than those of the first keyframe.
    if packets > 0 { versions.append(last) }
    versions.append(Version(firstPacket: packets, sets: own))
  }
}
