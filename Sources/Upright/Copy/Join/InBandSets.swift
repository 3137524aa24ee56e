internal import MediaIO

/// The parameter sets that stand in a stream's packets, collected while they are read.
struct InBandSets: Sendable {
  init(_ video: StreamInfo) {}

  /// Looks at one packet of the stream.
  mutating func note(_ packet: borrowing Packet) {}
}
