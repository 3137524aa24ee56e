public import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Packs encoded video and audio into fragmented MP4, in memory: an initialization segment for each format, and media
/// segments (ISO/IEC 14496-12, 8.8; RFC 8216, 3.3).
public final class MovieSegments {
  private let segments = FragmentedSegments()
  private let timeBase: Rational
  private var streams: [StreamInfo] = []
  private let audio: AudioDescription?
  /// The number of media segments so far.
  public private(set) var count = 0

  /// Creates a packer.
  ///
  /// - Parameters:
  ///   - timeBase: Seconds per tick of the video packets.
  ///   - audio: The audio track; `nil` if there is none.
  public init(timeBase: Rational, audio: AudioDescription? = nil) {
    self.timeBase = timeBase
    self.audio = audio
  }

  /// Starts a format and returns its initialization segment. Cut the segment before it first.
  ///
  /// - Throws: `badData` if MP4 rejects the description.
  public func begin(_ description: VideoDescription) throws(UprightError) -> [UInt8] {
    streams = [
      StreamInfo(index: 0, kind: .video, parameters: description.parameters, timeBase: timeBase)
    ]
    var tracks: [SideTrack] = []
    if let audio {
      let stream = StreamInfo(
        index: 1, kind: .audio, parameters: audio.parameters, timeBase: audio.timeBase)
      streams.append(stream)
      tracks = [
        SideTrack(
          parameters: audio.parameters, timeBase: audio.timeBase, source: stream, metadata: [:])
      ]
    }
    let format = EncodedFormat(
      index: 0, size: description.size ?? PixelSize(0, 0), parameters: description.parameters)
    let output = OutputDescription(format: format, videoTimeBase: timeBase, sideTracks: tracks)
    return try segments.begin(output, segment: count) ?? []
  }

  /// Adds a packet of either track to the segment.
  ///
  /// - Throws: `usage` if no format was started or there is no such track, `badData` if MP4 rejects the packet.
  public func append(_ packet: EncodedPacket) throws(UprightError) {
    let track = packet.track == .video ? 0 : 1
    guard streams.indices.contains(track) else {
      throw UprightError(
        .usage, "a packet without a format", remedy: "call begin first, with each track described")
    }
    let stream = streams[track]
    var media = try Packet(
      packet.bytes, stream: stream, pts: packet.pts, isKey: packet.isKey, duration: packet.duration)
    media.dts = packet.dts ?? packet.pts
    media.timeBase = packet.timeBase
    try segments.write(media, track: track)
  }

  /// Ends the segment, which should be followed by a keyframe, and returns it.
  ///
  /// - Throws: `badData` if MP4 rejects the packets.
  public func cut() throws(UprightError) -> [UInt8] {
    count += 1
    return try segments.cut()
  }
}
