internal import UprightSignals
internal import UprightContainers
internal import UprightMediaIO
internal import UprightOrientation

/// A copied HEVC stream with all parameter sets in its sample entry: `hvc1` (ISO/IEC 14496-15, 8.4.1.1), the only
/// one that Apple's players accept. Its samples have none.
struct SelfContainedHEVC: Sendable {
  /// The parameters of the output's track.
  let parameters: CodecParameters
  private let framing: NALFraming

  /// Returns `nil` if the stream needs no change, or if one sample entry can't hold its sets: sets that change,
  /// or of further layers.
  ///
  /// - Parameter sets: The sets found in all packets.
  init?(
    _ video: StreamInfo, _ sets: InBandParameterSets, container: OutputContainer
  ) throws(UprightError) {
    guard video.codecName == "hevc", [.mp4, .mov].contains(container), video.codecTag != "hvc1",
      let found = sets.parameterSets, found.flaw == nil, let configuration = found.configuration,
      ParameterSet.Kind.allCases.allSatisfy({ kind in found.sets.contains { $0.kind == kind } }),
      let extradata = try? configuration.with(found.sets, isComplete: true)
    else { return nil }
    framing = configuration.framing
    parameters = try video.parameters.with(extradata: extradata, tag: "hvc1")
  }

  /// Returns the packet without parameter sets; `nil` if it has none.
  func stripped(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
    unsafe framing.withoutParameterSets(packet, codec: .hevc)
  }
}
