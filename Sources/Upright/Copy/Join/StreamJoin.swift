internal import MediaIO

/// How encoded pictures are made to stand beside copied ones in one track.
struct StreamJoin: Sendable {
  /// Why a stream cannot be joined, for a person.
  struct Refusal: Error, Hashable {
    let reason: String
  }

  /// - Parameters:
  ///   - sets: what stands in the packets that are copied.
  ///   - container: where the joined track goes.
  /// - Throws: `Refusal` where encoded pictures cannot stand beside this stream's.
  init(_ video: StreamInfo, sets: InBandSets, container: OutputContainer) throws(Refusal) {
    throw Refusal(reason: "joining is not there yet")
  }

  /// The encoder's settings matched to the source: profile, level, chroma, bit depth, ids, reordering,
  /// closed GOPs.
  func settings(_ wanted: VideoEncoder.Settings) -> VideoEncoder.Settings { wanted }

  /// What the output's track is begun with: both parameter sets.
  func parameters(encoded: CodecParameters) throws(MediaError) -> CodecParameters { encoded }

  /// An encoded packet in the form of the copied ones, with its own parameter sets in band at each IDR.
  func adapted(_ packet: consuming Packet) throws(MediaError) -> Packet { packet }
}
