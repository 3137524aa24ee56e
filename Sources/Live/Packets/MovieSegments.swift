public import Orientation
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// Packs encoded video into fragmented MP4, in memory: an initialization segment for each format, and media
/// segments (ISO/IEC 14496-12, 8.8; RFC 8216, 3.3).
public final class MovieSegments {
  private let segments = FragmentedSegments()
  private let timeBase: Rational
  private var stream: StreamInfo?
  /// The number of media segments so far.
  public private(set) var count = 0

  /// Creates a packer.
  ///
  /// - Parameter timeBase: Seconds per tick of the packets.
  public init(timeBase: Rational) { self.timeBase = timeBase }

  /// Starts a format and returns its initialization segment. Cut the segment before it first.
  ///
  /// - Throws: `badData` if MP4 rejects the description.
  public func begin(_ description: VideoDescription) throws(UprightError) -> [UInt8] {
    stream = StreamInfo(
      index: 0, kind: .video, parameters: description.parameters, timeBase: timeBase)
    let format = EncodedFormat(
      index: 0, size: description.size ?? PixelSize(0, 0), parameters: description.parameters)
    let output = OutputDescription(
      format: format, videoTimeBase: timeBase, frameRate: nil, videoMetadata: [:], sideTracks: [],
      metadata: [:], listsTags: false, chapters: [], earliestTime: 0)
    return try segments.begin(output, segment: count) ?? []
  }

  /// Adds a packet to the segment.
  ///
  /// - Throws: `usage` if no format was started, `badData` if MP4 rejects the packet.
  public func append(_ packet: EncodedPacket) throws(UprightError) {
    guard let stream else {
      throw UprightError(.usage, "a packet without a format", remedy: "call begin first")
    }
    var media = try Packet(
      packet.bytes, stream: stream, pts: packet.pts, isKey: packet.isKey, duration: packet.duration)
    media.dts = packet.dts ?? packet.pts
    media.timeBase = packet.timeBase
    try segments.write(media, track: 0)
  }

  /// Ends the segment, which should be followed by a keyframe, and returns it.
  ///
  /// - Throws: `badData` if MP4 rejects the packets.
  public func cut() throws(UprightError) -> [UInt8] {
    count += 1
    return try segments.cut()
  }
}
