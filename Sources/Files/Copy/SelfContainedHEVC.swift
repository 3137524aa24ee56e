internal import UprightSignals
internal import UprightMedia
internal import UprightMediaIO
internal import UprightOrientation

/// A copied HEVC stream with all parameter sets in its sample entries: `hvc1` (ISO/IEC 14496-15, 8.4.1.1), the only
/// one that Apple's players accept. Its samples have none. Where the sets change, another entry begins.
struct SelfContainedHEVC: Sendable {
  /// The parameters of the output's track at the start.
  let parameters: CodecParameters
  /// The parameters of later packets, by the index of the first one in decoding order.
  let changes: [Int: CodecParameters]
  private let framing: NALFraming

  /// Returns `nil` if the stream needs no change, or if sample entries can't hold its sets: sets of further layers, or
  /// that change within a GOP.
  ///
  /// - Parameters:
  ///   - sets: The sets found in all packets.
  ///   - hidesFrames: Whether there are more packets than those in which the sets were found.
  init?(
    _ video: StreamInfo, _ sets: InBandParameterSets, hidesFrames: Bool, container: OutputContainer
  ) throws(UprightError) {
    guard video.codecName == "hevc", [.mp4, .mov].contains(container), video.codecTag != "hvc1",
      let configuration = sets.parameterSets?.configuration, let first = sets.versions.first,
      sets.versions.allSatisfy(\.sets.isComplete), sets.versions.count == 1 || !hidesFrames
    else { return nil }
    var entries: [Int: CodecParameters] = [:]
    for version in sets.versions {
      guard let extradata = try? configuration.with(version.sets.sets, isComplete: true) else {
        return nil
      }
      entries[version.firstPacket] = try video.parameters.with(extradata: extradata, tag: "hvc1")
    }
    guard let parameters = entries.removeValue(forKey: first.firstPacket) else { return nil }
    (self.parameters, changes, framing) = (parameters, entries, configuration.framing)
  }

  /// Returns the packet without parameter sets; `nil` if it has none.
  func stripped(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
    unsafe framing.withoutParameterSets(packet, codec: .hevc)
  }
}
