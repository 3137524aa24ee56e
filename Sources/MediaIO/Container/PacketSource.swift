package import UprightOrientation

/// The source of a session's packets: a container that libavformat reads, or a stream that this package
/// parses itself. Used by one thread at a time.
package protocol PacketSource: AnyObject {
  /// The name in error messages: a path, a URL, or `-`.
  var url: String { get }

  /// What is known before the first packet.
  var container: Demuxer.Container { get }

  /// Descriptions of the losses so far that no packet reports. Empty if there were none.
  var losses: [String] { get }

  /// The number of packets of the network that were lost so far, where the protocol numbers them; otherwise 0.
  var lostPackets: Int { get }

  /// Returns the most important stream of a kind. Returns `nil` if there is none.
  func bestStream(_ kind: StreamKind) -> StreamInfo?

  /// Selects the streams to read. The packets of the others may be left out.
  func select(_ indices: Set<Int>)

  /// Returns the description of a stream as it is known now: one that appeared after the opening, or whose first
  /// packet has told more. Returns `nil` if there is no such stream.
  func stream(_ index: Int) -> StreamInfo?

  /// Returns whether two streams may be shown together: they aren't parts of different programs.
  func belongs(_ stream: Int, with other: Int) -> Bool

  /// Seeks to the keyframe of `stream` at or before `ticks`. Returns `false`, and changes nothing, if the
  /// source can't seek.
  func seek(stream: Int, to ticks: Int64) -> Bool

  /// Returns the next packet with its time base set, or `nil` at the end.
  ///
  /// - Throws: `badData` for a damaged part, `inputOutput` if reading failed, `cancelled` if interrupted.
  func read() throws(UprightError) -> Packet?
}

extension PacketSource {
  package var lostPackets: Int { 0 }

  package func stream(_ index: Int) -> StreamInfo? { container.streams.first { $0.index == index } }

  package func belongs(_ stream: Int, with other: Int) -> Bool { true }
}

extension Demuxer: PacketSource {}

extension PacketSource {
  package func seek(stream: Int, to ticks: Int64) -> Bool { false }
}
