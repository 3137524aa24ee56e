/// Where a session's packets come from: a container that libavformat reads, or a stream that is taken
/// apart by our own hands. Used by one thread at a time.
package protocol PacketSource: AnyObject {
  /// What errors call it: a path, a URL, or `-`.
  var url: String { get }

  /// What is known before the first packet.
  var container: Demuxer.Container { get }

  /// What was lost so far that no packet tells of, in words; empty where nothing was.
  var losses: [String] { get }

  /// The stream of a kind that matters most; nil where there is none.
  func bestStream(_ kind: StreamInfo.Kind) -> StreamInfo?

  /// Which streams are wanted; the packets of the others may be left out.
  func select(_ indices: Set<Int>)

  /// Whether a stream that came up after the opening is one of pictures.
  func hasPictures(inStream index: Int) -> Bool

  /// Goes to the keyframe of `stream` at or before `ticks`. False where it cannot: then reading goes on
  /// as if nothing had been asked.
  func seek(stream: Int, to ticks: Int64) -> Bool

  /// The next packet, its time base set; nil at the end.
  ///
  /// - Throws: `badData` for a damaged stretch, `inputOutput` where reading failed on the way,
  ///   `cancelled` where interrupted.
  func read() throws(MediaError) -> Packet?
}

extension PacketSource {
  package func hasPictures(inStream index: Int) -> Bool { false }
}

extension Demuxer: PacketSource {
  /// None: libavformat says it packet by packet.
  package var losses: [String] { [] }
}

extension PacketSource {
  package func seek(stream: Int, to ticks: Int64) -> Bool { false }
}
